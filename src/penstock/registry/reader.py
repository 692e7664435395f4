"""Reading a registry: single entities, pages of them, and how many there are."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar

import msgspec

from penstock.errors import NotFoundError
from penstock.ports import Document, ResourceStore
from penstock.registry import kinds, model
from penstock.registry.entities import (
    CONTENT,
    GROUP,
    RESOURCE,
    VERSION,
    Group,
    Place,
    Resource,
    Version,
    folded,
    key,
)
from penstock.registry.lookup import Lookup
from penstock.registry.model import GroupType, Model, ResourceType
from penstock.registry.session import Session

MODEL = "registry.model"
ROOT = "registry.root"
_ONLY = "registry"
_PAGE = 500

Entity = TypeVar("Entity", Group, Resource, Version)


class Root(msgspec.Struct, frozen=True):
    """The registry itself."""

    id: str
    attributes: dict[str, object] = {}


@dataclass(frozen=True, slots=True)
class Page(Generic[Entity]):
    """Some entities in the order of their keys, and the key after which there are more."""

    entities: tuple[Entity, ...]
    more: str | None


class Reader:
    """All that can be read of a registry."""

    def __init__(self, store: ResourceStore) -> None:
        self._store = store

    def model(self) -> Model:
        found = self._store.get(MODEL, _ONLY)
        return kinds.MODEL if found is None else model.read(msgspec.json.decode(found.body))

    def root(self) -> Root | None:
        found = self._store.get(ROOT, _ONLY)
        return None if found is None else msgspec.json.decode(found.body, type=Root)

    def group(self, type_: GroupType, id_: str) -> Group:
        """Return a group, or raise NotFoundError."""
        found = self._store.get(GROUP, key(type_.plural, id_))
        group = None if found is None else msgspec.json.decode(found.body, type=Group)
        if group is None or group.id != id_:
            address = f"/{type_.plural}/{id_}"
            raise NotFoundError(f"there is no {type_.singular} {id_!r}", address=address)
        return group

    def resource(self, place: Place, singular: str) -> Resource:
        """Return a resource, or raise NotFoundError."""
        found = self._store.get(RESOURCE, place.key)
        resource = None if found is None else msgspec.json.decode(found.body, type=Resource)
        if resource is None or resource.place != place:
            message = f"there is no {singular} {place.resource!r} in {place.group!r}"
            raise NotFoundError(message, address=place.path)
        return resource

    def version(self, place: Place, id_: str) -> Version:
        """Return a version, or raise NotFoundError."""
        found = self._store.get(VERSION, f"{place.key}/{folded(id_)}")
        version = None if found is None else msgspec.json.decode(found.body, type=Version)
        if version is None or version.id != id_:
            address = f"{place.path}/versions/{id_}"
            message = f"there is no version {id_!r} of {place.resource!r}"
            raise NotFoundError(message, address=address)
        return version

    def content(self, place: Place, id_: str) -> bytes:
        found = self._store.get(CONTENT, f"{place.key}/{folded(id_)}")
        return b"" if found is None else found.body

    def lookup(self) -> Lookup:
        """Return what finds the targets of references."""
        return Lookup(Session(self._store), self.model())

    def groups(self, type_: GroupType, after: str = "", limit: int = _PAGE) -> Page[Group]:
        return self._page(GROUP, f"{folded(type_.plural)}/", (after, limit), Group)

    def resources(
        self, above: str, type_: ResourceType, after: str = "", limit: int = _PAGE
    ) -> Page[Resource]:
        """Return resources of a group, whose key is given."""
        prefix = f"{above}/{folded(type_.plural)}/"
        return self._page(RESOURCE, prefix, (after, limit), Resource)

    def versions(self, place: Place, after: str = "", limit: int = _PAGE) -> Page[Version]:
        return self._page(VERSION, f"{place.key}/", (after, limit), Version)

    def all_groups(self, type_: GroupType) -> Iterator[Group]:
        after: str | None = ""
        while after is not None:
            page = self.groups(type_, after)
            yield from page.entities
            after = page.more

    def all_resources(self, above: str, type_: ResourceType) -> Iterator[Resource]:
        after: str | None = ""
        while after is not None:
            page = self.resources(above, type_, after)
            yield from page.entities
            after = page.more

    def all_versions(self, place: Place) -> Iterator[Version]:
        after: str | None = ""
        while after is not None:
            page = self.versions(place, after)
            yield from page.entities
            after = page.more

    def number_of_groups(self, type_: GroupType) -> int:
        return self._store.count(GROUP, f"{folded(type_.plural)}/")

    def number_of_resources(self, above: str, type_: ResourceType) -> int:
        return self._store.count(RESOURCE, f"{above}/{folded(type_.plural)}/")

    def _page(
        self, kind: str, prefix: str, window: tuple[str, int], type_: type[Entity]
    ) -> Page[Entity]:
        after, limit = window
        # Keys are what follows the prefix, so that a client learns nothing about the rest.
        start = f"{prefix}{after}" if after else ""
        found: list[Document] = self._store.page(kind, start, limit + 1, prefix)
        more = found[limit - 1].key.removeprefix(prefix) if len(found) > limit else None
        entities = tuple(msgspec.json.decode(each.body, type=type_) for each in found[:limit])
        return Page(entities, more)
