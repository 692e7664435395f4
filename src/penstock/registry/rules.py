"""What versions and groups must be like, by type: those of users have few rules."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

import msgspec

from penstock.errors import Problem
from penstock.registry import formats
from penstock.registry.checking import Checker
from penstock.registry.entities import Shape
from penstock.registry.faults import Faults, within
from penstock.registry.references import References

MEDIA_TYPE = "penstockMediaType"
"""The attribute by which a file tells the media type of a document that is not the usual one."""
_TEXT = "text/plain"
_JSON = "application/json"


class Draft(msgspec.Struct, frozen=True):
    """A version as it is proposed."""

    attributes: Mapping[str, object]
    content: bytes = b""
    uri: str = ""
    media_type: str = ""
    shape: Shape = Shape.NONE


@dataclass(slots=True)
class Around:
    """What is known where a draft is to be placed, and how strictly it is looked at."""

    checker: Checker
    references: References
    base: str = ""
    """The address of this registry as the client knows it."""
    path: str = ""
    """Where the draft is in the document that is read, for problems."""
    group_format: str | None = None
    formats: tuple[str, ...] = ()
    """The formats of the other versions."""
    lenient: bool = False
    """Whether what cannot be decided, parsed or found is only warned of."""
    warnings: list[Problem] = field(default_factory=list)

    def warn(self, path: str, message: str) -> None:
        self.warnings.append(Problem(path, message))

    def doubt(self, faults: Faults, path: str, message: str) -> None:
        """Refuse for a reason that a request may ask to overlook."""
        if self.lenient:
            self.warn(path, message)
        else:
            faults.add(path, message)


class Rules(Protocol):
    """The rules of one type of resources."""

    @property
    def known(self) -> tuple[str, ...]:
        """Attributes with a defined spelling."""
        ...

    @property
    def flat(self) -> tuple[str, ...]:
        """Attributes that are the document itself; none where documents are opaque."""
        ...

    def settled(self, draft: Draft, around: Around, faults: Faults) -> Draft:
        """Return the draft as it is kept."""
        ...


class Plain:
    """Documents of any kind."""

    known: tuple[str, ...] = ("format",)
    flat: tuple[str, ...] = ()

    def settled(self, draft: Draft, around: Around, faults: Faults) -> Draft:
        """Return the draft as it is kept."""
        path = within(around.path, "format")
        if "format" in draft.attributes:
            found = formats.read_loose(faults, draft.attributes["format"], path, ())
            consistent(faults, found or "", path, around)
        return shaped(checked_uri(faults, draft, around), draft.media_type or _guessed(draft))


def consistent(faults: Faults, format: str, path: str, around: Around) -> None:  # noqa: A002
    """The format is what the group allows, and of the same name as that of other versions."""
    parent = around.group_format
    if parent and not formats.fits(format, parent):
        faults.add(path, f"must fit the format of the group, {parent}")
    other = next((each for each in around.formats if not _akin(each, format)), None)
    if other is not None:
        faults.add(path, f"must be of the same kind as {other}, the format of another version")


def checked_uri(faults: Faults, draft: Draft, around: Around) -> Draft:
    """A document is here or elsewhere, not both."""
    if draft.uri and draft.content:
        faults.add(around.path, "has a document and the address of one: give one of them")
    if draft.uri:
        faults.reference(draft.uri, within(around.path, "uri"))
    return draft


def shaped(draft: Draft, media_type: str) -> Draft:
    """Return the draft with its media type, and how it shows inside JSON."""
    if not draft.content:
        return msgspec.structs.replace(draft, media_type="", shape=Shape.NONE)
    return msgspec.structs.replace(
        draft, media_type=media_type, shape=_shape(draft.content, media_type)
    )


def is_json(content: bytes) -> bool:
    try:
        msgspec.json.decode(content)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return False
    return True


def is_json_type(media_type: str) -> bool:
    plain = media_type.partition(";")[0].strip().lower()
    return plain == _JSON or plain.endswith("+json")


def _shape(content: bytes, media_type: str) -> Shape:
    if is_json_type(media_type) and is_json(content):
        return Shape.JSON
    try:
        content.decode()
    except UnicodeDecodeError:
        return Shape.BYTES
    return Shape.TEXT


def _guessed(draft: Draft) -> str:
    if is_json(draft.content):
        return _JSON
    return _TEXT if _shape(draft.content, "") is Shape.TEXT else "application/octet-stream"


def _akin(one: str, other: str) -> bool:
    return formats.name_of(one).casefold() == formats.name_of(other).casefold()
