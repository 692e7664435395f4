from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import msgspec
import pytest

from penstock.errors import (
    ConflictError,
    NotFoundError,
    PreconditionError,
    Problem,
    ResourceError,
)
from penstock.events import CloudEvent
from penstock.events.entry import Entry
from penstock.log import SqliteLog
from penstock.ports import Document, Drop, Put
from penstock.routing import DEFAULT, ROUTE, STREAM, Route, Stream, StreamKind
from penstock.store import SqlResourceStore
from penstock.subscriptions import SUBSCRIPTION, SubscriptionManager, Terms

LEAST = {"protocol": "HTTP", "sink": "https://example.com/"}
OTHER = Stream(StreamKind.BROKER, "shop", "other")


@dataclass(frozen=True, slots=True)
class Kept:
    """A manager with the store and the log behind it."""

    manager: SubscriptionManager
    store: SqlResourceStore
    log: SqliteLog

    def route(self, key: str) -> Route:
        document = self.store.get(ROUTE, key)
        assert document is not None
        return msgspec.json.decode(document.body, type=Route)

    def publish(self, count: int) -> None:
        self.log.append([Entry(DEFAULT.key, CloudEvent("1", "/s", "t"), 1)] * count)


@pytest.fixture
def kept(tmp_path: Path) -> Iterator[Kept]:
    numbers = itertools.count(1)
    with (
        closing(SqlResourceStore(f"sqlite:///{tmp_path / 'store.db'}")) as store,
        closing(SqliteLog.open(tmp_path / "log.db")) as log,
    ):
        store.write([Put(STREAM, each.key, msgspec.json.encode(each)) for each in (DEFAULT, OTHER)])
        yield Kept(SubscriptionManager(store, log, lambda: f"{next(numbers):04}"), store, log)


def test_route_starts_where_the_log_stood(kept: Kept) -> None:
    kept.publish(3)

    made = kept.manager.create(DEFAULT.key, LEAST)

    route = kept.route(made.id)
    assert route.start == (3,)
    assert (route.takes(0, 2), route.takes(0, 3)) == (False, True)


def test_subscription_and_route_are_written_together(kept: Kept) -> None:
    made = kept.manager.create(DEFAULT.key, LEAST)

    places = ((SUBSCRIPTION, f"{DEFAULT.key}/{made.id}"), (ROUTE, made.id))
    versions = {kept.store.get(*place).version for place in places}  # type: ignore[union-attr]
    assert versions == {made.version}
    assert kept.manager.retrieve(DEFAULT.key, made.id) == made


def test_refused_proposal_leaves_nothing(kept: Kept) -> None:
    before = kept.store.version()

    with pytest.raises(ResourceError):
        kept.manager.create(DEFAULT.key, {**LEAST, "sink": "no"})

    assert kept.store.version() == before


def test_unknown_stream_takes_no_subscription(kept: Kept) -> None:
    with pytest.raises(NotFoundError):
        kept.manager.create("brokers/default/nosuch", LEAST)


def test_subscription_is_found_only_at_its_own_stream(kept: Kept) -> None:
    made = kept.manager.create(OTHER.key, LEAST)

    with pytest.raises(NotFoundError):
        kept.manager.retrieve(DEFAULT.key, made.id)
    with pytest.raises(NotFoundError):
        kept.manager.delete(DEFAULT.key, made.id)

    assert list(kept.manager.query(DEFAULT.key)) == []
    assert list(kept.manager.query(OTHER.key)) == [made]


def test_query_goes_on_after_an_id(kept: Kept) -> None:
    made = [kept.manager.create(DEFAULT.key, LEAST) for _ in range(5)]

    found = list(kept.manager.query(DEFAULT.key, after=made[1].id))

    assert found == made[2:]


def test_update_keeps_where_the_route_started(kept: Kept) -> None:
    made = kept.manager.create(DEFAULT.key, LEAST)
    kept.publish(3)

    changed = kept.manager.update(DEFAULT.key, made.id, {**LEAST, "types": ["t"]})

    assert (changed.id, changed.types) == (made.id, ("t",))
    assert kept.route(made.id).start == (0,)
    assert kept.route(made.id).types == ("t",)


def test_update_wakes_a_stopped_route(kept: Kept) -> None:
    made = kept.manager.create(DEFAULT.key, LEAST)
    stopped = msgspec.structs.replace(kept.route(made.id), stopped=True)
    kept.store.write([Put(ROUTE, made.id, msgspec.json.encode(stopped))])

    kept.manager.update(DEFAULT.key, made.id, LEAST)

    assert not kept.route(made.id).stopped


def test_id_never_changes(kept: Kept) -> None:
    made = kept.manager.create(DEFAULT.key, LEAST)

    same = kept.manager.update(DEFAULT.key, made.id, {**LEAST, "id": made.id})
    with pytest.raises(ResourceError, match="id"):
        kept.manager.update(DEFAULT.key, made.id, {**LEAST, "id": "another"})

    assert same.id == made.id


class MeanwhileStore(SqlResourceStore):
    """A store in which somebody else changes what was just read, some times."""

    times = 0

    def get(self, kind: str, key: str) -> Document | None:
        found = super().get(kind, key)
        if found is not None and kind == SUBSCRIPTION and self.times:
            self.times -= 1
            theirs = {**msgspec.json.decode(found.body), "source": "/theirs"}
            self.write([Put(kind, key, msgspec.json.encode(theirs))])
        return found


Change = Callable[[SubscriptionManager, str], object]
CHANGES: list[Change] = [
    lambda manager, key: manager.update(DEFAULT.key, key, LEAST),
    lambda manager, key: manager.patch(DEFAULT.key, key, {"types": ["t"]}),
    lambda manager, key: manager.delete(DEFAULT.key, key),
]


@pytest.fixture
def meanwhile(tmp_path: Path) -> Iterator[MeanwhileStore]:
    with closing(MeanwhileStore(f"sqlite:///{tmp_path / 'store.db'}")) as store:
        yield store


@pytest.mark.parametrize("change", CHANGES, ids=["update", "patch", "delete"])
def test_endless_changes_by_somebody_else_are_a_conflict(
    kept: Kept, meanwhile: MeanwhileStore, change: Change
) -> None:
    made = kept.manager.create(DEFAULT.key, LEAST)
    meanwhile.times = 1_000

    with pytest.raises(ConflictError):
        change(SubscriptionManager(meanwhile, kept.log, str), made.id)

    assert kept.manager.retrieve(DEFAULT.key, made.id).source == "/theirs"


def test_patch_is_made_on_top_of_what_somebody_else_changed(
    kept: Kept, meanwhile: MeanwhileStore
) -> None:
    made = kept.manager.create(DEFAULT.key, LEAST)
    meanwhile.times = 3
    manager = SubscriptionManager(meanwhile, kept.log, str)

    changed = manager.patch(DEFAULT.key, made.id, {"types": ["ours"]})

    assert (changed.source, changed.types) == ("/theirs", ("ours",))
    assert kept.manager.retrieve(DEFAULT.key, made.id) == changed
    assert kept.route(made.id).source == "/theirs"


@pytest.mark.parametrize("change", ["update", "patch", "delete"])
def test_change_of_another_version_than_expected_is_refused(
    kept: Kept, meanwhile: MeanwhileStore, change: str
) -> None:
    made = kept.manager.create(DEFAULT.key, LEAST)
    meanwhile.times = 1
    manager = SubscriptionManager(meanwhile, kept.log, str)
    document = [] if change == "delete" else [LEAST]

    with pytest.raises(PreconditionError):
        getattr(manager, change)(DEFAULT.key, made.id, *document, made.version.__eq__)

    assert kept.manager.retrieve(DEFAULT.key, made.id).source == "/theirs"


class StoppingStore(SqlResourceStore):
    """A store in which the pipeline stops a route that was just read, once."""

    done = False

    def get(self, kind: str, key: str) -> Document | None:
        found = super().get(kind, key)
        if found is not None and kind == ROUTE and not self.done:
            self.done = True
            route = msgspec.json.decode(found.body, type=Route)
            stopped = msgspec.structs.replace(route, stopped=True)
            self.write([Put(ROUTE, key, msgspec.json.encode(stopped))])
        return found


def test_what_the_pipeline_did_to_the_route_meanwhile_is_kept(kept: Kept, tmp_path: Path) -> None:
    made = kept.manager.create(DEFAULT.key, LEAST)

    with closing(StoppingStore(f"sqlite:///{tmp_path / 'store.db'}")) as store:
        SubscriptionManager(store, kept.log, str).pause(DEFAULT.key, made.id)

    assert kept.route(made.id).stopped


def test_stream_that_vanishes_takes_no_subscription(kept: Kept) -> None:
    def ids() -> str:
        kept.store.write([Drop(STREAM, OTHER.key)])
        return "1"

    manager = SubscriptionManager(kept.store, kept.log, ids)

    with pytest.raises(NotFoundError, match="stream"):
        manager.create(OTHER.key, LEAST)

    assert kept.store.count(SUBSCRIPTION) == 0


@pytest.mark.covers("SUB-008")
def test_there_is_a_limit_and_what_is_there_keeps_working(kept: Kept) -> None:
    numbers = itertools.count()
    terms = Terms(most=3)
    manager = SubscriptionManager(kept.store, kept.log, lambda: f"{next(numbers)}", terms)
    made = [manager.create(DEFAULT.key, LEAST) for _ in range(3)]

    with pytest.raises(ConflictError, match="3 are allowed"):
        manager.create(OTHER.key, LEAST)
    manager.update(DEFAULT.key, made[0].id, {**LEAST, "types": ["t"]})
    manager.delete(DEFAULT.key, made[1].id)

    assert manager.create(OTHER.key, LEAST).id
    with pytest.raises(ConflictError):
        manager.create(DEFAULT.key, LEAST)


def test_config_is_judged_by_whoever_knows_the_services(kept: Kept) -> None:
    def judge(config: Mapping[str, object]) -> list[Problem]:
        return [Problem(f"config.{name}", "is not known") for name in config if name != "interval"]

    manager = SubscriptionManager(kept.store, kept.log, str, Terms(config_problems=judge))

    with pytest.raises(ResourceError) as raised:
        manager.create(DEFAULT.key, {"protocol": "HTTP", "Config": {"intervall": 5}})

    paths = {problem.path for problem in raised.value.problems}
    assert paths == {"sink", "config.intervall"}


@pytest.mark.parametrize("key", ["\0", "a\0b", "", "/", "x" * 1_000])
def test_strange_ids_are_just_not_found(kept: Kept, key: str) -> None:
    with pytest.raises(NotFoundError):
        kept.manager.retrieve(DEFAULT.key, key)


def test_delete_removes_the_route_too(kept: Kept) -> None:
    made = kept.manager.create(DEFAULT.key, LEAST)

    gone = kept.manager.delete(DEFAULT.key, made.id)

    assert gone == made
    assert kept.store.get(ROUTE, made.id) is None
    with pytest.raises(NotFoundError):
        kept.manager.delete(DEFAULT.key, made.id)
