"""Entities as clients see them: JSON objects with addresses, collections and their sizes."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass, field

import msgspec

from penstock.errors import LimitError
from penstock.registry import kinds
from penstock.registry.entities import Group, Place, Resource, Shape, Version, key, segment
from penstock.registry.lookup import Lookup
from penstock.registry.model import GroupType, Model, ResourceType
from penstock.registry.query import NOTHING, VERSIONS, Inline
from penstock.registry.reader import Reader, Root
from penstock.registry.references import Missing
from penstock.registry.rules import MEDIA_TYPE

SPEC_VERSION = "0.5-wip"
_USUAL = {"application/json", "application/xml", "text/plain", ""}


@dataclass(slots=True)
class Budget:
    """How much may be inlined into one answer."""

    limit: int
    left: int = field(init=False)

    def __post_init__(self) -> None:
        self.left = self.limit

    def packed(self, document: Mapping[str, object]) -> msgspec.Raw:
        """Return an object as JSON, which is all that is kept of it from here on."""
        body = msgspec.json.encode(document)
        self.left -= len(body) - _counted(document)
        if self.left < 0:
            message = f"this would be more than {self.limit} bytes: read the collections in pages"
            raise LimitError(message, limit="inline")
        return msgspec.Raw(body)


def _counted(document: Mapping[str, object]) -> int:
    """Return how many bytes of an object were counted when its collections were packed."""
    collections = (value for value in document.values() if isinstance(value, Mapping))
    members = (one for each in collections for one in each.values())
    return sum(memoryview(one).nbytes for one in members if isinstance(one, msgspec.Raw))


@dataclass(frozen=True, slots=True)
class View:
    """Shows entities with the addresses by which a client knows them."""

    reader: Reader
    base: str
    """The address of the registry, without a slash at the end."""
    budget: Budget
    lookup: Lookup
    file: bool = False
    """Whether it is for a file, which leaves out what only a server knows."""

    def registry(self, root: Root, model: Model, inline: Inline = NOTHING) -> dict[str, object]:
        spec = "specversion" if self.file else "specVersion"
        shown: dict[str, object] = {spec: SPEC_VERSION, "id": root.id}
        if not self.file:
            shown["self"] = f"{self.base}/"
        shown |= root.attributes
        for type_ in model.groups:
            shown |= self._group_collection(type_, inline.inner(type_.plural))
        return shown

    def group(self, type_: GroupType, group: Group, inline: Inline = NOTHING) -> dict[str, object]:
        address = f"{self.base}/{segment(type_.plural)}/{segment(group.id)}"
        shown = {**self._head(group.id, group, address), **self._own(group)}
        for each in type_.resources:
            place = (key(type_.plural, group.id), address)
            shown |= self._resource_collection(place, each, inline.inner(each.plural))
        return shown

    def resource(
        self,
        type_: ResourceType,
        resource: Resource,
        inline: Inline = NOTHING,
        *,
        full: bool = True,
    ) -> dict[str, object]:
        """Return a resource; `full` adds its document, or what the document consists of."""
        latest, place = resource.latest, resource.place
        address = f"{self.base}{place.path}"
        shown = {
            **self._head(resource.id, latest, f"{address}/versions/{segment(latest.id)}"),
            **self._version_id(type_, latest.id),
            **self._own(latest),
            **self._document(type_, place, latest, full=full),
        }
        return shown | self._version_collection(type_, resource, inline.inner(VERSIONS))

    def version(
        self, type_: ResourceType, place: Place, version: Version, *, full: bool = True
    ) -> dict[str, object]:
        """Return a version; `full` adds its document, or what the document consists of."""
        address = f"{self.base}{place.path}/versions/{segment(version.id)}"
        named = version.attributes.get("name", place.resource)
        return {
            **self._head(version.id, version, address),
            **({} if self.file else {"name": named, "versionId": version.id}),
            **self._own(version),
            **self._document(type_, place, version, full=full),
        }

    def _version_id(self, type_: ResourceType, id_: str) -> dict[str, object]:
        # A file has the versions themselves, except of what has but one.
        if self.file and (id_ == "1" or not kinds.rules(type_).flat):
            return {}
        return {"versionId": id_}

    def entity(self, type_: ResourceType, id_: str, version: Version) -> dict[str, object]:
        """Return a document that consists of attributes, as it is by itself."""
        flat = kinds.rules(type_).flat
        own = {name: one for name, one in version.attributes.items() if name not in flat}
        named = {"id": id_, "name": version.attributes.get("name", id_)}
        return {**named, **own, **self._borrowed(version, flat)}

    def _head(self, id_: str, entity: Group | Version, address: str) -> dict[str, object]:
        named = {"id": id_, "name": entity.attributes.get("name", id_)}
        if self.file:
            return named if "name" in entity.attributes else {"id": id_}
        return {**named, "epoch": entity.epoch, "self": address}

    def _own(self, entity: Group | Version) -> dict[str, object]:
        own = {name: one for name, one in entity.attributes.items() if name != "name"}
        if self.file:
            return own
        return {**own, "createdOn": entity.created, "modifiedOn": entity.modified}

    def _document(
        self, type_: ResourceType, place: Place, version: Version, *, full: bool
    ) -> dict[str, object]:
        flat = kinds.rules(type_).flat
        shown: dict[str, object] = {}
        if version.uri:
            shown |= self._uris(type_, version.uri)
        if flat:
            return shown | self._borrowed(version, flat) if full and not self.file else shown
        if self.file and version.media_type not in _USUAL:
            shown[MEDIA_TYPE] = version.media_type
        if full and version.shape is not Shape.NONE:
            content = self.reader.content(place, version.id)
            shown |= _carried(type_, version, content)
        return shown

    def _uris(self, type_: ResourceType, uri: str) -> dict[str, object]:
        name = f"{type_.singular}Uri"
        if not kinds.is_schema(type_):
            return {name: uri}
        return {"schemaurl": uri} if self.file else {name: uri, "schemaurl": uri}

    def _borrowed(self, version: Version, flat: tuple[str, ...]) -> dict[str, object]:
        """Return what a definition consists of; one that is borrowed shows its origin's."""
        own = {name: version.attributes[name] for name in flat if name in version.attributes}
        reference = own.get("uri")
        if not isinstance(reference, str):
            return own
        try:
            target = self.lookup.origin(reference, self.base)
        except Missing:
            return own
        value = target.value if target is not None else None
        found = value if isinstance(value, dict) else {}
        return {**{name: found[name] for name in flat if name in found}, **own}

    def _group_collection(self, type_: GroupType, inner: Inline | None) -> dict[str, object]:
        address = f"{self.base}/{segment(type_.plural)}"
        number = self.reader.number_of_groups(type_)
        shown = self._collection(type_.plural, address, number)
        if inner is not None:
            shown[type_.plural] = {
                each.id: self.budget.packed(self.group(type_, each, inner))
                for each in self.reader.all_groups(type_)
            }
        return shown

    def _resource_collection(
        self, place: tuple[str, str], type_: ResourceType, inner: Inline | None
    ) -> dict[str, object]:
        above, address = place
        number = self.reader.number_of_resources(above, type_)
        shown = self._collection(type_.plural, f"{address}/{segment(type_.plural)}", number)
        if inner is not None:
            shown[type_.plural] = {
                each.id: self.budget.packed(self._nested(type_, each, inner))
                for each in self.reader.all_resources(above, type_)
            }
        return shown

    def _nested(self, type_: ResourceType, resource: Resource, inner: Inline) -> dict[str, object]:
        # In a file the document is in its version, and need not be there twice.
        has_versions = self.file and inner.inner(VERSIONS) is not None
        return self.resource(type_, resource, inner, full=not has_versions)

    def _version_collection(
        self, type_: ResourceType, resource: Resource, inner: Inline | None
    ) -> dict[str, object]:
        if self.file and kinds.rules(type_).flat:
            return {}
        address = f"{self.base}{resource.place.path}/{VERSIONS}"
        shown = self._collection(VERSIONS, address, len(resource.versions))
        if inner is not None:
            shown[VERSIONS] = {
                each.id: self.budget.packed(self.version(type_, resource.place, each))
                for each in self.reader.all_versions(resource.place)
            }
        return shown

    def _collection(self, plural: str, address: str, number: int) -> dict[str, object]:
        if self.file:
            return {f"{plural}Count": number}
        return {f"{plural}Url": address, f"{plural}Count": number}


def _carried(type_: ResourceType, version: Version, content: bytes) -> dict[str, object]:
    """Return a document by the name it has inside JSON."""
    if version.shape is Shape.JSON:
        return {type_.singular: msgspec.Raw(content)}
    if version.shape is Shape.TEXT:
        return {type_.singular: content.decode()}
    return {f"{type_.singular}Base64": base64.b64encode(content).decode("ascii")}
