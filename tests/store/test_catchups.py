from __future__ import annotations

from collections.abc import Iterator

import pytest

from penstock.errors import ConflictError
from penstock.ports import SHELVED, Caught, Steps, Tally
from penstock.store import SqlCatchUps, SqlLedger, SqlWaitingRoom
from tests.store.deliveries import SINK, parked, settle

NOW = 600.0


@pytest.fixture
def catchups(ledger: SqlLedger, url: str) -> Iterator[SqlCatchUps]:
    ledger.begin()
    opened = SqlCatchUps(url, 1)
    yield opened
    opened.close()


def test_bit_is_parked_together_with_how_far_it_is(
    ledger: SqlLedger, room: SqlWaitingRoom, catchups: SqlCatchUps
) -> None:
    first, second = Caught("r", 3, (10,), 10), Caught("r", 3, (20,), 20)

    assert catchups.advance(None, first, [parked(1), parked(2)], NOW)
    assert catchups.advance(first, second, [parked(12)], NOW)

    assert catchups.all() == [second]
    assert sorted(one.offset for one in room.claim(SINK, NOW, 10, 5.0)) == [1, 2, 12]
    assert ledger.tallies()["r"] == Tally("r", matched=3, parked=3)


def test_bit_that_was_parked_before_is_not_parked_again(
    ledger: SqlLedger, catchups: SqlCatchUps
) -> None:
    first = Caught("r", 3, (10,), 10)
    catchups.advance(None, first, [parked(1)], NOW)

    assert not catchups.advance(None, first, [parked(1)], NOW)
    assert not catchups.advance(Caught("r", 3, (5,)), Caught("r", 3, (15,)), [parked(7)], NOW)

    assert catchups.all() == [first]
    assert ledger.tallies()["r"].parked == 1


def test_delivery_that_waits_already_is_not_counted_again(
    ledger: SqlLedger, catchups: SqlCatchUps
) -> None:
    settle(ledger, parked=[parked(1)])

    catchups.advance(None, Caught("r", 3, (10,)), [parked(1), parked(2)], NOW)

    assert ledger.tallies()["r"].parked == 1


def test_older_pipeline_cannot_park_any_more(ledger: SqlLedger, catchups: SqlCatchUps) -> None:
    ledger.begin()

    with pytest.raises(ConflictError):
        catchups.advance(None, Caught("r", 3, (10,)), [parked(1)], NOW)
    with pytest.raises(ConflictError):
        catchups.release("r", NOW, 10)

    assert catchups.all() == []


def test_catchups_of_routes_are_kept_apart_and_forgotten_alone(catchups: SqlCatchUps) -> None:
    ours, theirs = [Caught("r", 3, (1,)), Caught("r", 5, (2,))], Caught("s", 3, (3,))
    for one in (*ours, theirs):
        catchups.advance(None, one, [], NOW)

    catchups.forget(ours[0])

    assert catchups.all() == [ours[1], theirs]


def test_waiting_deliveries_of_a_route_are_counted_up_to_a_number(
    ledger: SqlLedger, catchups: SqlCatchUps
) -> None:
    settle(ledger, parked=[*(parked(n) for n in range(5)), parked(9, route="s")])

    assert (catchups.waiting("r", 3), catchups.waiting("r", 9)) == (3, 5)
    assert catchups.waiting("t", 3) == 0


def test_routes_with_shelved_deliveries_are_found(ledger: SqlLedger, catchups: SqlCatchUps) -> None:
    assert catchups.shelved() == []

    settle(
        ledger,
        parked=[
            *(parked(n, route=route) for route in "acd" for n in range(3)),
            *(parked(n, route=route, due=SHELVED) for route in "bcd" for n in range(3, 6)),
        ],
    )

    assert catchups.shelved() == ["b", "c", "d"]


def test_released_deliveries_are_due_with_the_time_they_had_left(
    ledger: SqlLedger, room: SqlWaitingRoom, catchups: SqlCatchUps
) -> None:
    away = [parked(n, due=SHELVED, deadline=SHELVED + 70.0) for n in range(3)]
    settle(ledger, parked=[*away, parked(9, route="s", due=SHELVED), parked(8, due=1_000.0)])

    assert catchups.release("r", NOW, 2) == 2
    assert catchups.release("r", NOW, 2) == 1

    found = room.claim(SINK, NOW, 10, 5.0)
    assert sorted((one.offset, one.deadline) for one in found) == [(n, 670.0) for n in range(3)]
    assert catchups.shelved() == ["s"]


def test_shelved_deliveries_of_a_route_that_is_gone_are_removed(
    ledger: SqlLedger, catchups: SqlCatchUps
) -> None:
    settle(ledger, parked=[parked(1, due=SHELVED), parked(2)])

    assert catchups.discard("r", 10) == 1

    assert catchups.waiting("r", 10) == 1


def test_destination_that_came_back_leaves_shelved_deliveries_alone(
    ledger: SqlLedger, room: SqlWaitingRoom, catchups: SqlCatchUps
) -> None:
    settle(ledger, parked=[parked(1, due=SHELVED, attempts=0)])

    assert room.hasten(SINK, NOW) == 0

    assert catchups.shelved() == ["r"]


def test_first_run_of_every_version_is_remembered(ledger: SqlLedger, catchups: SqlCatchUps) -> None:
    for start, version in ((0, 2), (5, 2), (9, 4), (12, 7)):
        ledger.plan((start,), (start + 3,), version)
    ledger.plan((12,), (99,), 8)  # It was planned already.

    assert catchups.steps() == Steps(
        (
            (2, (0,)),
            (4, (9,)),
            (7, (12,)),
        ),
        (15,),
    )

    catchups.forget_steps(4)

    assert ledger.steps() == Steps(
        (
            (4, (9,)),
            (7, (12,)),
        ),
        (15,),
    )


@pytest.mark.parametrize(
    ("later", "rate"),
    [
        (0.0, 60.0),
        (19.0, 60.0),
        (20.0, 60.0),
        (50.0, 30.0),
        (79.0, 1.0),
        (80.0, 0.0),
        (500.0, 0.0),
    ],
)
def test_rate_is_that_of_the_last_minute(
    ledger: SqlLedger, catchups: SqlCatchUps, later: float, rate: float
) -> None:
    now = 640.0  # forty seconds into a minute
    many = [parked(offset) for offset in range(3_600)]

    catchups.advance(None, Caught("r", 3, (1,)), many, now)

    found = ledger.standing("r", SINK, now + later).rates
    assert found.matched == pytest.approx(rate)
    assert found.delivered == 0.0


def test_rate_adds_up_over_the_turn_of_a_minute(ledger: SqlLedger, catchups: SqlCatchUps) -> None:
    steps = [Caught("r", 3, (number,)) for number in range(4)]
    for number, now in enumerate((599.0, 601.0, 629.0)):
        before = steps[number] if number else None
        bit = [parked(600 * number + offset) for offset in range(600)]
        catchups.advance(before, steps[number + 1], bit, now)

    # Of the minute before, half lies in the last sixty seconds.
    assert ledger.standing("r", SINK, 630.0).rates.matched == pytest.approx((300 + 1_200) / 60)
