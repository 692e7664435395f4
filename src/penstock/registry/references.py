"""References between objects: JSON pointers, deep links, and suffixes that choose a record."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol
from urllib.parse import quote, unquote

import msgspec

from penstock.registry.faults import refusal


class Missing(Exception):  # noqa: N818 - never leaves the room
    """A reference leads nowhere; the message says at which step."""


class Circle(Missing):
    """A reference leads back to itself."""


class Target(msgspec.Struct, frozen=True):
    """What a reference leads to: an object as JSON, and the record it chooses in it."""

    value: object
    kind: str
    """`group`, `definition`, `schema` or another singular name, or `value` for a part of one."""
    address: str
    record: str = ""
    format: str = ""
    content: bytes = b""


class References(Protocol):
    """Finds what references of this registry lead to."""

    def find(self, reference: str, base: str) -> Target | None:
        """Return the target of a local reference, None for a foreign one, or raise Missing."""
        ...

    def origin(self, reference: str, base: str) -> Target | None:
        """Return the definition at the end of a chain of borrowed ones, or raise Missing."""
        ...


def is_inside(reference: str, base: str) -> bool:
    """Say whether a reference leads into this registry or this document."""
    if reference.startswith("#"):
        return True
    return bool(base) and (reference == base or reference.startswith((f"{base}/", f"{base}#")))


def steps(reference: str, base: str) -> tuple[list[str], str]:
    """Return the names a local reference passes, and the suffix a link has behind its fragment."""
    if reference.startswith("#"):
        # A slash inside an id is escaped, so this one starts a path into the document.
        names, slash, path = unquote(reference[1:]).partition(":/")
        return pointer(quote(names)), f"/{path}" if slash else ""
    link, _, fragment = reference.removeprefix(base).partition("#")
    found = [unquote(name) for name in link.partition("?")[0].strip("/").split("/") if name]
    return (found, unquote(fragment)) if found else (pointer(fragment), "")


def pointer(fragment: str) -> list[str]:
    """Return the names of a JSON pointer in a fragment (RFC 6901 6)."""
    text = unquote(fragment)
    if text and not text.startswith("/"):
        raise Missing(f"{text!r} is not a JSON pointer: it starts with a slash")
    return [name.replace("~1", "/").replace("~0", "~") for name in text.split("/")[1:]]


def point(document: object, names: Sequence[str]) -> object:
    """Return the part of a document behind some names, or raise Missing."""
    here = document
    for number, name in enumerate(names):
        if isinstance(here, Mapping) and name in here:
            here = here[name]
        elif isinstance(here, list) and name.isdecimal() and int(name) < len(here):
            here = here[int(name)]
        else:
            raise Missing(f"there is no {name!r} in {'/'.join(names[:number]) or 'the document'}")
    return here


def resolve(document: object, fragment: str) -> object:
    """Return what a fragment of a file's address chooses, or raise ResourceError."""
    try:
        return point(document, pointer(fragment))
    except Missing as exc:
        raise refusal(f"#{fragment}", str(exc)) from exc
