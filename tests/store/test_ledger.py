from __future__ import annotations

import time
from pathlib import Path

import pytest
import sqlalchemy as sa

from penstock.errors import ConflictError
from penstock.ports import Health, Leg, Plan, Standing, State, Steps, Tally
from penstock.store import SqlDeadLetters, SqlLedger, SqlWaitingRoom, tables
from penstock.store.ledger import BOUNDS, Batches
from tests.store.deliveries import SINK, a_dead_one, parked, settle


@pytest.fixture(autouse=True)
def _first_generation(ledger: SqlLedger) -> None:
    assert ledger.begin() == 1


def outcomes(ledger: SqlLedger) -> list[bytes]:
    with ledger._engine.connect() as connection:  # noqa: SLF001 - nobody reads them yet
        return [bytes(row.body) for row in connection.execute(sa.select(tables.OUTCOMES))]


def test_new_ledger_knows_nothing(ledger: SqlLedger) -> None:
    assert ledger.position() is None
    assert ledger.planned((0,)) is None
    assert ledger.needed() is None
    assert (ledger.health(), ledger.tallies()) == ({}, {})


def test_settlement_leaves_everything_behind(
    ledger: SqlLedger, room: SqlWaitingRoom, dead: SqlDeadLetters
) -> None:
    tally = Tally("r", matched=3, delivered=1, parked=1, dead=1, last_error="it failed")
    health = Health(SINK, State.DOWN, 3, 7.0, "no answer", 6.0)

    settle(
        ledger,
        position=(3,),
        outcomes=[b"one", b"two"],
        parked=[parked(1)],
        dead=[a_dead_one(2)],
        tallies=[tally],
        health=[health],
        batch=(3, 0.2),
    )

    assert ledger.position() == (3,)
    assert outcomes(ledger) == [b"one", b"two"]
    assert [found.offset for found in room.claim(SINK, 100.0, 10, 5.0)] == [1]
    assert dead.page(None, 10) == [a_dead_one(2, id=1)]
    assert ledger.tallies() == {"r": tally}
    assert ledger.health() == {SINK: health}
    assert (ledger.batches().count, ledger.batches().events) == (1, 3)


@pytest.mark.parametrize("position", [(3,), (2,)])
def test_batch_that_was_settled_is_not_settled_again(
    ledger: SqlLedger, dead: SqlDeadLetters, position: tuple[int]
) -> None:
    settle(ledger, position=(3,), dead=[a_dead_one()], tallies=[Tally("r", dead=1)])

    settle(ledger, position=position, dead=[a_dead_one(1)], tallies=[Tally("r", dead=1)])

    assert ledger.position() == (3,)
    assert len(dead.page(None, 10)) == 1
    assert ledger.tallies()["r"].dead == 1


def test_retries_are_settled_without_a_position(ledger: SqlLedger) -> None:
    settle(ledger, position=(3,))

    settle(ledger, tallies=[Tally("r", delivered=1)])
    settle(ledger, tallies=[Tally("r", delivered=1)])

    assert ledger.position() == (3,)
    assert ledger.tallies()["r"].delivered == 2


def test_older_generation_is_refused_and_writes_nothing(ledger: SqlLedger) -> None:
    assert ledger.begin() == 2

    with pytest.raises(ConflictError, match="newer pipeline"):
        settle(ledger, 1, position=(3,), tallies=[Tally("r", delivered=1)])

    assert ledger.position() is None
    assert ledger.tallies() == {}


def test_plan_is_recorded_once_and_returned_again(ledger: SqlLedger) -> None:
    first = ledger.plan((3,), (9,), 5)

    again = ledger.plan((3,), (20,), 8)

    assert first == again == ledger.planned((3,)) == Plan((3,), (9,), 5)
    assert ledger.planned((4,)) is None


def test_plan_of_the_next_run_takes_the_place_of_the_last(ledger: SqlLedger) -> None:
    ledger.plan((3,), (9,), 5)

    ledger.plan((9,), (12,), 6)

    assert ledger.planned((3,)) is None
    assert ledger.planned((9,)) == Plan((9,), (12,), 6)


def test_plan_outlives_its_generation(ledger: SqlLedger, url: str) -> None:
    ledger.plan((3,), (9,), 5)
    ledger.close()

    other = SqlLedger(url)
    other.begin()

    assert other.planned((3,)) == Plan((3,), (9,), 5)
    other.close()


def test_no_version_may_be_forgotten_before_the_first_plan(ledger: SqlLedger) -> None:
    assert ledger.oldest_version(7) == 0

    ledger.plan((0,), (3,), 5)

    assert [ledger.oldest_version(7), ledger.oldest_version(4)] == [5, 4]


def test_delivery_parked_twice_waits_once(ledger: SqlLedger, room: SqlWaitingRoom) -> None:
    settle(ledger, parked=[parked(1), parked(2)])

    settle(ledger, parked=[parked(1, due=500.0, attempts=7), parked(1, leg=Leg.DEAD_LETTER)])

    found = room.claim(SINK, 1_000.0, 10, 5.0)
    assert sorted((one.offset, one.leg, one.attempts) for one in found) == [
        (1, Leg.SUBSCRIBER, 1),
        (1, Leg.DEAD_LETTER, 1),
        (2, Leg.SUBSCRIBER, 1),
    ]


def test_finished_deliveries_wait_no_more(ledger: SqlLedger, room: SqlWaitingRoom) -> None:
    settle(ledger, parked=[parked(1), parked(2)])
    first, _ = room.claim(SINK, 100.0, 10, 5.0)

    settle(ledger, finished=[first.id])

    assert [one.offset for one in room.claim(SINK, 1_000.0, 10, 5.0)] == [2]


def test_number_of_a_finished_delivery_is_never_given_again(
    ledger: SqlLedger, room: SqlWaitingRoom
) -> None:
    settle(ledger, parked=[parked(1)])
    (slow,) = room.claim(SINK, 100.0, 10, 5.0)
    settle(ledger, finished=[slow.id])
    settle(ledger, parked=[parked(2)])

    settle(ledger, finished=[slow.id])

    assert [one.offset for one in room.claim(SINK, 100.0, 10, 5.0)] == [2]


def test_delivery_parked_again_has_no_lease_and_its_new_time(
    ledger: SqlLedger, room: SqlWaitingRoom
) -> None:
    settle(ledger, parked=[parked(1)])
    (held,) = room.claim(SINK, 100.0, 10, 5.0)

    again = parked(1, id=held.id, due=300.0, attempts=2, status=503, cause="busy", entry=b"event")
    settle(ledger, parked=[again])

    assert room.claim(SINK, 299.0, 10, 5.0) == []
    assert room.claim(SINK, 300.0, 10, 5.0) == [again]


def test_delivery_may_move_to_a_destination_nobody_knew(
    ledger: SqlLedger, room: SqlWaitingRoom
) -> None:
    settle(ledger, parked=[parked(1)])
    (held,) = room.claim(SINK, 100.0, 10, 5.0)

    settle(ledger, parked=[parked(1, id=held.id, destination="http://new.example/")])

    assert room.destinations() == {"http://new.example/": 100.0}


def test_leases_end_with_a_new_generation(ledger: SqlLedger, room: SqlWaitingRoom) -> None:
    settle(ledger, parked=[parked(1)])
    now = time.time()
    room.claim(SINK, now, 10, 3_600.0)

    ledger.begin()

    assert len(room.claim(SINK, time.time(), 10, 5.0)) == 1


def test_new_generation_forgets_calm_destinations_only(ledger: SqlLedger) -> None:
    calm, down = Health("http://calm/"), Health("http://down/", State.DOWN)
    waited_for = Health(SINK)
    settle(ledger, parked=[parked(1)], health=[calm, down, waited_for])

    ledger.begin()

    assert set(ledger.health()) == {"http://down/", SINK}


def test_log_is_needed_from_the_first_parked_event_on(
    ledger: SqlLedger, room: SqlWaitingRoom
) -> None:
    own = parked(2, entry=b"event")
    settle(ledger, parked=[own, parked(5), parked(7)])
    needed = ledger.needed()
    found = {one.offset: one.id for one in room.claim(SINK, 100.0, 10, 5.0)}

    settle(ledger, finished=[found[5]])

    assert needed == (5,)
    assert ledger.needed() == (7,)


def test_tallies_add_up_and_keep_the_last_happenings(ledger: SqlLedger) -> None:
    settle(ledger, tallies=[Tally("r", 5, 3, 2, 0, 0, 10.0, "first", 11.0), Tally("s", 1)])

    settle(ledger, tallies=[Tally("r", 1, 1, -2, 1, 4, None, "second", 12.0)])

    expected = Tally("r", 6, 4, 0, 1, 4, 10.0, "second", 12.0)
    assert ledger.tallies() == {"r": expected, "s": Tally("s", 1)}


def test_health_is_replaced(ledger: SqlLedger) -> None:
    settle(ledger, health=[Health(SINK, State.DOWN, 3, 7.0, "no answer", 6.0)])

    settle(ledger, health=[Health(SINK, State.UP, 0, 0.0, "", 8.0)])

    assert ledger.health() == {SINK: Health(SINK, State.UP, 0, 0.0, "", 8.0)}


def test_parking_does_not_touch_what_is_known_of_a_destination(ledger: SqlLedger) -> None:
    down = Health(SINK, State.DOWN, 3, 7.0, "no answer", 6.0)
    settle(ledger, health=[down])

    settle(ledger, parked=[parked(1)])

    assert ledger.health() == {SINK: down}


def test_batches_are_counted_by_how_long_they_took() -> None:
    sums = Batches().plus(10, 0.05, 1.0).plus(5, 0.3, 2.0).plus(1, 99.0, 3.0)

    assert (sums.count, sums.events, sums.last, sums.last_seconds) == (3, 16, 3.0, 99.0)
    assert sums.seconds == pytest.approx(99.35)
    assert dict(zip(BOUNDS, sums.within, strict=True))[0.05] == 1
    assert sums.within[-1] == 2


def test_settlement_that_fails_leaves_nothing(ledger: SqlLedger, room: SqlWaitingRoom) -> None:
    broken = a_dead_one(route=None)

    with pytest.raises(Exception, match="store failed"):
        settle(ledger, position=(9,), parked=[parked(1)], outcomes=[b"one"], dead=[broken])

    assert ledger.position() is None
    assert outcomes(ledger) == []
    assert room.destinations() == {}


def test_old_outcomes_are_forgotten(ledger: SqlLedger) -> None:
    settle(ledger, outcomes=[b"one"])
    between = time.time()
    settle(ledger, outcomes=[b"two"])

    assert ledger.forget_outcomes(between) == 1
    assert outcomes(ledger) == [b"two"]


def test_syncing_changes_nothing_that_can_be_seen(ledger: SqlLedger) -> None:
    settle(ledger, position=(3,), tallies=[Tally("r", delivered=1)])

    ledger.sync()

    assert ledger.position() == (3,)
    assert ledger.tallies() == {"r": Tally("r", delivered=1)}


def test_plan_is_on_disk_before_the_first_send(tmp_path: Path) -> None:
    ledger = SqlLedger(f"sqlite:///{tmp_path / 'ledger.db'}")

    with ledger._plans.connect() as connection:  # noqa: SLF001 - only a power cut would show it
        level = connection.exec_driver_sql("PRAGMA synchronous").scalar()

    assert level == 2
    ledger.close()


def test_standing_tells_all_of_one_route(ledger: SqlLedger) -> None:
    tally = Tally("r", 3, 1, 2, last_error="it failed", last_error_at=5.0, last_status=503)
    health = Health(SINK, State.DOWN, 4)
    ledger.plan((0,), (9,), 2)
    settle(
        ledger,
        position=(9,),
        parked=[parked(1, due=70.0), parked(2, due=60.0), parked(3, route="s", due=1.0)],
        tallies=[tally, Tally("s", 9)],
        health=[health],
    )

    found = ledger.standing("r", SINK, 0.0)

    assert (found.tally, found.health) == (tally, health)
    assert (found.next_retry, found.settled) == (60.0, (9,))
    assert found.steps == Steps(((2, (0,)),), (9,))


def test_standing_of_a_route_of_which_nothing_is_known(ledger: SqlLedger) -> None:
    assert ledger.standing("r", SINK, 0.0) == Standing(Tally("r"), Health(SINK))


def test_attempt_that_is_under_way_is_no_next_retry(
    ledger: SqlLedger, room: SqlWaitingRoom
) -> None:
    settle(ledger, parked=[parked(1, due=50.0), parked(2, due=500.0)])
    room.claim(SINK, 60.0, 10, 5.0)

    assert ledger.standing("r", SINK, 60.0).next_retry == 500.0


def test_dead_letter_sent_again_counts_as_parked(ledger: SqlLedger, dead: SqlDeadLetters) -> None:
    settle(ledger, dead=[a_dead_one(7), a_dead_one(8)], tallies=[Tally("r", dead=2)])

    dead.retry([1, 2], 100.0, 900.0)

    assert ledger.tallies()["r"].parked == 2


def test_last_status_is_that_of_the_last_error(ledger: SqlLedger) -> None:
    settle(ledger, tallies=[Tally("r", last_error="a", last_error_at=1.0, last_status=503)])
    settle(ledger, tallies=[Tally("r", delivered=1)])
    assert ledger.tallies()["r"].last_status == 503

    settle(ledger, tallies=[Tally("r", last_error="b", last_error_at=2.0, last_status=0)])

    assert ledger.tallies()["r"].last_status == 0
