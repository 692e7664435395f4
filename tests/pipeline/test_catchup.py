"""Catch-ups in this process: what is parked, how far they are, and when they are over."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass

import msgspec
import pytest

from penstock import runtime
from penstock.pipeline import catchup
from penstock.pipeline.catchup import CatchUp
from penstock.pipeline.homes import Desk
from penstock.ports import SHELVED, Caught, Parked, Settlement
from penstock.routing import Gap
from penstock.store import SqlCatchUps, SqlWaitingRoom
from tests.log.entries import some
from tests.pipeline.plant import Plant
from tests.routing.routes import URI, a_route

NOW = 1_000.0


@dataclass(frozen=True)
class Catching:
    """A catch-up on a plant, and what it left behind."""

    works: Plant
    catchups: SqlCatchUps
    work: CatchUp

    def again(self) -> Catching:
        """The same after a restart: nothing is remembered but what is written down."""
        return Catching(self.works, self.catchups, CatchUp(Desk(self.works.homes), self.catchups))

    def turns(self, count: int = 10, now: float = NOW) -> list[float]:
        return [self.work.turn(now) for _ in range(count)]

    def run(self, start: int, end: int, version: int) -> None:
        """Let the query that follows the log have decided a run of events."""
        self.works.ledger.plan((start,), (end,), version)
        self.works.ledger.settle(Settlement(1, position=(end,)))

    def claimed(self, now: float = NOW, limit: int = 10_000) -> list[Parked]:
        with closing(SqlWaitingRoom(runtime.ledger_url(self.works.settings), 1)) as room:
            return room.claim(URI, now, limit, 60.0)

    def offsets(self) -> list[int]:
        return sorted(parked.offset for parked in self.claimed())

    def sent(self, limit: int) -> list[int]:
        """Let some deliveries be sent and done with."""
        found = self.claimed(limit=limit)
        self.works.ledger.settle(Settlement(1, finished=[parked.id for parked in found]))
        return [parked.offset for parked in found]


@pytest.fixture
def catching(works: Plant) -> Iterator[Catching]:
    with closing(SqlCatchUps(runtime.ledger_url(works.settings), 1)) as catchups:
        yield Catching(works, catchups, CatchUp(Desk(works.homes), catchups))


def gaps(catching: Catching, key: str = "r") -> tuple[Gap, ...]:
    route = catching.works.route(key)
    assert route is not None
    return route.gaps


def test_what_came_before_the_start_is_parked_once(catching: Catching) -> None:
    catching.works.append(some(range(20)))
    catching.run(0, 20, catching.works.store.version())
    catching.works.put(a_route(gaps=(Gap(until=0, start=(5,)),)))

    catching.turns()
    catching.again().turns()

    assert catching.offsets() == list(range(5, 20))
    assert catching.works.ledger.tallies()["r"].matched == 15


def test_only_what_matches_is_parked(catching: Catching) -> None:
    catching.works.append(some(range(3)) + some(range(3, 5), type="other"))
    catching.run(0, 5, catching.works.store.version())
    catching.works.put(a_route(types=("other",), gaps=(Gap(until=0, start=(0,)),)))

    catching.turns()

    assert catching.offsets() == [3, 4]
    (caught,) = catching.catchups.all()
    assert (caught.position, caught.judged, caught.skipped) == ((5,), 5, 0)


def test_gap_grows_until_a_run_is_decided_by_the_version_that_ends_it(catching: Catching) -> None:
    catching.works.append(some(range(10)))
    old = catching.works.store.version()
    catching.run(0, 4, old)
    new = catching.works.put(a_route(gaps=(Gap(until=0, start=(0,)),)))
    catching.turns()
    assert catching.offsets() == [0, 1, 2, 3]

    # A run that was cut while the route was being made is decided without it.
    catching.run(4, 7, old)
    catching.turns()
    assert catching.offsets() == [4, 5, 6]
    assert len(gaps(catching)) == 1

    catching.run(7, 10, new)
    catching.turns()

    assert catching.offsets() == []
    assert gaps(catching) == ()
    assert catching.catchups.all() == []


def test_pause_leaves_exactly_the_runs_that_were_decided_while_it_lasted(
    catching: Catching,
) -> None:
    works = catching.works
    works.append(some(range(40)))
    before = works.put(a_route())
    catching.run(0, 10, before)
    held = works.put(a_route().hold())
    catching.run(10, 20, held)
    catching.turns()
    assert catching.offsets() == []

    paused = works.route("r")
    assert paused is not None
    resumed = works.put(paused.dated(held).resume())
    catching.run(20, 30, held)
    catching.run(30, 40, resumed)
    catching.turns()

    assert catching.offsets() == list(range(10, 30))
    assert gaps(catching) == ()


def test_no_more_is_parked_than_some_while_they_wait(
    catching: Catching, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(catchup, "_EVENTS", 10)
    monkeypatch.setattr(catchup, "_MOST_WAITING", 20)
    catching.works.append(some(range(100)))
    catching.run(0, 100, catching.works.store.version())
    catching.works.put(a_route(gaps=(Gap(until=0, start=(0,)),)))
    got: list[int] = []

    while len(got) < 100:
        catching.turns()
        assert catching.catchups.waiting("r", 1_000) < 20 + 10
        got += catching.sent(7)

    assert got == list(range(100))


def test_kill_between_two_bits_repeats_nothing(
    catching: Catching, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(catchup, "_EVENTS", 10)
    catching.works.append(some(range(50)))
    catching.run(0, 50, catching.works.store.version())
    catching.works.put(a_route(gaps=(Gap(until=0, start=(0,)),)))
    got: list[int] = []

    for _ in range(6):
        catching.again().turns(1)
        got += catching.sent(1_000)

    assert got == list(range(50))


def test_events_that_the_log_forgot_are_skipped_and_counted(catching: Catching) -> None:
    catching.works.append(some(range(10)))
    catching.works.append(some(range(10, 20)))
    catching.run(0, 20, catching.works.store.version())
    catching.works.put(a_route(gaps=(Gap(until=0, start=(0,)),)))
    catching.works.log.trim((10,))

    catching.turns()

    assert catching.offsets() == list(range(10, 20))
    assert [one.skipped for one in catching.catchups.all()] == [10]


def test_events_before_the_start_of_a_route_are_never_its(catching: Catching) -> None:
    works = catching.works
    works.append(some(range(10)))
    held = works.put(a_route(start=(7,)).hold())
    catching.run(0, 10, held)
    paused = works.route("r")
    assert paused is not None
    works.put(paused.dated(held).resume())

    catching.turns()

    assert catching.offsets() == [7, 8, 9]


@pytest.mark.parametrize("state", ["held", "stopped"])
def test_route_that_gets_nothing_catches_up_with_nothing(catching: Catching, state: str) -> None:
    catching.works.append(some(range(10)))
    catching.run(0, 10, catching.works.store.version())
    route = a_route(gaps=(Gap(until=0, start=(0,)),))
    catching.works.put(msgspec.structs.replace(route, **{state: True}))

    catching.turns()

    assert catching.offsets() == []


def test_damage_in_the_log_keeps_no_other_route_back(catching: Catching) -> None:
    works = catching.works
    works.append(some(range(10)))
    works.append(some(range(10, 20)))
    works.log._connection.execute("UPDATE batches SET crc = 0 WHERE first = 0")  # noqa: SLF001
    catching.run(0, 20, works.store.version())
    works.put(
        a_route("a", gaps=(Gap(until=0, start=(0,)),)),
        a_route("b", gaps=(Gap(until=0, start=(10,)),)),
    )

    catching.turns()

    assert {parked.route for parked in catching.claimed()} == {"b"}


def test_resumed_deliveries_go_on_and_those_of_a_deleted_route_go_away(catching: Catching) -> None:
    works = catching.works
    works.put(a_route("held").hold(), a_route("resumed"))
    away = [
        Parked(key, URI, 0, offset, SHELVED, SHELVED + 60.0)
        for key in ("held", "resumed", "deleted")
        for offset in range(3)
    ]
    works.ledger.settle(Settlement(1, parked=away))

    catching.turns()

    assert {parked.route for parked in catching.claimed()} == {"resumed"}
    assert catching.catchups.shelved() == ["held"]
    assert catching.catchups.waiting("deleted", 10) == 0


def test_deleted_route_leaves_no_trace(catching: Catching) -> None:
    works = catching.works
    works.append(some(range(10)))
    catching.run(0, 10, works.store.version())
    works.put(a_route(gaps=(Gap(until=0, start=(0,)),)))
    catching.turns()

    catching.run(10, 10, works.drop("r"))
    catching.turns(now=NOW + 60.0)

    assert catching.catchups.all() == []
    assert len(catching.catchups.steps().starts) == 1


def test_idle_catch_up_rests(catching: Catching) -> None:
    catching.works.put(a_route())

    assert catching.turns(3)[1:] == [0.25, 0.25]


def test_log_is_needed_from_where_the_latest_catch_up_is(catching: Catching) -> None:
    works = catching.works
    works.append(some(range(30)))
    catching.run(0, 30, works.store.version())
    version = works.put(
        a_route("a", gaps=(Gap(until=0, start=(9,)),)),
        a_route("b", gaps=(Gap(until=0, start=(5,)),)),
        a_route("c", gaps=(Gap(until=0, start=(1,)),), stopped=True),
        a_route("d"),
    )
    steps = works.ledger.steps()

    assert catchup.needed(works.store, steps, []) == (5,)
    assert catchup.needed(works.store, steps, [Caught("b", version, (12,))]) == (9,)


def test_nothing_is_needed_where_no_route_has_gaps(catching: Catching) -> None:
    catching.works.put(a_route())

    assert catchup.needed(catching.works.store, catching.works.ledger.steps(), []) is None
