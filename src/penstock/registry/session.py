"""One change of a registry: what it reads stays as it was read, or nothing is written."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar

import msgspec

from penstock.ports import Change, Check, Clear, Document, Drop, Put, ResourceStore
from penstock.registry.entities import (
    CONTENT,
    GROUP,
    KINDS,
    RESOURCE,
    VERSION,
    Group,
    Resource,
    Version,
)

Entity = TypeVar("Entity", Group, Resource, Version)
_PAGE = 500


class Session:
    """Reads and gathers changes, which see each other before they are written together."""

    def __init__(self, store: ResourceStore) -> None:
        self._store = store
        self._read: dict[tuple[str, str], Document | None] = {}
        self._changed: dict[tuple[str, str], bytes | None] = {}
        self._guarded: set[tuple[str, str]] = set()
        self._cleared: list[Clear] = []

    def group(self, key: str) -> Group | None:
        return self._entity(GROUP, key, Group)

    def resource(self, key: str) -> Resource | None:
        return self._entity(RESOURCE, key, Resource)

    def version(self, key: str) -> Version | None:
        return self._entity(VERSION, key, Version)

    def content(self, key: str) -> bytes:
        return self._body(CONTENT, key) or b""

    def groups(self, prefix: str) -> Iterator[tuple[str, Group]]:
        """Yield the groups in the store below a prefix, with their keys."""
        return self._all(GROUP, prefix, Group)

    def resources(self, prefix: str) -> Iterator[tuple[str, Resource]]:
        """Yield the resources in the store below a prefix, with their keys."""
        return self._all(RESOURCE, prefix, Resource)

    def put(self, kind: str, key: str, entity: Group | Resource | Version | bytes) -> None:
        body = entity if isinstance(entity, bytes) else msgspec.json.encode(entity)
        self._document(kind, key)
        self._changed[kind, key] = body

    def drop(self, kind: str, key: str) -> None:
        if self._body(kind, key) is not None:
            self._changed[kind, key] = None

    def clear(self, kind: str, prefix: str) -> None:
        """Remove everything below a prefix."""
        self._cleared.append(Clear(kind, prefix))
        for place in [each for each in self._changed if each[0] == kind]:
            if place[1].startswith(prefix):
                del self._changed[place]

    def clear_below(self, key: str) -> None:
        """Remove everything below a group or a resource."""
        for kind in KINDS:
            self.clear(kind, f"{key}/")

    def guard(self, kind: str, key: str) -> None:
        """Write only if this is still as it was read."""
        self._guarded.add((kind, key))

    def commit(self) -> None:
        """Write everything, or raise ConflictError or NotFoundError when it was too late."""
        changes = [*self._checks(), *self._cleared, *self._changes()]
        if changes:
            self._store.write(changes)

    def _checks(self) -> Iterator[Change]:
        for kind, key in self._guarded - self._changed.keys():
            yield Check(kind, key, self._expected(kind, key))

    def _changes(self) -> Iterator[Change]:
        for (kind, key), body in self._changed.items():
            covered = any(kind == one.kind and key.startswith(one.prefix) for one in self._cleared)
            expected = None if covered else self._expected(kind, key)
            if body is not None:
                yield Put(kind, key, body, expected)
            elif expected != 0 and not covered:
                yield Drop(kind, key, expected)

    def _expected(self, kind: str, key: str) -> int:
        found = self._document(kind, key)
        return 0 if found is None else found.version

    def _document(self, kind: str, key: str) -> Document | None:
        if (kind, key) not in self._read:
            self._read[kind, key] = self._store.get(kind, key)
        return self._read[kind, key]

    def _body(self, kind: str, key: str) -> bytes | None:
        if (kind, key) in self._changed:
            return self._changed[kind, key]
        if any(kind == one.kind and key.startswith(one.prefix) for one in self._cleared):
            return None
        found = self._document(kind, key)
        return None if found is None else found.body

    def _entity(self, kind: str, key: str, type_: type[Entity]) -> Entity | None:
        body = self._body(kind, key)
        return None if body is None else msgspec.json.decode(body, type=type_)

    def _all(self, kind: str, prefix: str, type_: type[Entity]) -> Iterator[tuple[str, Entity]]:
        after = ""
        while page := self._store.page(kind, after, _PAGE, prefix):
            for document in page:
                self._read.setdefault((kind, document.key), document)
                body = self._body(kind, document.key)
                if body is not None:
                    yield document.key, msgspec.json.decode(body, type=type_)
            after = page[-1].key
