from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import msgspec
import pytest

from penstock.errors import ConflictError, NotFoundError, ResourceError
from penstock.events import CloudEvent
from penstock.events.entry import Entry
from penstock.log import SqliteLog
from penstock.ports import Document, Put
from penstock.routing import DEFAULT, ROUTE, STREAM, Route, Stream, StreamKind
from penstock.store import SqlResourceStore
from penstock.subscriptions import SUBSCRIPTION, SubscriptionManager

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

    versions = {kept.store.get(kind, made.id).version for kind in (SUBSCRIPTION, ROUTE)}  # type: ignore[union-attr]
    assert len(versions) == 1
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

    found = list(kept.manager.query(DEFAULT.key, made[1].id))

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
    """A store in which somebody else changes what was just read."""

    def get(self, kind: str, key: str) -> Document | None:
        found = super().get(kind, key)
        if found is not None and kind == SUBSCRIPTION:
            self.write([Put(kind, key, found.body)])
        return found


@pytest.mark.parametrize(
    "change",
    [
        lambda manager, key: manager.update(DEFAULT.key, key, LEAST),
        lambda manager, key: manager.delete(DEFAULT.key, key),
    ],
    ids=["update", "delete"],
)
def test_change_by_somebody_else_is_a_conflict(
    kept: Kept, tmp_path: Path, change: Callable[[SubscriptionManager, str], object]
) -> None:
    made = kept.manager.create(DEFAULT.key, LEAST)
    store = MeanwhileStore(f"sqlite:///{tmp_path / 'store.db'}")

    with closing(store), pytest.raises(ConflictError):
        change(SubscriptionManager(store, kept.log, str), made.id)

    assert kept.manager.retrieve(DEFAULT.key, made.id) == made


def test_delete_removes_the_route_too(kept: Kept) -> None:
    made = kept.manager.create(DEFAULT.key, LEAST)

    gone = kept.manager.delete(DEFAULT.key, made.id)

    assert gone == made
    assert kept.store.get(ROUTE, made.id) is None
    with pytest.raises(NotFoundError):
        kept.manager.delete(DEFAULT.key, made.id)
