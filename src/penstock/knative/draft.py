"""A draft: what one operation would change, on top of what the store holds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import msgspec

from penstock.knative import subscription
from penstock.knative.kinds import KIND, KNOWN, OBJECT, SUBSCRIPTION, Kind
from penstock.knative.meta import Object, metadata, name, namespace
from penstock.knative.resolve import Identity
from penstock.ports import Change, Check, Document, Drop, EventLog, Position, Put, ResourceStore
from penstock.routing import ROUTE, STREAM, Route

_PAGE = 1000
_KNOWN = {kind.identity: kind for kind in KNOWN}


@dataclass(slots=True)
class _Kept:
    """An object as the store holds it, and as it shall be."""

    version: int
    before: Object | None
    now: Object | None
    was_asked_for: bool = False
    """Whether something was decided by it alone, and not by all of its kind."""


@dataclass
class Draft:
    """Objects, streams and routes as they shall be; written together or not at all."""

    store: ResourceStore
    log: EventLog
    base: str
    now: str
    _objects: dict[str, _Kept] = field(default_factory=dict)
    _others: dict[tuple[str, str], bytes | None] = field(default_factory=dict)

    @cached_property
    def head(self) -> Position:
        """The end of the log: events published after the operation lie here or behind."""
        return self.log.bounds()[1]

    def get(self, kind: Kind, space: str, called: str) -> Object | None:
        """Return an object as it shall be."""
        return self._kept(kind.key(space, called)).now

    def before(self, kind: Kind, space: str, called: str) -> Object | None:
        """Return an object as the store holds it."""
        return self._kept(kind.key(space, called)).before

    def version(self, kind: Kind, space: str, called: str) -> int:
        """Return the version under which the store holds an object; 0 where it does not."""
        return self._kept(kind.key(space, called)).version

    def put(self, kind: Kind, found: Object) -> None:
        self._kept(kind.key(namespace(found), name(found))).now = found

    def drop(self, kind: Kind, found: Object) -> None:
        self._kept(kind.key(namespace(found), name(found))).now = None

    def scan(self, kind: Kind, space: str = "") -> Iterator[Object]:
        """Yield all objects of a kind as they shall be, in the order of their keys."""
        prefix = kind.prefix(space)
        for document in pages(self.store, prefix):
            self._objects.setdefault(document.key, _kept(document))
        keys = sorted(key for key in self._objects if key.startswith(prefix))
        for key in keys:
            found = self._objects[key].now
            if found is not None:
                yield found

    def find(self, identity: Identity) -> Object | None:
        """Return the object that a reference means."""
        group, kind, space, called = identity
        known = self.kind(group, kind)
        if known is None:
            return None
        return self.get(known, space if known.namespaced else "", called)

    def kind(self, group: str, kind: str) -> Kind | None:
        """Return what is known of a kind."""
        if (group, kind) in _KNOWN:
            return _KNOWN[group, kind]
        body = self._other(KIND, f"{group}/{kind}")
        return None if body is None else msgspec.json.decode(body, type=Kind)

    def learn(self, kind: Kind) -> None:
        """Remember a kind, under the name that references use and the one that addresses use."""
        body = msgspec.json.encode(kind)
        self._others[KIND, f"{kind.group}/{kind.kind}"] = body
        self._others[KIND, f"{kind.group}/{kind.plural}"] = body

    def subscriptions(self, space: str, channel: str) -> Sequence[Object]:
        """Return the Subscriptions of a Channel."""
        return [
            found
            for found in self.scan(SUBSCRIPTION, space)
            if subscription.channel(found)[3] == channel
        ]

    def keep(self, kind: str, key: str, body: bytes | None) -> None:
        """Keep a stream, or drop it."""
        self._others[kind, key] = body

    def serve(self, key: str, route: Route | None) -> None:
        """Let a route serve from now on; without one, the route there was rests."""
        before = self._other(ROUTE, key)
        known = msgspec.json.decode(before, type=Route) if before is not None else None
        if route is None:
            made = known and msgspec.structs.replace(known, paused=True)
        elif known is None or known.paused or known.stream != route.stream:
            made = route
        else:
            made = msgspec.structs.replace(route, start=known.start)
        self._others[ROUTE, key] = None if made is None else msgspec.json.encode(made)

    def changes(self) -> list[Change]:
        """Return what has to be written, and what must not have changed meanwhile."""
        made = [*self._object_changes(), *self._other_changes()]
        return [*made, *self._checks()] if made else []

    def _checks(self) -> Iterator[Change]:
        for key, kept in self._objects.items():
            if kept.was_asked_for and kept.now == kept.before:
                yield Check(OBJECT, key, kept.version)

    def _object_changes(self) -> Iterator[Change]:
        for key, kept in self._objects.items():
            if kept.now is kept.before or kept.now == kept.before:
                continue
            if kept.now is None:
                yield Drop(OBJECT, key, kept.version)
            else:
                yield Put(OBJECT, key, msgspec.json.encode(_stored(kept.now)), kept.version)

    def _other_changes(self) -> Iterator[Change]:
        for (kind, key), body in self._others.items():
            found = self.store.get(kind, key)
            if body is None and found is not None:
                yield Drop(kind, key)
            elif body is not None and (found is None or found.body != body):
                yield Put(kind, key, body)

    def _kept(self, key: str) -> _Kept:
        if key not in self._objects:
            document = self.store.get(OBJECT, key)
            self._objects[key] = _Kept(0, None, None) if document is None else _kept(document)
        found = self._objects[key]
        found.was_asked_for = True
        return found

    def _other(self, kind: str, key: str) -> bytes | None:
        if (kind, key) in self._others:
            return self._others[kind, key]
        found = self.store.get(kind, key)
        return None if found is None else found.body


def pages(store: ResourceStore, prefix: str) -> Iterator[Document]:
    """Yield the documents of all objects whose keys begin so."""
    after = prefix
    while page := store.page(OBJECT, after, _PAGE):
        for document in page:
            if not document.key.startswith(prefix):
                return
            yield document
        after = page[-1].key


def decoded(document: Document) -> Object:
    """Return the object in a document, under the version of the store that wrote it."""
    found: Object = msgspec.json.decode(document.body)
    return {**found, "metadata": {**metadata(found), "resourceVersion": str(document.version)}}


def _kept(document: Document) -> _Kept:
    found: Object = msgspec.json.decode(document.body)
    return _Kept(document.version, found, found)


def _stored(found: Object) -> Object:
    kept = {key: value for key, value in metadata(found).items() if key != "resourceVersion"}
    return {**found, "metadata": kept}


__all__ = ["STREAM", "Draft", "decoded", "pages"]
