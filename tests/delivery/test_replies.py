"""What becomes of deliveries whose replies are sent on, by the answer to those."""

from __future__ import annotations

import msgspec
import pytest

from penstock.delivery.accounts import DEAD, DELIVERED, Account, Delivery
from penstock.events import CloudEvent
from penstock.formats import arrow
from penstock.ports import Leg, Onward, Parked, Response, State
from penstock.routing import Route
from tests.log.entries import an_entry
from tests.routing.routes import URI, a_knative_route

NOW = 1_000.0
REPLY_TO, LETTERS = "http://replies.example/", "http://letters.example/"
REPLY = CloudEvent("b", "/sink", "answer")


def route() -> Route:
    plain = a_knative_route(dead_letter=LETTERS, retries=1, delay=1.0)
    return msgspec.structs.replace(plain, reply_to=REPLY_TO)


def first_try() -> Delivery:
    return Delivery(route(), an_entry(7), 0, 7)


def last_try(leg: Leg = Leg.SUBSCRIBER) -> Delivery:
    destination = REPLY_TO if leg is Leg.REPLY else URI
    parked = Parked("r", destination, 0, 7, NOW, NOW + 60.0, 1, leg, status=503, id=3)
    return Delivery(route(), an_entry(7), 0, 7, parked)


def accounted(delivery: Delivery, answer: Response) -> Account:
    account = Account(NOW)
    account.settled(delivery, Response(200, onward=Onward(REPLY, answer)))
    return account


def outcomes(account: Account) -> list[int]:
    return [row[3] for row in account.outcomes]


def test_delivery_is_complete_when_its_reply_has_arrived() -> None:
    account = accounted(first_try(), Response(202))

    assert outcomes(account) == [DELIVERED]
    assert (account.parked, account.dead) == ([], [])


@pytest.mark.covers("KN-095")
@pytest.mark.parametrize("answer", [Response(503), Response(404), Response(0, error="refused")])
def test_whole_delivery_is_retried_when_its_reply_did_not_arrive(answer: Response) -> None:
    account = accounted(first_try(), answer)

    (parked,) = account.parked
    assert (parked.destination, parked.leg, parked.entry) == (URI, Leg.SUBSCRIBER, None)
    assert (parked.attempts, parked.due, parked.status) == (1, NOW + 1.0, answer.status)
    assert parked.cause.startswith(f"the reply could not be delivered to {REPLY_TO}: ")
    assert account.tallies()[0].delivered == 0


def test_sink_of_replies_can_ask_for_time() -> None:
    account = accounted(first_try(), Response(503, (("retry-after", "9"),)))

    assert [parked.due for parked in account.parked] == [NOW + 9.0]


def test_subscriber_is_not_blamed_for_the_sink_of_its_replies() -> None:
    account = Account(NOW)
    for _ in range(5):
        answer = Response(200, onward=Onward(REPLY, Response(0, error="refused")))
        account.settled(first_try(), answer)

    assert all(one.state is State.UP for one in account.health({}, 0.5))


@pytest.mark.covers("KN-096")
def test_reply_is_dead_when_the_retries_end_with_it() -> None:
    account = accounted(last_try(), Response(503, body=b"full"))

    (dead,), (letter,) = account.dead, account.parked
    assert (dead.destination, dead.attempts, dead.status) == (REPLY_TO, 2, 503)
    assert arrow.thaw(dead.entry).event == REPLY
    assert (letter.leg, letter.destination) == (Leg.DEAD_LETTER, LETTERS)
    assert arrow.thaw(letter.entry or b"").event.extensions["knativeerrordest"] == REPLY_TO
    assert (outcomes(account), account.finished) == ([DEAD], [3])


def test_refused_reply_is_dead_at_once_and_the_delivery_is_complete() -> None:
    account = accounted(first_try(), Response(400))

    (dead,), (letter,) = account.dead, account.parked
    assert (arrow.thaw(dead.entry).event, dead.destination) == (REPLY, REPLY_TO)
    assert letter.leg is Leg.DEAD_LETTER
    assert outcomes(account) == [DELIVERED]
    (tally,) = account.tallies()
    assert (tally.delivered, tally.dead, tally.parked) == (1, 1, 0)


def test_subscriber_and_reply_share_one_budget() -> None:
    account = Account(NOW)

    account.settled(last_try(), Response(503))

    (dead,) = account.dead
    assert (dead.attempts, dead.destination) == (2, URI)
    assert arrow.thaw(dead.entry) == an_entry(7)


def test_reply_revived_by_hand_goes_where_replies_go() -> None:
    account = Account(NOW)
    account.settled(last_try(Leg.REPLY), Response(202))

    assert last_try(Leg.REPLY).destination == REPLY_TO
    assert account.finished == [3]
    assert account.tallies()[0].parked == -1
