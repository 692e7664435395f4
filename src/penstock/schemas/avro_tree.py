"""Avro schemas as a tree: one class per kind of type, names resolved through a table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from penstock.schemas.document import Json

PRIMITIVES = frozenset(
    {"null", "boolean", "int", "long", "float", "double", "bytes", "string"},
)


class _Missing:
    """The default of a field that has none; `None` is a default of its own."""


MISSING = _Missing()


@dataclass(frozen=True, slots=True)
class Logical:
    """The annotation of a type that means more than its bytes, such as a decimal."""

    name: str
    precision: int = 0
    scale: int = 0


@dataclass(frozen=True, slots=True)
class Primitive:
    """One of the eight types without parts."""

    kind: str
    logical: Logical | None = None


@dataclass(frozen=True, slots=True)
class Array:
    """Any number of values of one type."""

    items: Type


@dataclass(frozen=True, slots=True)
class Map:
    """Any number of values of one type, each under a string."""

    values: Type


@dataclass(frozen=True, slots=True)
class Union:
    """A value of one of several types."""

    branches: tuple[Type, ...]


@dataclass(frozen=True, slots=True)
class Reference:
    """A named type, by its full name."""

    name: str


@dataclass(frozen=True, slots=True)
class Field:
    """A part of a record."""

    name: str
    type: Type
    default: Json | _Missing = MISSING
    aliases: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Record:
    """A named list of fields."""

    name: str
    fields: tuple[Field, ...] = ()
    aliases: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Enum:
    """A named set of symbols."""

    name: str
    symbols: tuple[str, ...] = ()
    default: str | None = None
    aliases: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Fixed:
    """A named number of bytes."""

    name: str
    size: int = 0
    logical: Logical | None = None
    aliases: tuple[str, ...] = ()


Named = Record | Enum | Fixed
Type = Primitive | Array | Map | Union | Reference | Record | Enum | Fixed


@dataclass(frozen=True, slots=True)
class Tree:
    """One schema document: its type, and the table of all named types in it."""

    root: Type
    named: Mapping[str, Named] = field(default_factory=dict)

    def resolved(self, type_: Type) -> Type:
        """Return what a reference refers to, any other type itself."""
        return self.named[type_.name] if isinstance(type_, Reference) else type_


def kind_of(type_: Type) -> str:
    """Return the word that the Avro specification has for a type."""
    match type_:
        case Primitive(kind=kind):
            return kind
        case Reference(name=name):
            return name
    return type(type_).__name__.lower()
