"""What is kept of a registry: groups, resources and versions, and where they lie in the store."""

from __future__ import annotations

import enum
import re
from collections.abc import Mapping
from urllib.parse import quote

import msgspec

GROUP = "registry.group"
RESOURCE = "registry.resource"
VERSION = "registry.version"
CONTENT = "registry.content"
KINDS = (GROUP, RESOURCE, VERSION, CONTENT)
# What needs no quoting, as most ids do not: looking is faster than quoting.
_PLAIN = re.compile(r"[A-Za-z0-9._~-]+")
_SMALL = 4096
MOST_CHARACTERS = 120
"""Three ids and two types make a key, which has room for 400."""


class Shape(enum.StrEnum):
    """How a document shows inside JSON."""

    NONE = "none"
    JSON = "json"
    TEXT = "text"
    BYTES = "bytes"


class Group(msgspec.Struct, frozen=True):
    """A group without its resources."""

    id: str
    attributes: Mapping[str, object]
    epoch: int
    created: str
    modified: str


class Version(msgspec.Struct, frozen=True):
    """A version of a resource without its document."""

    id: str
    attributes: Mapping[str, object]
    epoch: int
    created: str
    modified: str
    uri: str = ""
    """Where the document is, when it is kept elsewhere."""
    media_type: str = ""
    shape: Shape = Shape.NONE


class Place(msgspec.Struct, frozen=True):
    """The address of a resource below the registry, in the spelling of model and ids."""

    groups: str
    group: str
    resources: str
    resource: str

    @property
    def path(self) -> str:
        names = (self.groups, self.group, self.resources, self.resource)
        return "/" + "/".join(map(segment, names))

    @property
    def key(self) -> str:
        return key(self.groups, self.group, self.resources, self.resource)

    @property
    def above(self) -> str:
        """The key of the group."""
        return key(self.groups, self.group)


class Resource(msgspec.Struct, frozen=True, omit_defaults=True):
    """A resource with the ids of its versions, oldest first, and a copy of the latest."""

    place: Place
    singular: str
    versions: tuple[str, ...]
    latest: Version
    small: bytes = b""
    """A copy of the latest document, if it is small: then one read serves it."""

    @property
    def id(self) -> str:
        return self.place.resource


def resource(
    place: Place, singular: str, versions: tuple[str, ...], latest: tuple[Version, bytes]
) -> Resource:
    """Return a resource whose latest version has a document."""
    version, content = latest
    return Resource(place, singular, versions, version, content if len(content) <= _SMALL else b"")


def segment(text: str) -> str:
    """Return an id as a part of a URL."""
    if _PLAIN.fullmatch(text):
        return text
    return quote(text, safe="!$&'()*+,;=:@")


def folded(text: str) -> str:
    """Return an id as a part of a key: ids that differ only by case are the same there."""
    return text.casefold().replace("%", "%25").replace("/", "%2f")


def key(*names: str) -> str:
    return "/".join(map(folded, names))


def ordered(ids: tuple[str, ...]) -> tuple[str, ...]:
    """Return version ids from the lowest to the highest (Registry Service, Resource: schemas)."""
    width = max(map(len, ids), default=0)
    return tuple(sorted(ids, key=lambda each: (each.rjust(width), each)))


def next_id(ids: tuple[str, ...]) -> str:
    """Return the smallest number that sorts above all ids."""
    highest = ordered(ids)[-1] if ids else "0"
    for at in reversed(range(len(highest))):
        start = highest[:at]
        if start and (not start.isdecimal() or not start.isascii() or start[0] == "0"):
            continue
        digits = "0123456789" if start else "123456789"
        raised = next((each for each in digits if each > highest[at]), None)
        if raised:
            return f"{start}{raised}{'0' * (len(highest) - at - 1)}"
    return f"1{'0' * len(highest)}"
