"""Nested documents read into drafts: groups with their resources and all versions of them."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping

import msgspec

from penstock.events.values import is_media_type
from penstock.registry import attributes, kinds
from penstock.registry.attributes import Claims
from penstock.registry.entities import ordered
from penstock.registry.faults import Faults, within
from penstock.registry.model import GroupType, ResourceType
from penstock.registry.query import VERSIONS
from penstock.registry.rules import MEDIA_TYPE, Draft


class ResourceDraft(msgspec.Struct, frozen=True):
    """A resource as it is proposed; a version without an id is meant to be the latest."""

    type: ResourceType
    id: str
    versions: Mapping[str, Draft]
    path: str
    nested: bool = False
    """Whether the versions are below `versions` in the document."""


class GroupDraft(msgspec.Struct, frozen=True):
    """A group as it is proposed, with its resources."""

    type: GroupType
    id: str
    attributes: Mapping[str, object]
    claims: Claims
    resources: tuple[ResourceDraft, ...]
    path: str


def group(
    faults: Faults, type_: GroupType, document: object, path: str, key: str | None = None
) -> GroupDraft:
    """Return the group of a document; its id is the key it has in a map, if it is in one."""
    found = faults.mapping(document, path) or {}
    nested = [(each, members(faults, found, each.plural, path)) for each in type_.resources]
    names = {name for each in type_.resources for name in collection(each.plural)}
    own = {name: value for name, value in found.items() if name not in names}
    read, claims = attributes.read(faults, own, path, kinds.known_of_group(type_))
    id_ = _id(faults, claims.id, key, path)
    resources = tuple(
        resource(faults, each, member, within(within(path, each.plural), name), name)
        for each, inside in nested
        for name, member in inside.items()
    )
    kept = kinds.settled_group(faults, type_, read, path)
    return GroupDraft(type_, id_, kept, claims, resources, path)


def resource(
    faults: Faults, type_: ResourceType, document: object, path: str, key: str
) -> ResourceDraft:
    """Return the resource of a document, with its versions."""
    found = faults.mapping(document, path) or {}
    attributes.identifier(faults, key, path)
    inside = members(faults, found, VERSIONS, path)
    names = collection(VERSIONS)
    own = {name: value for name, value in found.items() if name not in names}
    whole, claims = draft(faults, type_, own, path)
    _id(faults, claims.id, key, path)
    if not inside:
        return ResourceDraft(type_, key, {claims.version or "": whole}, path)
    latest = ordered(tuple(inside))[-1]
    versions = {
        name: _version(faults, type_, (member, name == latest), whole, f"{path}.{VERSIONS}.{name}")
        for name, member in inside.items()
    }
    return ResourceDraft(type_, key, versions, path, nested=True)


def draft(
    faults: Faults, type_: ResourceType, document: Mapping[str, object], path: str
) -> tuple[Draft, Claims]:
    """Return one version as a document proposes it, and what it says of its identity."""
    rules = kinds.rules(type_)
    wrapped = document.get(type_.singular)
    if rules.flat and isinstance(wrapped, Mapping):
        document = {**document, **wrapped}
        del document[type_.singular]
    carried = _carriers(type_)
    own = {name: value for name, value in document.items() if name not in carried}
    read, claims = attributes.read(faults, own, path, (*rules.known, *carried))
    uri = _uri(faults, type_, document, path)
    media_type = str(read.pop(MEDIA_TYPE, ""))
    if media_type and not is_media_type(media_type):
        faults.add(within(path, MEDIA_TYPE), "must be a media type (RFC 2046)")
    content = b"" if rules.flat else _content(faults, type_, document, path)
    return Draft(read, content, uri, media_type), claims


def collection(plural: str) -> tuple[str, ...]:
    """Return the names under which a collection, its address and its size appear."""
    return (plural, f"{plural}Url", f"{plural}URL", f"{plural}Count")


def members(
    faults: Faults, found: Mapping[str, object], plural: str, path: str
) -> Mapping[str, object]:
    """Return the entities of a collection in a document, whose size must be as stated."""
    place = within(path, plural)
    value = found.get(plural)
    inside = {} if value is None else faults.mapping(value, place) or {}
    stated = found.get(f"{plural}Count")
    if stated is not None:
        number = faults.whole(stated, f"{place}Count")
        if value is not None and number is not None and number != len(inside):
            faults.add(f"{place}Count", f"is {number}, and there are {len(inside)}")
    folded: dict[str, str] = {}
    for name in inside:
        other = folded.setdefault(name.casefold(), name)
        if other != name:
            faults.add(within(place, name), f"differs from {other!r} only by case")
    return inside


def _version(
    faults: Faults,
    type_: ResourceType,
    member: tuple[object, bool],
    whole: Draft,
    path: str,
) -> Draft:
    value, is_latest = member
    found = faults.mapping(value, path) or {}
    key = path.rpartition(f".{VERSIONS}.")[2]
    attributes.identifier(faults, key, path)
    read, claims = draft(faults, type_, found, path)
    for claimed, name in ((claims.id, "id"), (claims.version, "versionId")):
        if claimed not in (None, key):
            faults.add(within(path, name), f"must be {key!r}, as its key")
    # What a resource shows is what its latest version says; the format holds for all of them.
    shared = whole.attributes if is_latest else _only_format(whole)
    return msgspec.structs.replace(read, attributes={**shared, **read.attributes})


def _only_format(whole: Draft) -> Mapping[str, object]:
    return {name: value for name, value in whole.attributes.items() if name == "format"}


def _id(faults: Faults, claimed: str | None, key: str | None, path: str) -> str:
    if key is not None:
        attributes.identifier(faults, key, path)
    if key is not None and claimed not in (None, key):
        faults.add(within(path, "id"), f"must be {key!r}, as its key")
    return key if key is not None else claimed or ""


def _carriers(type_: ResourceType) -> tuple[str, ...]:
    """Return the names by which a document, or its address, is in a JSON object."""
    own = (f"{type_.singular}Uri", *(("schemaurl",) if kinds.is_schema(type_) else ()))
    if kinds.rules(type_).flat:
        return own
    return (type_.singular, f"{type_.singular}Base64", *own)


def _uri(faults: Faults, type_: ResourceType, document: Mapping[str, object], path: str) -> str:
    names = (f"{type_.singular}Uri", *(("schemaurl",) if kinds.is_schema(type_) else ()))
    given = {
        name: faults.text(document[name], within(path, name)) or ""
        for name in names
        if document.get(name) is not None
    }
    if len(set(given.values())) > 1:
        faults.add(within(path, names[1]), f"must be the same as {names[0]}")
    return next(iter(given.values()), "")


def _content(
    faults: Faults, type_: ResourceType, document: Mapping[str, object], path: str
) -> bytes:
    name, encoded = type_.singular, f"{type_.singular}Base64"
    if document.get(name) is not None and document.get(encoded) is not None:
        faults.add(within(path, encoded), f"excludes {name}: give one of them")
    if document.get(encoded) is not None:
        return _decoded(faults, document[encoded], within(path, encoded))
    value = document.get(name)
    if value is None:
        return b""
    return value.encode() if isinstance(value, str) else msgspec.json.encode(value)


def _decoded(faults: Faults, value: object, path: str) -> bytes:
    text = faults.text(value, path) or ""
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        faults.add(path, "must be base64 (RFC 4648)")
        return b""
