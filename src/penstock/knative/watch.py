"""Watches: every change of some objects, once and in order."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from penstock.errors import ConflictError
from penstock.knative.draft import decoded
from penstock.knative.kinds import OBJECT
from penstock.knative.listing import Query, expired, snapshot
from penstock.knative.meta import Object, with_metadata
from penstock.ports import Document, ResourceStore

ADDED, MODIFIED, DELETED, BOOKMARK, ERROR = "ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR"


class Event(msgspec.Struct, frozen=True):
    """What happened to an object."""

    type: str
    object: Object


class Watch:
    """Follows the objects of a query from a version on."""

    def __init__(self, store: ResourceStore, query: Query, since: int | None) -> None:
        """Start at a version that somebody has seen; None starts with all that is there."""
        self._store = store
        self._query = query
        self._is_new = since is None
        self.version = store.version() if since is None else since
        documents = snapshot(store, query.prefix, min(self.version, store.version()))
        self._known = {one.key: one for one in documents}

    def initial(self) -> Iterator[Event]:
        """Yield what is there, where the watch starts with that."""
        if self._is_new:
            for document in self._known.values():
                if self._matches(document):
                    yield Event(ADDED, decoded(document))

    def advance(self, limit: int = 500) -> list[Event]:
        """Return what happened since the last call, some versions of the store at most."""
        newest = self._store.version()
        if newest > self.version + 1 and not any(self._touched(self.version, newest)):
            self.version = newest
        events: list[Event] = []
        while self.version < newest and len(events) < limit:
            events += self._step(self.version + 1)
            self.version += 1
        return events

    def _step(self, version: int) -> Iterator[Event]:
        put, dropped = self._touched(version - 1, version)
        for document in put:
            before = self._known.get(document.key)
            self._known[document.key] = document
            yield from self._changed(before, document)
        for key in dropped:
            gone = self._known.pop(key, None)
            if gone is not None and self._matches(gone):
                yield Event(DELETED, with_metadata(decoded(gone), resourceVersion=str(version)))

    def _changed(self, before: Document | None, after: Document) -> Iterator[Event]:
        was, is_ = before is not None and self._matches(before), self._matches(after)
        if is_:
            yield Event(MODIFIED if was else ADDED, decoded(after))
        elif was:
            yield Event(DELETED, decoded(after))

    def _touched(self, since: int, until: int) -> tuple[list[Document], list[str]]:
        try:
            put, dropped = self._store.changes(OBJECT, since, until)
        except ConflictError as exc:
            raise expired(since) from exc
        prefix = self._query.prefix
        mine = sorted((one for one in put if one.key.startswith(prefix)), key=lambda one: one.key)
        return mine, [key for key in dropped if key.startswith(prefix)]

    def _matches(self, document: Document) -> bool:
        return self._query.matches(decoded(document))
