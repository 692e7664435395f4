"""Whether data written with one Protobuf document can be read with another, on the wire."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

from google.protobuf.descriptor_pb2 import (
    DescriptorProto,
    EnumDescriptorProto,
    FieldDescriptorProto,
)

from penstock.errors import Problem
from penstock.schemas.base import Undecided
from penstock.schemas.protobuf_kinds import Change, change, kind
from penstock.schemas.protobuf_types import Types

_REPEATED = FieldDescriptorProto.LABEL_REPEATED
_REQUIRED = FieldDescriptorProto.LABEL_REQUIRED


@dataclass(slots=True)
class Comparison:
    """Holds the messages of a new document against those of an old one; used once."""

    new: Types
    old: Types
    # A pair of messages is compared once, which also ends recursion.
    seen: set[tuple[str, str]] = field(default_factory=set)

    def problems(self) -> tuple[Problem, ...]:
        """Return what keeps readers of the new document from reading data of the old one."""
        return tuple(dict.fromkeys(self._problems()))

    def _problems(self) -> Iterator[Problem]:
        if self.old.is_open and not self.new.is_open:
            message = "proto3 became proto2, whose enums drop values that they do not know"
            yield Undecided("syntax", message)
        if self.new.package != self.old.package:
            message = f"the package changed from {self.old.package!r} to {self.new.package!r}"
            yield Problem("package", f"{message}, so messages are not found by their names")
            return
        for name in self.old.own:
            if name in self.new.own:
                yield from self._messages(name, name)
            else:
                yield Problem(name, "the message is gone")
        yield from self._extensions()

    def _extensions(self) -> Iterator[Problem]:
        for (extended, number), before in self.old.extensions.items():
            path = f"{extended}.({before.name})"
            after = self.new.extensions.get((extended, number))
            if after is None:
                yield Problem(path, f"the extension with number {number} is gone")
            else:
                yield from self._field(after, before, path)

    def _messages(self, new_name: str, old_name: str) -> Iterator[Problem]:
        if (new_name, old_name) in self.seen:
            return
        self.seen.add((new_name, old_name))
        new, old = self.new.messages[new_name], self.old.messages[old_name]
        fields = {one.number: one for one in new.field}
        for before in old.field:
            path = f"{old_name}.{before.name}"
            if before.number in fields:
                yield from self._field(fields[before.number], before, path)
            elif not _is_reserved(new, before.number):
                message = f"the field is gone; write 'reserved {before.number};' so that its number"
                yield Problem(path, f"{message} is not used again")
        yield from _added(new, old, new_name)
        yield from _oneofs(new, old, new_name)
        yield from _ranges(new, old, new_name)

    def _field(
        self, new: FieldDescriptorProto, old: FieldDescriptorProto, path: str
    ) -> Iterator[Problem]:
        yield from _labels(new, old, path)
        match change(new, old):
            case Change.BROKEN:
                message = f"the type of number {old.number} changed from {kind(old)} to {kind(new)}"
                yield Problem(path, f"{message}, which has another form on the wire")
            case Change.LOSSY:
                message = f"{kind(old)} became {kind(new)}: the bytes can be read"
                yield Undecided(path, f"{message}, but not every value stays what it was")
            case Change.NONE:
                yield from self._types(new, old, path)

    def _types(
        self, new: FieldDescriptorProto, old: FieldDescriptorProto, path: str
    ) -> Iterator[Problem]:
        after, before = new.type_name[1:], old.type_name[1:]
        if kind(old) in {"message", "group"}:
            if self._is_map(self.new, after) and not self._is_map(self.old, before):
                yield Undecided(path, "a list became a map, which keeps one entry for each key")
            yield from self._messages(after, before)
        elif kind(old) == "enum":
            yield from self._enums(self.new.enums[after], self.old.enums[before], path)
        if (new.default_value, new.HasField("default_value")) != (
            old.default_value,
            old.HasField("default_value"),
        ):
            yield Undecided(path, "the default changed, and with it what an absent field means")

    def _is_map(self, types: Types, name: str) -> bool:
        return types.messages[name].options.map_entry

    def _enums(
        self, new: EnumDescriptorProto, old: EnumDescriptorProto, path: str
    ) -> Iterator[Problem]:
        known = {one.number for one in new.value}
        for value in old.value:
            if value.number in known:
                continue
            message = f"the value {value.name} = {value.number} of {old.name} is gone"
            is_reserved = any(one.start <= value.number <= one.end for one in new.reserved_range)
            if is_reserved and self.new.is_open:
                yield Undecided(path, f"{message}; readers see its number only")
            else:
                yield Problem(path, message)
        if new.value[0].number != old.value[0].number:
            yield Undecided(path, f"the first value of {old.name}, its default, is another now")


def _labels(new: FieldDescriptorProto, old: FieldDescriptorProto, path: str) -> Iterator[Problem]:
    if old.label == _REPEATED and new.label != _REPEATED:
        yield Problem(path, "a repeated field became a single one, so values are lost")
    if new.label == _REQUIRED and old.label != _REQUIRED:
        yield Problem(path, "the field is required now, and old data may lack it")


def _added(new: DescriptorProto, old: DescriptorProto, name: str) -> Iterator[Problem]:
    known = {one.number for one in old.field}
    for one in new.field:
        path = f"{name}.{one.name}"
        if one.number not in known and one.label == _REQUIRED:
            yield Problem(path, "the field is new and required, so old data lacks it")
        if one.number not in known and _is_reserved(old, one.number):
            yield Problem(path, f"the number {one.number} is used again although it was reserved")


def _oneofs(new: DescriptorProto, old: DescriptorProto, name: str) -> Iterator[Problem]:
    before = {one.number: one for one in old.field}
    groups: defaultdict[int, list[FieldDescriptorProto]] = defaultdict(list)
    for one in new.field:
        if _is_choice(one) and one.number in before:
            groups[one.oneof_index].append(before[one.number])
    for index, fields in groups.items():
        homes = {one.oneof_index if _is_choice(one) else -one.number for one in fields}
        if len(fields) > 1 and (len(homes) > 1 or min(homes) < 0):
            listed = ", ".join(one.name for one in fields)
            message = f"only one of {listed} survives now, where old data may have several"
            yield Problem(f"{name}.{new.oneof_decl[index].name}", message)


def _is_choice(one: FieldDescriptorProto) -> bool:
    # An optional field of proto3 is the only member of a oneof that nobody wrote.
    return one.HasField("oneof_index") and not one.proto3_optional


def _ranges(new: DescriptorProto, old: DescriptorProto, name: str) -> Iterator[Problem]:
    for span in old.extension_range:
        for one in new.field:
            if span.start <= one.number < span.end:
                message = f"the number {one.number} was left to extensions"
                yield Problem(f"{name}.{one.name}", message)


def _is_reserved(message: DescriptorProto, number: int) -> bool:
    return any(one.start <= number < one.end for one in message.reserved_range)
