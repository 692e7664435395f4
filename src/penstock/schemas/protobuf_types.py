"""The messages and enums of a compiled Protobuf document, by their full names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from google.protobuf.descriptor_pb2 import (
    DescriptorProto,
    EnumDescriptorProto,
    FieldDescriptorProto,
    FileDescriptorProto,
)


@dataclass(frozen=True)
class Types:
    """Finds what a field's type name refers to."""

    files: tuple[FileDescriptorProto, ...]

    @property
    def package(self) -> str:
        """Return the package of the document itself."""
        return self.files[-1].package

    @property
    def is_open(self) -> bool:
        """Tell whether enums keep values that they do not know."""
        return self.files[-1].syntax == "proto3"

    @cached_property
    def own(self) -> Mapping[str, DescriptorProto]:
        """Return the messages that the document itself declares, nested ones included."""
        return {
            name: message
            for name, message in _messages(self.files[-1])
            if not message.options.map_entry
        }

    @cached_property
    def messages(self) -> Mapping[str, DescriptorProto]:
        """Return all messages, imported ones and map entries included."""
        return {name: one for file in self.files for name, one in _messages(file)}

    @cached_property
    def enums(self) -> Mapping[str, EnumDescriptorProto]:
        """Return all enums."""
        return {name: one for file in self.files for name, one in _enums(file)}

    @cached_property
    def extensions(self) -> Mapping[tuple[str, int], FieldDescriptorProto]:
        """Return the extension fields of the document, by extended message and number."""
        file = self.files[-1]
        nested = [one for _, message in _messages(file) for one in message.extension]
        return {(one.extendee[1:], one.number): one for one in (*file.extension, *nested)}

    def local(self, name: str) -> str:
        """Return a full name without the package of the document."""
        return name.removeprefix(f"{self.package}.") if self.package else name


def _messages(file: FileDescriptorProto) -> Iterator[tuple[str, DescriptorProto]]:
    waiting = [(_joined(file.package, one.name), one) for one in reversed(file.message_type)]
    while waiting:
        name, message = waiting.pop()
        yield name, message
        waiting += [(f"{name}.{one.name}", one) for one in reversed(message.nested_type)]


def _enums(file: FileDescriptorProto) -> Iterator[tuple[str, EnumDescriptorProto]]:
    yield from ((_joined(file.package, one.name), one) for one in file.enum_type)
    for name, message in _messages(file):
        yield from ((f"{name}.{one.name}", one) for one in message.enum_type)


def _joined(package: str, name: str) -> str:
    return f"{package}.{name}" if package else name
