"""What a schema format does: read schemas, check data with them, compare their versions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol, TypeVar

from penstock.errors import Problem, ResourceError

LARGEST = 4 * 1024 * 1024
MOST_PROBLEMS = 100

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Undecided(Problem):
    """A change of which the checker cannot tell whether it is compatible."""


class Schema(Protocol):
    """A schema document, read and compiled; immutable and safe to share between threads."""

    @property
    def format(self) -> str:
        """Return the name of its format, as the Registry specification spells it."""
        ...

    @property
    def records(self) -> tuple[str, ...]:
        """Return the names that a `:` suffix can choose; empty where the format has none."""
        ...

    def problems(
        self, data: bytes, content_type: str | None = None, record: str | None = None
    ) -> tuple[Problem, ...]:
        """Return what is wrong with the data; `record` chooses a part of the document."""
        ...


class SchemaFormat(Protocol):
    """One version of a schema format.

    `parse` raises ResourceError with all problems of the document, each with its path or line.
    `incompatibilities` holds for any two versions of the same format: it names what keeps a
    consumer with the new schema from understanding data that was written with the old one.
    """

    @property
    def name(self) -> str:
        """Return the name as the Registry specification spells it."""
        ...

    @property
    def media_type(self) -> str:
        """Return the media type of data, where nobody states one."""
        ...

    def parse(self, document: object) -> Schema: ...

    def incompatibilities(self, new: Schema, old: Schema) -> tuple[Problem, ...]: ...


class FormatFamily(Protocol):
    """What an entry point of the group `penstock.schemas` names: all versions of one format."""

    def __call__(self, version: str) -> SchemaFormat:
        """Return the format of that version, or raise UnsupportedError."""
        ...


def refuse(path: str, message: str) -> ResourceError:
    """Return the error for one problem of a document."""
    return ResourceError([Problem(path, message)])


def document_text(document: object) -> str:
    """Return a schema document of a text format, or raise ResourceError."""
    if isinstance(document, (bytes, bytearray, memoryview)):
        refuse_large(len(document))
        try:
            document = bytes(document).decode("utf-8-sig")
        except UnicodeDecodeError as exc:
            raise refuse(
                "", f"the schema is not UTF-8 text: {exc.reason}, byte {exc.start}"
            ) from exc
    if not isinstance(document, str):
        raise refuse("", "the schema must be a string")
    refuse_large(len(document))
    if any("\ud800" <= character <= "\udfff" for character in document):
        raise refuse("", "the schema has a lone surrogate, which is no text")
    return document


def refuse_large(size: int) -> None:
    """Raise ResourceError when a schema document is larger than the limit."""
    if size > LARGEST:
        raise refuse("", f"the schema is larger than {LARGEST} bytes")


def media_type_of(content_type: str | None, default: str) -> str:
    """Return the bare media type, in lower case and without parameters."""
    return (content_type or default).partition(";")[0].strip().lower()


def is_json(media_type: str) -> bool:
    """Tell whether data of that media type is JSON."""
    return media_type in {"application/json", "text/json"} or media_type.endswith("+json")


def chosen(named: Mapping[str, T], record: str | None, what: str) -> T:
    """Return the record or message that a suffix names; without one, the only one there is."""
    if record is None:
        if len(named) == 1:
            return next(iter(named.values()))
        message = f"the schema has {len(named)} {what}s; name one with a ':' suffix"
        raise refuse("", f"{message}: {', '.join(list(named)[:10])}" if named else message)
    if record in named:
        return named[record]
    short = [name for name in named if name.rpartition(".")[2] == record]
    if len(short) == 1:
        return named[short[0]]
    fault = "is ambiguous in" if short else "is not in"
    raise refuse("", f"the {what} {record!r} {fault} the schema")
