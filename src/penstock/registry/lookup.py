"""What references lead to, in the store and in what is about to be written there."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import quote

import msgspec

from penstock.registry import kinds
from penstock.registry.entities import Place, Shape, Version, folded, key
from penstock.registry.model import GroupType, Model, ResourceType
from penstock.registry.references import (
    Circle,
    Missing,
    Target,
    is_inside,
    point,
    pointer,
    steps,
)
from penstock.registry.session import Session

_VERSIONS = ("versions", "version")
# Elements that a schema declares by name are all that data can start with.
_XPATH = re.compile(
    r"//?(?:[\w.-]+:)?(?:schema/(?:[\w.-]+:)?)?element"
    r"\[@name=[\"']([^\"']+)[\"']\]"
)
_RESOURCE_STEPS = 4
_VERSION_STEPS = 6


@dataclass(frozen=True, slots=True)
class Lookup:
    """Finds what references of this registry lead to."""

    session: Session
    model: Model

    def find(self, reference: str, base: str) -> Target | None:
        """Return the target of a local reference, None for a foreign one, or raise Missing."""
        if not is_inside(reference, base):
            return None
        names, suffix = steps(reference, base)
        if len(names) < 2:  # noqa: PLR2004 - a type of groups, and an id
            raise Missing(f"{reference!r} does not name an object of this registry")
        target = self._group(names) if len(names) < _RESOURCE_STEPS else self._resource(names)
        return _within(target, suffix) if suffix else target

    def origin(self, reference: str, base: str) -> Target | None:
        """Return the definition at the end of a chain of borrowed ones, or raise Missing."""
        seen: set[str] = set()
        target = self.find(reference, base)
        while target is not None:
            if target.address in seen:
                raise Circle(f"{reference!r} leads back to itself")
            seen.add(target.address)
            further = target.value.get("uri") if isinstance(target.value, dict) else None
            if not isinstance(further, str):
                return target
            target = self.find(further, base)
        return None

    def _type(self, name: str) -> GroupType:
        found = self.model.group(name, singular=True)
        if found is None:
            raise Missing(f"there are no {name!r}")
        return found

    def _group(self, names: Sequence[str]) -> Target:
        type_ = self._type(names[0])
        found = self.session.group(key(type_.plural, names[1]))
        if found is None or found.id != names[1]:
            raise Missing(f"there is no {type_.singular} {names[1]!r}")
        value = {"id": found.id, **found.attributes}
        address = f"{type_.plural}/{found.id}"
        format_ = str(found.attributes.get("format", ""))
        if len(names) > 2:  # noqa: PLR2004
            return Target(point(value, names[2:]), "value", address)
        return Target(value, type_.singular, address, format=format_)

    def _resource(self, names: Sequence[str]) -> Target:
        groups = self._type(names[0])
        type_ = groups.resource(names[2], singular=True)
        if type_ is None:
            return self._group(names)
        has_version = len(names) >= _VERSION_STEPS and names[4].casefold() in _VERSIONS
        length = _VERSION_STEPS if has_version else _RESOURCE_STEPS
        path, rest = list(names[:length]), names[length:]
        record = ""
        version = self._version(groups, type_, path)
        if version is None and not rest and ":" in path[-1]:
            path[-1], _, record = path[-1].rpartition(":")
            version = self._version(groups, type_, path)
        if version is None:
            raise Missing(f"there is no {type_.singular} at {'/'.join(names[:length])}")
        return self._target(type_, path, version, (rest, record))

    def _version(
        self, groups: GroupType, type_: ResourceType, path: Sequence[str]
    ) -> Version | None:
        place = Place(groups.plural, path[1], type_.plural, path[3])
        resource = self.session.resource(place.key)
        if resource is None or resource.id != path[3]:
            return None
        if len(path) == _RESOURCE_STEPS:
            return resource.latest
        found = self.session.version(f"{place.key}/{folded(path[5])}")
        return found if found is not None and found.id == path[5] else None

    def _target(
        self,
        type_: ResourceType,
        path: Sequence[str],
        version: Version,
        rest: tuple[Sequence[str], str],
    ) -> Target:
        plural = self._type(path[0]).plural
        place = f"{key(plural, path[1], type_.plural, path[3])}/{folded(version.id)}"
        content = b"" if kinds.rules(type_).flat else self.session.content(place)
        value: dict[str, object] = {"id": path[-1], **version.attributes}
        if version.shape is not Shape.NONE:
            value[type_.singular] = shown(version, content)
        if version.uri:
            value[f"{type_.singular}Uri"] = version.uri
        address = "/".join((plural, *path[1:]))
        names, record = rest
        if names:
            return Target(point(value, names), "value", address)
        format_ = str(version.attributes.get("format", ""))
        return Target(value, type_.singular, address, record, format_, content)


def _within(target: Target, suffix: str) -> Target:
    """Return the part of a document that a suffix chooses: a name, a JSON pointer or an XPath."""
    if not suffix.startswith("/"):
        return msgspec.structs.replace(target, record=suffix)
    found = _XPATH.fullmatch(suffix)
    if target.format.startswith("XSD/") and found:
        return msgspec.structs.replace(target, record=found[1])
    document = target.value.get(target.kind) if isinstance(target.value, dict) else None
    if not isinstance(document, dict | list):
        raise Missing(f"{suffix!r} is no way into this document")
    return Target(point(document, pointer(quote(suffix))), "value", target.address)


def shown(version: Version, content: bytes) -> object:
    """Return a document as a value inside JSON; bytes that are no text have another place."""
    if version.shape is Shape.JSON:
        return msgspec.json.decode(content)
    return content.decode() if version.shape is Shape.TEXT else None
