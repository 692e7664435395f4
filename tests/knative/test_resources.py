from __future__ import annotations

import itertools
import threading
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

import msgspec
import pytest

from penstock.errors import ConflictError, ExpiredError, StoreError
from penstock.knative import Resources
from penstock.knative.kinds import BROKER, KNOWN, OBJECT, TRIGGER
from penstock.knative.listing import Query
from penstock.knative.meta import Object
from penstock.knative.resources import Options, Place
from penstock.log import SqliteLog
from penstock.ports import Change, Drop, Put
from penstock.routing import DEFAULT, ROUTE, STREAM, Stream, StreamKind
from penstock.store import SqlResourceStore
from penstock.testing import FakeClock
from tests.knative.cluster import Json, broker, channel, ready, ref, service, subscription, trigger

OPTIONS = Options("http://here")
KINDS = {(kind.api_version, kind.kind): kind for kind in KNOWN}


class Store(SqlResourceStore):
    """A store that remembers what was written, and can fail."""

    def __init__(self, url: str) -> None:
        super().__init__(url)
        self.writes: list[list[Change]] = []
        self.fails = False

    def write(self, changes: Sequence[Change]) -> int:
        if self.fails:
            raise StoreError("the disk is full", address="here")
        self.writes.append(list(changes))
        return super().write(changes)


class Kept:
    """Objects, with the store behind them."""

    def __init__(self, store: Store, log: SqliteLog) -> None:
        numbers = itertools.count(1)
        clock = FakeClock()
        self.store = store
        self.resources = Resources(
            store, log, clock, lambda: f"uid{next(numbers)}", threading.Lock()
        )

    def made(self, document: Json) -> Object:
        kind = KINDS[document["apiVersion"], document["kind"]]
        return self.resources.create(Place(kind, "n"), document, OPTIONS)

    def delete(self, document: Json) -> None:
        kind = KINDS[document["apiVersion"], document["kind"]]
        self.resources.delete(Place(kind, "n", document["metadata"]["name"]), OPTIONS)

    def last(self) -> list[tuple[str, str]]:
        """What the last write put and dropped, without names."""
        signs: dict[type[Change], str] = {Put: "+", Drop: "-"}
        found = [one for one in self.store.writes[-1] if type(one) in signs]
        return sorted((signs[type(one)], one.kind) for one in found)


@pytest.fixture
def kept(tmp_path: Path) -> Iterator[Kept]:
    with (
        closing(Store(f"sqlite:///{tmp_path / 'store.db'}")) as store,
        closing(SqliteLog.open(tmp_path / "log.db")) as log,
    ):
        yield Kept(store, log)


def everything(kind: object = TRIGGER) -> Query:
    assert kind is TRIGGER or kind is BROKER
    return Query(TRIGGER if kind is TRIGGER else BROKER, "", lambda _: True)


def test_object_stream_route_and_status_are_one_write(kept: Kept) -> None:
    kept.made(broker())
    first = kept.last()
    kept.made(trigger())

    assert first == [("+", OBJECT), ("+", OBJECT), ("+", STREAM)]
    assert kept.last() == [("+", OBJECT), ("+", ROUTE)]
    assert len(kept.store.writes) == 2


def test_all_that_follows_from_a_change_is_one_write(kept: Kept) -> None:
    kept.made(channel())
    kept.made(service())
    for name in ("one", "two"):
        kept.made(subscription(name, subscriber=ref(service())))
    count = len(kept.store.writes)

    kept.delete(service())

    # The service, both subscriptions, their channel, and both routes.
    assert kept.last() == [("+", OBJECT)] * 3 + [("+", ROUTE)] * 2 + [("-", OBJECT)]
    assert len(kept.store.writes) == count + 1


def test_failed_write_leaves_nothing(kept: Kept) -> None:
    kept.made(broker())
    version = kept.store.version()
    kept.store.fails = True

    with pytest.raises(StoreError):
        kept.made(trigger())

    assert kept.store.version() == version
    assert kept.resources.listing(everything()).items == []


def test_object_that_another_process_changed_is_a_conflict(kept: Kept) -> None:
    made = kept.made(broker())
    place = Place(BROKER, "n", "b")
    get = kept.store.get
    key = BROKER.key("n", "b")

    def changed_meanwhile(kind: str, name: str) -> object:
        found = get(kind, name)
        if (kind, name) == (OBJECT, key):
            kept.store.get = get  # type: ignore[method-assign]
            kept.store.write([Put(OBJECT, key, msgspec.json.encode({**made, "spec": {}}))])
        return found

    kept.store.get = changed_meanwhile  # type: ignore[method-assign,assignment]

    with pytest.raises(ConflictError):
        kept.resources.replace(place, broker(delivery={"retry": 1}), OPTIONS)


def test_trigger_is_not_made_beside_a_broker_that_another_process_removes(kept: Kept) -> None:
    kept.made(broker())
    get = kept.store.get
    key = BROKER.key("n", "b")

    def removed_meanwhile(kind: str, name: str) -> object:
        found = get(kind, name)
        if (kind, name) == (OBJECT, key):
            kept.store.get = get  # type: ignore[method-assign]
            kept.store.write([Drop(OBJECT, key)])
        return found

    kept.store.get = removed_meanwhile  # type: ignore[method-assign,assignment]

    with pytest.raises(ConflictError):
        kept.made(trigger())


def test_streams_without_objects_get_them(kept: Kept) -> None:
    other = Stream(StreamKind.CHANNEL, "shop", "c")
    kept.store.write([Put(STREAM, one.key, msgspec.json.encode(one)) for one in (DEFAULT, other)])

    kept.resources.prepare("http://here")
    count = len(kept.store.writes)
    kept.resources.prepare("http://here")

    (found,) = kept.resources.listing(everything(BROKER)).items
    assert found["status"]["address"]["url"] == "http://here/brokers/default/default"
    assert len(kept.store.writes) == count


def test_changed_address_of_the_server_is_followed_everywhere(kept: Kept) -> None:
    kept.resources.prepare("http://here")
    kept.made(broker())
    made = kept.made(trigger(subscriber=ref(broker())))

    kept.resources.prepare("http://there")

    found = kept.resources.get(Place(TRIGGER, "n", "t"))
    assert made["status"]["subscriberUri"] == "http://here/brokers/n/b"
    assert found["status"]["subscriberUri"] == "http://there/brokers/n/b"


def test_references_in_a_circle_come_to_rest(kept: Kept) -> None:
    kept.made(broker("one", delivery={"deadLetterSink": ref(broker("two"))}))

    kept.made(broker("two", delivery={"deadLetterSink": ref(broker("one"))}))

    found = kept.resources.listing(everything(BROKER)).items
    assert [ready(dict(one)) for one in found] == ["True", "True"]


def test_watch_tells_every_change_even_if_it_looks_late(kept: Kept) -> None:
    kept.made(broker())
    watch = kept.resources.watch(everything(BROKER), None)
    for _ in range(3):
        kept.delete(broker())
        kept.made(broker())

    first = [event.type for event in watch.initial()]
    events = watch.advance()

    assert first == ["ADDED"]
    assert [event.type for event in events] == ["DELETED", "ADDED"] * 3
    assert watch.advance() == []


def test_watch_passes_over_what_is_not_its_own(kept: Kept) -> None:
    watch = kept.resources.watch(everything(), None)
    for name in ("a", "b", "c"):
        kept.made(broker(name))

    assert watch.advance() == []
    assert watch.version == kept.store.version()


def test_watch_that_slept_too_long_has_expired(kept: Kept) -> None:
    kept.made(broker())
    watch = kept.resources.watch(everything(BROKER), None)
    kept.delete(broker())
    kept.made(broker())
    kept.store.forget(kept.store.version())

    with pytest.raises(ExpiredError):
        watch.advance()


def test_long_list_is_a_snapshot(kept: Kept) -> None:
    kept.made(broker())
    for number in range(1_010):
        kept.made(trigger(f"t{number:04}"))

    found = kept.resources.listing(everything())

    assert len(found.items) == 1_010
    assert found.version == kept.store.version()
