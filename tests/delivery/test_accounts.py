from __future__ import annotations

from typing import Any

import msgspec
import pytest

from penstock.delivery.accounts import DEAD, DELIVERED, PARKED, Account, Delivery
from penstock.formats import arrow
from penstock.ports import Health, Leg, Parked, Response, State, Tally
from penstock.routing import Route
from tests.log.entries import an_entry
from tests.routing.routes import URI, a_knative_route, a_route

NOW = 1_000.0
LETTERS = "http://letters.example/"
REFUSED = Response(0, error="connection refused")
KNATIVE = a_knative_route(retries=2, delay=1.0, timeout=5.0)


def first_try(route: Route = KNATIVE, offset: int = 7) -> Delivery:
    return Delivery(route, an_entry(offset), 0, offset)


def again(route: Route = KNATIVE, **changes: Any) -> Delivery:  # noqa: ANN401
    """A delivery that waited after one failed attempt."""
    parked = Parked("r", URI, 0, 7, NOW, NOW + 60.0, 1, status=500, cause="it failed", id=3)
    return Delivery(route, an_entry(7), 0, 7, msgspec.structs.replace(parked, **changes))


def accounted(delivery: Delivery, *responses: Response, now: float = NOW) -> Account:
    account = Account(now)
    for response in responses:
        account.settled(delivery, response)
    return account


def tally(account: Account) -> Tally:
    (only,) = account.tallies()
    return only


def noted(account: Account) -> list[tuple[int, int, int]]:
    """Outcome, status and attempts of all that was noted."""
    return [row[3:6] for row in account.outcomes]


def test_success_at_once_leaves_only_an_outcome() -> None:
    account = accounted(first_try(), Response(202))

    assert account.outcomes == [(0, 7, "r", DELIVERED, 202, 1, int(NOW * 1e6))]
    assert (account.parked, account.dead, account.finished) == ([], [], [])
    assert tally(account) == Tally("r", delivered=1, last_success=NOW)


def test_failure_is_parked_until_the_next_attempt() -> None:
    account = accounted(first_try(), Response(503))

    (parked,) = account.parked
    assert (parked.due, parked.attempts, parked.status) == (NOW + 1.0, 1, 503)
    assert (parked.route, parked.destination, parked.offset, parked.id) == ("r", URI, 7, 0)
    assert parked.deadline == NOW + 1.0 + 2.0 + 5.0
    assert parked.cause == "the sink answered 503"
    assert noted(account) == [(PARKED, 503, 1)]
    assert tally(account).parked == 1
    assert tally(account).last_error_at == NOW


def test_failure_after_waiting_is_parked_anew() -> None:
    account = accounted(again(), REFUSED)

    (parked,) = account.parked
    assert (parked.id, parked.due, parked.attempts) == (3, NOW + 2.0, 2)
    assert (parked.deadline, parked.cause) == (NOW + 60.0, "connection refused")
    assert account.finished == []
    assert noted(account) == []
    assert (tally(account).parked, tally(account).retried) == (0, 1)


def test_success_after_waiting_finishes_the_delivery() -> None:
    account = accounted(again(), Response(200))

    assert account.finished == [3]
    assert noted(account) == [(DELIVERED, 200, 2)]
    assert (tally(account).parked, tally(account).delivered) == (-1, 1)


@pytest.mark.parametrize("response", [Response(500), REFUSED])
def test_last_failure_makes_a_dead_letter_with_payload_and_cause(response: Response) -> None:
    account = accounted(again(attempts=2), response)

    (dead,) = account.dead
    assert (dead.route, dead.destination, dead.offset, dead.at) == ("r", URI, 7, NOW)
    assert (dead.attempts, dead.status) == (3, response.status)
    assert dead.cause == (response.error or "the sink answered 500")
    assert arrow.thaw(dead.entry) == an_entry(7)
    assert account.finished == [3]
    assert account.parked == []
    assert noted(account) == [(DEAD, response.status, 3)]
    assert (tally(account).parked, tally(account).dead) == (-1, 1)


def test_refusal_is_dead_at_once() -> None:
    account = accounted(first_try(), Response(400))

    assert [(dead.attempts, dead.status) for dead in account.dead] == [(1, 400)]
    assert account.parked == []
    assert noted(account) == [(DEAD, 400, 1)]


def test_dead_letter_goes_to_the_sink_for_them_with_the_event() -> None:
    route = a_knative_route(dead_letter=LETTERS, delay=1.0, retries=1)

    account = accounted(first_try(route), Response(400))

    (letter,) = account.parked
    assert (letter.leg, letter.destination, letter.due) == (Leg.DEAD_LETTER, LETTERS, NOW)
    assert (letter.attempts, letter.status) == (0, 400)
    assert letter.entry is not None
    assert arrow.thaw(letter.entry) == an_entry(7)
    assert tally(account).parked == 0


def test_dead_letter_is_never_dead_lettered_again() -> None:
    route = a_knative_route(dead_letter=LETTERS, retries=1)

    account = accounted(again(route, leg=Leg.DEAD_LETTER, destination=LETTERS), Response(500))

    assert account.finished == [3]
    assert (account.parked, account.dead, account.outcomes) == ([], [], [])


def test_letter_that_arrives_counts_as_no_delivery() -> None:
    route = a_knative_route(dead_letter=LETTERS)

    account = accounted(again(route, leg=Leg.DEAD_LETTER, destination=LETTERS), Response(202))

    assert account.finished == [3]
    assert account.outcomes == []
    assert [found.delivered for found in account.tallies()] in ([], [0])


def test_letter_is_retried_like_any_other() -> None:
    route = a_knative_route(dead_letter=LETTERS, retries=3, delay=1.0)

    account = accounted(again(route, leg=Leg.DEAD_LETTER, destination=LETTERS), Response(503))

    assert [(one.leg, one.due, one.attempts) for one in account.parked] == [
        (Leg.DEAD_LETTER, NOW + 2.0, 2)
    ]


@pytest.mark.covers("CE-124")
def test_gone_sink_stops_its_route() -> None:
    account = accounted(first_try(a_route()), Response(410))

    assert account.stopped == ["r"]
    assert len(account.dead) == 1


def test_gone_dead_letter_sink_does_not_stop_the_route() -> None:
    route = a_route(policy=KNATIVE.policy)

    account = accounted(again(route, leg=Leg.DEAD_LETTER), Response(410))

    assert account.stopped == []


@pytest.mark.covers("CE-125")
def test_retry_after_holds_the_delivery_and_its_destination() -> None:
    busy = Response(429, (("retry-after", "30"),))

    account = accounted(first_try(), busy)

    assert account.parked[0].due == NOW + 30.0
    assert [found.hold_until for found in account.health({}, 0.5)] == [NOW + 30.0]


def test_held_delivery_is_parked_without_an_attempt() -> None:
    account = Account(NOW)

    account.held(first_try(), NOW + 3.0)
    account.held(first_try(offset=8), 0.0)

    assert [(one.due, one.attempts) for one in account.parked] == [(NOW + 3.0, 0), (NOW, 0)]
    assert account.health({}, 0.5) == []
    assert tally(account).parked == 2


def test_unfinished_attempt_counts_for_nothing_but_shows_that_the_sink_is_slow() -> None:
    account = Account(NOW)

    account.unfinished(first_try())

    assert [(one.due, one.attempts) for one in account.parked] == [(NOW, 0)]
    assert [found.state for found in account.health({}, 0.5)] == [State.SLOW]


def test_delivery_whose_route_moved_waits_for_the_new_address() -> None:
    account, old = Account(NOW), again(destination="http://old.example/", attempts=2)

    assert old.parked is not None
    account.moved(old, old.parked)

    assert [(one.id, one.destination, one.due, one.attempts) for one in account.parked] == [
        (3, URI, NOW, 2)
    ]


def test_reply_at_the_end_of_a_long_chain_is_a_dead_letter() -> None:
    account, reply = Account(NOW), msgspec.structs.replace(an_entry(9), hops=256)

    account.looped(first_try(a_knative_route(dead_letter=LETTERS)), reply)

    assert [(arrow.thaw(one.entry), one.cause) for one in account.dead] == [
        (reply, "it is number 256 in a chain of replies")
    ]
    assert [(one.destination, one.leg) for one in account.parked] == [(LETTERS, Leg.DEAD_LETTER)]
    assert tally(account).dead == 1


@pytest.mark.parametrize("status", [0, 503])
def test_abandoned_delivery_is_dead_with_its_last_cause_and_as_many_attempts(status: int) -> None:
    account = Account(NOW)

    account.abandoned(again(status=status), "its time has passed")

    (dead,) = account.dead
    assert (dead.attempts, dead.status) == (1, status)
    assert dead.cause == "its time has passed; last: it failed"
    assert account.finished == [3]


def test_sink_that_refuses_is_up_and_one_that_does_not_answer_is_not() -> None:
    refusing = accounted(first_try(), *[Response(503)] * 10).health({}, 0.5)
    silent = accounted(first_try(), *[REFUSED] * 10).health({}, 0.5)

    assert [found.state for found in refusing] == [State.UP]
    assert [found.state for found in silent] == [State.DOWN]


def test_only_changed_health_is_told() -> None:
    known = {URI: Health(URI)}

    quick = accounted(first_try(), Response(202, elapsed=0.1)).health(known, 0.5)
    slow = accounted(first_try(), Response(202, elapsed=0.9)).health(known, 0.5)

    assert quick == []
    assert [found.state for found in slow] == [State.SLOW]


def test_matched_events_are_counted_even_where_nothing_was_sent() -> None:
    account = Account(NOW)

    account.matched(a_route())
    account.matched(a_route())

    assert account.tallies() == [Tally("r", matched=2)]
