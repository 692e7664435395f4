from __future__ import annotations

import pickle

import pytest

from penstock.errors import ConflictError
from penstock.pipeline.homes import desk
from penstock.pipeline.worker import Worker, worker
from tests.filters.support import an_event
from tests.pipeline.plant import Plant
from tests.routing.routes import a_route

STREAM = a_route().stream


@pytest.fixture
def here(works: Plant) -> Worker:
    return Worker(desk(works.homes))


def matched(here: Worker, version: int) -> set[str]:
    return {route.id for route in here.index(version).matches(STREAM, an_event())}


def test_table_and_index_follow_the_versions_forth_and_back(here: Worker, works: Plant) -> None:
    versions = [
        works.put(a_route("a"), a_route("b")),
        works.put(a_route("a", types=("nosuch",))),
        works.drop("b"),
        works.put(a_route("c"), a_route("a")),
    ]
    expected = [{"a", "b"}, {"b"}, set(), {"a", "c"}]

    forth = [matched(here, version) for version in versions]
    back = [matched(here, version) for version in reversed(versions)]

    assert forth == expected
    assert back == expected[::-1]


def test_table_without_a_version_is_the_newest(here: Worker, works: Plant) -> None:
    works.put(a_route("a"))
    first = set(here.table().routes)

    works.put(a_route("b"))

    assert first == {"a"}
    assert set(here.table().routes) == {"a", "b"}


def test_table_is_built_anew_when_the_changes_are_forgotten(here: Worker, works: Plant) -> None:
    matched(here, works.put(a_route("a")))
    works.put(a_route("b"))
    newest = works.drop("a")
    works.put(a_route("b", types=("nosuch",)))
    works.store.forget(newest)

    assert matched(here, newest) == {"b"}


def test_version_that_is_forgotten_is_an_error_and_not_an_empty_table(
    here: Worker, works: Plant
) -> None:
    old = works.put(a_route("a"))
    works.store.forget(works.drop("a"))

    with pytest.raises(ConflictError, match="forgotten"):
        here.index(old)


def test_route_that_cannot_be_read_does_not_keep_others_from_their_events(
    here: Worker, works: Plant, caplog: pytest.LogCaptureFixture
) -> None:
    version = works.put(a_route("bad", filters=[{"nosuch": {}}]), a_route("good"))

    assert matched(here, version) == {"good"}
    assert "route bad" in caplog.text


def test_process_has_one_worker_for_the_same_homes(works: Plant) -> None:
    copy = pickle.loads(pickle.dumps(works.homes))  # noqa: S301 - our own bytes

    assert worker(works.homes) is worker(copy)
    assert desk(works.homes) is desk(copy)
