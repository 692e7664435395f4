"""Which definitions there are for a type of events, kept up to date by what changes."""

from __future__ import annotations

import msgspec

from penstock.errors import ConflictError
from penstock.ports import Document, ResourceStore
from penstock.registry import kinds
from penstock.registry.entities import RESOURCE, Resource, folded
from penstock.registry.reader import Reader
from penstock.registry.validation_attributes import type_of
from penstock.registry.validation_templates import Template, template

_FORMAT = "CloudEvents/1.0"
_DEFINITIONS = "definitions"
_PAGE = 1000


class Index:
    """Knows the keys of the definitions for each type of events, as of one version."""

    def __init__(self, store: ResourceStore) -> None:
        self._store = store
        self._version = -1
        self._types: dict[str, str] = {}
        self._keys: dict[str, tuple[str, ...]] = {}
        self._templates: dict[str, Template] = {}

    def refresh(self) -> bool:
        """Take in what changed, and say whether anything in the registry did."""
        newest = self._store.version()
        if newest == self._version:
            return False
        changed = self._follow(newest) if self._version >= 0 else None
        if changed is None:
            self._load()
        self._version = newest
        return changed is not False

    def keys(self, type_: str) -> tuple[str, ...]:
        """Return the keys of the definitions for a type of events."""
        fitting = [key for key, each in self._templates.items() if each.pattern.fullmatch(type_)]
        return (*self._keys.get(type_, ()), *fitting)

    def _follow(self, newest: int) -> bool | None:
        """Say whether anything changed; None where that is forgotten."""
        try:
            put, gone = self._store.changes(RESOURCE, self._version, newest)
        except ConflictError:
            return None
        for key in gone:
            self._drop(key)
        for document in put:
            self._put(document)
        return bool(put or gone)

    def _load(self) -> None:
        self._types, self._keys, self._templates = {}, {}, {}
        for group in Reader(self._store).model().groups:
            if not kinds.holds_definitions(group):
                continue
            after, prefix = "", f"{folded(group.plural)}/"
            while page := self._store.page(RESOURCE, after, _PAGE, prefix):
                for document in page:
                    self._put(document)
                after = page[-1].key

    def _put(self, document: Document) -> None:
        self._drop(document.key)
        resource = msgspec.json.decode(document.body, type=Resource)
        found = resource.latest.attributes
        if resource.place.resources != _DEFINITIONS or found.get("format") != _FORMAT:
            return
        if "metadata" not in found:  # it is borrowed as it is, and found where it comes from
            return
        type_ = type_of(found) or resource.id
        self._types[document.key] = type_
        pattern = template(type_)
        if pattern is not None:
            self._templates[document.key] = pattern
        else:
            self._keys[type_] = (*self._keys.get(type_, ()), document.key)

    def _drop(self, key: str) -> None:
        type_ = self._types.pop(key, None)
        if type_ is None or self._templates.pop(key, None) is not None:
            return
        left = tuple(each for each in self._keys[type_] if each != key)
        if left:
            self._keys[type_] = left
        else:
            del self._keys[type_]
