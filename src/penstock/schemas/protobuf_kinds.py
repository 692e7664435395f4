"""What becomes of a field's value when its type changes, on the wire (Protobuf, Updating)."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum, auto

from google.protobuf.descriptor_pb2 import FieldDescriptorProto

_NAMES: Mapping[int, str] = {
    number: name.removeprefix("TYPE_").lower() for name, number in FieldDescriptorProto.Type.items()
}
# Every value of the first is the same value in the second.
_LOSSLESS: Mapping[str, frozenset[str]] = {
    "bool": frozenset({"int32", "int64", "uint32", "uint64"}),
    "enum": frozenset({"int32", "int64"}),
    "int32": frozenset({"int64"}),
    "uint32": frozenset({"int64", "uint64"}),
    "sint32": frozenset({"sint64"}),
    "string": frozenset({"bytes"}),
}
# The same bytes, but not always the same value.
_GROUPS = (
    frozenset({"bool", "enum", "int32", "int64", "uint32", "uint64"}),
    frozenset({"sint32", "sint64"}),
    frozenset({"fixed32", "sfixed32"}),
    frozenset({"fixed64", "sfixed64"}),
    frozenset({"string", "bytes", "message"}),
)


class Change(StrEnum):
    """What a change of type does to old values."""

    NONE = auto()
    LOSSLESS = auto()
    LOSSY = auto()
    BROKEN = auto()


def kind(field: FieldDescriptorProto) -> str:
    """Return the word for a field's type."""
    return _NAMES[field.type]


def change(new: FieldDescriptorProto, old: FieldDescriptorProto) -> Change:
    """Return what the change from one type to another does."""
    before, after = kind(old), kind(new)
    if before == after:
        return Change.NONE
    if after in _LOSSLESS.get(before, ()):
        return Change.LOSSLESS
    if any({before, after} <= group for group in _GROUPS):
        return Change.LOSSY
    return Change.BROKEN
