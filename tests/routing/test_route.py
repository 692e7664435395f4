from __future__ import annotations

import msgspec
import pytest

from penstock.errors import ResourceError
from penstock.routing import Backoff, ContentMode, Policy, Route, Rules, Target
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
    )

    assert msgspec.json.decode(msgspec.json.encode(route), type=Route) == route
