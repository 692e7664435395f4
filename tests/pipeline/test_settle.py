from __future__ import annotations

import msgspec
import pytest

from penstock.errors import ConflictError
from penstock.pipeline.done import Done
from penstock.pipeline.homes import Desk
from penstock.pipeline.settle import settle, stop
from penstock.ports import Health, Settlement, Span, State, Tally
from tests.log.entries import an_entry, ids, some
from tests.pipeline.plant import Plant
from tests.routing.routes import URI, a_route


@pytest.fixture
def desk(works: Plant) -> Desk:
    works.append(some(range(10)))
    return Desk(works.homes)


def part(start: int, end: int, generation: int = 1, **fields: object) -> Done:
    settlement = msgspec.structs.replace(Settlement(generation), **fields)
    return Done(Span(0, start, end), settlement)


def test_all_parts_of_a_batch_are_settled_together(desk: Desk, works: Plant) -> None:
    first = part(0, 4, tallies=[Tally("r", matched=2, delivered=1)])
    second = part(4, 9, tallies=[Tally("r", matched=3, delivered=3)])

    settle(desk, [second, first], 0.3)

    assert works.ledger.position() == (9,)
    assert works.ledger.tallies()["r"] == Tally("r", matched=5, delivered=4)
    assert (works.ledger.batches().events, works.ledger.batches().seconds) == (9, 0.3)


def test_batch_without_parts_settles_nothing(desk: Desk, works: Plant) -> None:
    settle(desk, [], 0.1)

    assert works.ledger.position() is None


def test_batch_settled_twice_counts_once(desk: Desk, works: Plant) -> None:
    for _ in range(2):
        settle(desk, [part(0, 4, tallies=[Tally("r", delivered=1)])], 0.1)

    assert works.ledger.tallies()["r"].delivered == 1


def test_replies_are_appended_to_the_log(desk: Desk, works: Plant) -> None:
    settle(desk, [msgspec.structs.replace(part(0, 4), replies=[an_entry(77)])], 0.1)

    assert ids(works.log)[-1] == 77


def test_worse_sight_of_a_destination_counts(desk: Desk, works: Plant) -> None:
    up, down = Health(URI, State.UP, since=1.0), Health(URI, State.DOWN, 3)

    settle(desk, [part(0, 4, health=[down]), part(4, 9, health=[up])], 0.1)

    assert works.ledger.health()[URI].state is State.DOWN


def test_older_generation_settles_nothing(desk: Desk, works: Plant) -> None:
    works.ledger.begin()

    with pytest.raises(ConflictError):
        settle(desk, [part(0, 4)], 0.1)

    assert works.ledger.position() is None


@pytest.mark.covers("CE-124")
def test_route_whose_sink_is_gone_is_stopped(desk: Desk, works: Plant) -> None:
    works.put(a_route("a"), a_route("b"))

    settle(desk, [msgspec.structs.replace(part(0, 4), stopped=["a", "nosuch"])], 0.1)

    stopped = {key: found.stopped for key in "ab" if (found := works.route(key))}
    assert stopped == {"a": True, "b": False}


def test_stopping_a_deleted_route_brings_nothing_back(desk: Desk, works: Plant) -> None:
    works.put(a_route("a"))
    works.drop("a")

    stop(desk, ["a"])

    assert works.route("a") is None
