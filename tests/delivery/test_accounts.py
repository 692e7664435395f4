from __future__ import annotations

from typing import Any

import msgspec
import pytest

from penstock.delivery.accounts import DEAD, DELIVERED, PARKED, Account, Delivery, shelved
from penstock.formats import arrow
from penstock.ports import SHELVED, Health, Leg, Parked, Response, State, Tally
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
    entry = arrow.thaw(letter.entry)
    assert (entry.event.id, entry.hops) == ("7", 0)
    assert entry.event.extensions == {"knativeerrordest": URI, "knativeerrorcode": 400}
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


def batch(count: int = 3) -> list[Delivery]:
    return [first_try(a_route(), offset) for offset in range(count)]


def together(response: Response, deliveries: list[Delivery] | None = None) -> Account:
    account = Account(NOW)
    account.settled_together(batch() if deliveries is None else deliveries, response)
    return account


def test_one_answer_settles_all_that_travelled_together() -> None:
    account = together(Response(200))

    assert [row[1] for row in account.outcomes] == [0, 1, 2]
    assert tally(account).delivered == 3


def test_destination_is_judged_once_by_a_request_however_many_events_it_has() -> None:
    (health,) = together(REFUSED).health({}, 0.5)

    assert (health.state, health.failures) == (State.UP, 1)


def test_failed_batch_is_tried_again_whole() -> None:
    account = together(Response(503))

    assert {(one.due, one.attempts, one.status) for one in account.parked} == {(NOW + 1, 1, 503)}


@pytest.mark.parametrize("status", [400, 413, 415, 422])
def test_refused_batch_is_taken_apart_without_counting_an_attempt(status: int) -> None:
    account = together(Response(status))

    assert {(one.due, one.attempts, one.status) for one in account.parked} == {(NOW, 0, status)}
    assert not account.dead
    assert "one by one" in (tally(account).last_error or "")


@pytest.mark.parametrize(("status", "count"), [(400, 1), (401, 3), (403, 3)])
def test_refusal_of_one_event_or_of_the_sender_is_final(status: int, count: int) -> None:
    account = together(Response(status), batch(count))

    assert len(account.dead) == count


def test_sink_that_is_gone_stops_the_route_of_a_batch() -> None:
    assert set(together(Response(410)).stopped) == {"r"}


def test_obstacle_of_our_own_counts_as_an_attempt_but_not_against_the_destination() -> None:
    account = accounted(first_try(a_route()), Response(0, error="expired", ours=True))

    (parked,) = account.parked
    assert (parked.attempts, parked.cause) == (1, "expired")
    assert account.health({}, 0.5) == []


def test_delivery_that_waits_for_something_else_has_a_day_whatever_its_schedule() -> None:
    account = Account(NOW)
    account.waits(first_try(), NOW + 5.0, "why")

    (parked,) = account.parked
    assert (parked.due, parked.attempts, parked.cause) == (NOW + 5.0, 0, "why")
    assert parked.deadline == NOW + 86_400.0
    assert account.health({}, 0.5) == []


def test_waiting_again_does_not_prolong_the_day() -> None:
    account = Account(NOW)
    account.waits(again(deadline=NOW + 60.0, status=413), NOW + 5.0, "why")

    (parked,) = account.parked
    assert (parked.deadline, parked.status, parked.attempts) == (NOW + 60.0, 413, 1)
    assert account.tallies() == [], "it was counted when it was first parked"


def test_reason_to_be_barred_is_shown_with_the_route() -> None:
    account = Account(NOW)
    account.barred(first_try(), NOW + 5.0, "no consent")

    assert tally(account).last_error == "no consent"


def test_schedule_of_a_paced_delivery_starts_with_its_turn() -> None:
    account = Account(NOW)
    account.paced(first_try(), NOW + 500.0, "its turn")

    (parked,) = account.parked
    assert parked.due == NOW + 500.0
    assert parked.deadline >= NOW + 500.0 + KNATIVE.policy.timeout


def test_shelved_delivery_is_never_due_and_keeps_the_time_it_has_left() -> None:
    account = Account(NOW)
    account.shelved(first_try(a_route()))

    (parked,) = account.parked
    assert (parked.due, parked.deadline) == (SHELVED, SHELVED + 86_400.0)
    assert tally(account).parked == 1


@pytest.mark.parametrize(
    ("deadline", "left"), [(NOW + 60.0, 60.0), (NOW - 5.0, 0.0), (SHELVED + 7.0, 7.0)]
)
def test_delivery_that_waited_already_is_shelved_as_it_is(deadline: float, left: float) -> None:
    parked = again(deadline=deadline).parked
    assert parked is not None

    away = shelved(parked, NOW)

    assert (away.id, away.attempts, away.cause) == (3, 1, "it failed")
    assert (away.due, away.deadline) == (SHELVED, SHELVED + left)


@pytest.mark.parametrize("response", [Response(503), REFUSED])
def test_last_error_tells_what_was_answered(response: Response) -> None:
    assert tally(accounted(first_try(), response)).last_status == response.status
