from __future__ import annotations

import msgspec
import pytest

from penstock.errors import ResourceError
from penstock.ports import Position, Steps
from penstock.routing import Backoff, ContentMode, Gap, Policy, Route, Rules, Target
from tests.filters.support import an_event
from tests.routing.routes import a_route


def test_route_without_conditions_matches_everything() -> None:
    assert a_route().condition().matches(an_event())


@pytest.mark.parametrize(
    ("source", "kind", "subject", "matched"),
    [
        ("/a", "t1", "x1", True),
        ("/a", "t2", "x1", True),
        ("/b", "t1", "x1", False),
        ("/a", "t3", "x1", False),
        ("/a", "t1", "y1", False),
    ],
)
def test_source_types_and_filters_must_all_hold(
    source: str, kind: str, subject: str, *, matched: bool
) -> None:
    route = a_route(source="/a", types=("t1", "t2", "t1"), filters=[{"prefix": {"subject": "x"}}])

    event = an_event(source=source, type=kind, subject=subject)

    assert route.condition().matches(event) is matched


def test_filter_that_cannot_be_read_is_refused() -> None:
    with pytest.raises(ResourceError):
        a_route(filters=[{"nosuch": {}}]).condition()


@pytest.mark.parametrize(
    ("start", "offset", "taken"),
    [((), 0, True), ((5,), 4, False), ((5,), 5, True), ((5,), 6, True)],
)
def test_route_takes_what_lies_behind_its_start(
    start: tuple[int, ...], offset: int, *, taken: bool
) -> None:
    assert a_route(start=start).takes(0, offset) is taken


def test_route_takes_everything_of_a_partition_that_was_added_later() -> None:
    assert a_route(start=(5,)).takes(1, 0)


def test_route_comes_back_from_json() -> None:
    route = Route(
        "r",
        "brokers/a/b",
        Target("http://x/", "HTTP", ContentMode.STRUCTURED, {"method": "PUT"}, 3),
        (7,),
        "/a",
        ("t",),
        [{"sql": "TRUE"}],
        Policy(3, 0.2, Backoff.LINEAR, 5.0, 7.0, 9.0, "http://dead/"),
        Rules.KNATIVE,
        replies=True,
        stopped=True,
        held=True,
        gaps=(Gap(3, 5, (2,)), Gap(7)),
        clipped=True,
    )

    assert msgspec.json.decode(msgspec.json.encode(route), type=Route) == route


def test_held_route_has_an_open_gap_until_it_is_resumed() -> None:
    held = a_route().hold().dated(7)

    resumed = held.resume().dated(9)

    assert (held.held, held.gaps) == (True, (Gap(7, None),))
    assert (resumed.held, resumed.gaps) == (False, (Gap(7, 9),))


def test_hold_and_resume_can_be_repeated() -> None:
    held = a_route().hold()

    assert held.hold() == held
    assert a_route().resume() == a_route()


def test_gap_keeps_the_version_that_made_it() -> None:
    route = a_route(gaps=(Gap(3, 5), Gap(until=0, start=(4,)), Gap(6)))

    assert route.dated(8).dated(9).gaps == (Gap(3, 5), Gap(8, 8, (4,)), Gap(6))


def test_route_that_is_held_very_often_has_a_bounded_number_of_gaps() -> None:
    route = a_route()

    for version in range(1, 401, 2):
        route = route.hold().dated(version).resume().dated(version + 1)

    assert len(route.gaps) == 50
    assert (route.gaps[0], route.gaps[-1].until) == (Gap(1, 2), 400)


STEPS = Steps(((2, (10,)), (5, (20,)), (9, (30,))), (45,))


@pytest.mark.parametrize(
    ("gap", "bounds"),
    [
        (Gap(2, 9), ((10,), (30,))),
        (Gap(3, 6), ((20,), (30,))),
        (Gap(9, 10), ((30,), (45,))),
        (Gap(10, 11), (None, (45,))),
        (Gap(3, None), ((20,), (45,))),
        (Gap(3, 5, (1,)), ((1,), (20,))),
    ],
)
def test_gap_lies_between_the_first_runs_of_two_versions(
    gap: Gap, bounds: tuple[Position | None, Position | None]
) -> None:
    assert gap.bounds(STEPS) == bounds


def test_nobody_knows_the_bounds_of_a_gap_before_the_first_run() -> None:
    assert Gap(1, 2).bounds(Steps()) == (None, None)
