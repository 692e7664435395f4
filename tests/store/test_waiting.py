from __future__ import annotations

import threading
import time

import pytest

from penstock.ports import Health, Leg, State
from penstock.store import SqlDeadLetters, SqlLedger, SqlWaitingRoom
from tests.store.deliveries import SINK, a_dead_one, parked, settle

OTHER = "http://other.example/"


@pytest.fixture(autouse=True)
def _first_generation(ledger: SqlLedger) -> None:
    ledger.begin()


def test_due_deliveries_are_claimed_in_order_and_up_to_a_number(
    ledger: SqlLedger, room: SqlWaitingRoom
) -> None:
    times = {1: 90.0, 2: 80.0, 3: 70.0, 4: 101.0}
    settle(ledger, parked=[parked(offset, due=due) for offset, due in times.items()])

    first = room.claim(SINK, 100.0, 2, 30.0)
    rest = room.claim(SINK, 100.0, 2, 30.0)

    assert sorted(one.offset for one in first) == [2, 3]
    assert [one.offset for one in rest] == [1]


def test_claim_leaves_other_destinations_alone(ledger: SqlLedger, room: SqlWaitingRoom) -> None:
    settle(ledger, parked=[parked(1), parked(2, destination=OTHER)])

    assert [one.offset for one in room.claim(OTHER, 100.0, 10, 30.0)] == [2]


def test_claimed_delivery_comes_back_when_its_lease_has_passed(
    ledger: SqlLedger, room: SqlWaitingRoom
) -> None:
    settle(ledger, parked=[parked(1)])
    (first,) = room.claim(SINK, 100.0, 10, 30.0)

    during = room.claim(SINK, 129.9, 10, 30.0)
    (after,) = room.claim(SINK, 130.0, 10, 30.0)

    assert during == []
    assert (after.id, after.attempts, after.deadline) == (first.id, 1, 1_000.0)


def test_threads_that_claim_at_once_share_what_is_due(
    ledger: SqlLedger, room: SqlWaitingRoom
) -> None:
    settle(ledger, parked=[parked(offset) for offset in range(40)])
    taken: list[int] = []
    start = threading.Barrier(4)

    def work() -> None:
        start.wait()
        while found := room.claim(SINK, 100.0, 3, 30.0):
            taken.extend(one.offset for one in found)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted(taken) == list(range(40))


def test_expired_deliveries_are_taken_once_and_none_that_somebody_holds(
    ledger: SqlLedger, room: SqlWaitingRoom
) -> None:
    ends = {1: 50.0, 2: 60.0, 3: 500.0, 4: 40.0}
    settle(ledger, parked=[parked(offset, deadline=end) for offset, end in ends.items()])
    (held,) = room.claim(SINK, 100.0, 1, 1_000.0)

    found = {one.offset for one in room.expire(SINK, 100.0, 10)}

    assert found == {1, 2, 4} - {held.offset}
    assert room.expire(SINK, 100.0, 10) == []


def test_destination_that_came_back_gets_what_waited_long(
    ledger: SqlLedger, room: SqlWaitingRoom
) -> None:
    soon, late = parked(1, due=102.0), parked(2, due=700.0)
    never_tried = parked(3, due=103.0, attempts=0)
    settle(ledger, parked=[soon, late, never_tried, parked(4, due=700.0, destination=OTHER)])

    assert room.hasten(SINK, 100.0) == 2

    assert sorted(one.offset for one in room.claim(SINK, 100.0, 10, 5.0)) == [2, 3]
    assert room.claim(OTHER, 100.0, 10, 5.0) == []


def test_hasten_does_not_end_leases(ledger: SqlLedger, room: SqlWaitingRoom) -> None:
    settle(ledger, parked=[parked(1)])
    room.claim(SINK, 100.0, 10, 60.0)

    assert room.hasten(SINK, 100.0) == 0
    assert room.claim(SINK, 100.0, 10, 60.0) == []


def test_destinations_are_those_that_something_waits_for(
    ledger: SqlLedger, room: SqlWaitingRoom
) -> None:
    settle(
        ledger,
        parked=[parked(1, due=9.0), parked(2, due=7.0), parked(3, due=8.0, destination=OTHER)],
        health=[Health("http://calm.example/", State.DOWN)],
    )

    assert room.destinations() == {SINK: 7.0, OTHER: 8.0}


def test_nothing_can_be_sent_to_a_destination_that_is_held(
    ledger: SqlLedger, room: SqlWaitingRoom
) -> None:
    settle(ledger, parked=[parked(1, due=9.0)], health=[Health(SINK, hold_until=12.0)])

    assert room.destinations() == {SINK: 12.0}


def test_wait_tells_when_something_is_due_soon(ledger: SqlLedger, room: SqlWaitingRoom) -> None:
    settle(ledger, parked=[parked(1, due=time.time() + 0.3)])
    started = time.monotonic()

    assert room.wait(0.1, 10.0)

    assert 0.1 < time.monotonic() - started < 3.0


def test_wait_is_over_in_time_when_nothing_is_due(ledger: SqlLedger, room: SqlWaitingRoom) -> None:
    settle(ledger, parked=[parked(1, due=time.time() + 1_000.0)])
    started = time.monotonic()

    assert not room.wait(0.1, 0.1)

    assert time.monotonic() - started < 3.0


def test_wait_sees_what_is_parked_meanwhile(ledger: SqlLedger, room: SqlWaitingRoom) -> None:
    told: list[bool] = []
    waiting = threading.Thread(target=lambda: told.append(room.wait(0.0, 30.0)))
    waiting.start()

    settle(ledger, parked=[parked(1, due=0.0)])
    waiting.join(10.0)

    assert told == [True]


def test_dead_letters_come_in_pages_the_newest_first(
    ledger: SqlLedger, dead: SqlDeadLetters
) -> None:
    settle(ledger, dead=[a_dead_one(n, route="rs"[n % 2]) for n in range(5)])

    first = dead.page(None, 2)
    second = dead.page(first[-1].id, 10)

    assert [one.offset for one in first + second] == [4, 3, 2, 1, 0]
    assert [one.offset for one in dead.page(None, 10, "s")] == [3, 1]


def test_dead_letter_is_found_by_its_number(ledger: SqlLedger, dead: SqlDeadLetters) -> None:
    settle(ledger, dead=[a_dead_one(7)])

    assert dead.get(1) == a_dead_one(7, id=1)
    assert dead.get(2) is None


def test_dead_letter_sent_again_waits_as_a_new_delivery(
    ledger: SqlLedger, dead: SqlDeadLetters, room: SqlWaitingRoom
) -> None:
    settle(ledger, dead=[a_dead_one(7), a_dead_one(8)])

    assert dead.retry([1, 99], 100.0, 900.0) == 1

    (found,) = room.claim(SINK, 100.0, 10, 5.0)
    assert (found.route, found.leg, found.attempts) == ("r", Leg.SUBSCRIBER, 0)
    assert (found.deadline, found.entry) == (900.0, b"entry")
    assert [one.offset for one in dead.page(None, 10)] == [8]


def test_dead_letter_sent_again_does_not_meet_the_delivery_it_came_from(
    ledger: SqlLedger, dead: SqlDeadLetters, room: SqlWaitingRoom
) -> None:
    settle(ledger, dead=[a_dead_one(7)], parked=[parked(7)])

    dead.retry([1], 100.0, 900.0)

    assert len(room.claim(SINK, 100.0, 10, 5.0)) == 2


def test_letters_that_die_after_others_were_sent_again_can_be_sent_again_too(
    ledger: SqlLedger, dead: SqlDeadLetters, room: SqlWaitingRoom
) -> None:
    settle(ledger, dead=[a_dead_one(7)])
    dead.retry([1], 100.0, 900.0)
    settle(ledger, dead=[a_dead_one(8)])

    (later,) = dead.page(None, 10)
    assert dead.retry([later.id], 100.0, 900.0) == 1

    assert len(room.claim(SINK, 100.0, 10, 5.0)) == 2


def test_dead_letters_that_are_dropped_are_gone(ledger: SqlLedger, dead: SqlDeadLetters) -> None:
    settle(ledger, dead=[a_dead_one(7), a_dead_one(8)])

    assert dead.drop([1, 99]) == 1

    assert [one.offset for one in dead.page(None, 10)] == [8]
