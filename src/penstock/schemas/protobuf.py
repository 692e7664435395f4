"""Protobuf schemas, syntax 2 and 3."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

from google.protobuf import json_format
from google.protobuf.descriptor_pb2 import FileDescriptorProto
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message import DecodeError, Message
from google.protobuf.message_factory import GetMessageClass

from penstock.errors import Problem, ResourceError, UnsupportedError
from penstock.schemas.base import MOST_PROBLEMS, Schema, chosen, is_json, media_type_of, refuse
from penstock.schemas.document import read_data
from penstock.schemas.protobuf_compare import Comparison
from penstock.schemas.protobuf_types import Types
from penstock.schemas.protoc import compiled

MEDIA_TYPE = "application/protobuf"
_BINARY = {
    *(MEDIA_TYPE, "application/x-protobuf", "application/vnd.google.protobuf"),
    "application/octet-stream",
}
_VERSION = re.compile(r"([23])(\.[0-9]+)*", re.ASCII)
_LONGEST_MESSAGE = 300


@dataclass(frozen=True, eq=False)
class ProtobufSchema:
    """A Protobuf document, compiled; checks data in the binary and in the JSON encoding."""

    format: str
    files: tuple[FileDescriptorProto, ...]

    @cached_property
    def types(self) -> Types:
        """Return the messages and enums of the document and of what it imports."""
        return Types(self.files)

    @property
    def records(self) -> tuple[str, ...]:
        return tuple(self.types.own)

    @cached_property
    def _classes(self) -> dict[str | None, type[Message]]:
        # Holds names that were found only, so it grows no larger than the document.
        return {}

    @cached_property
    def pool(self) -> DescriptorPool:
        """Return a pool of descriptors that knows this document only."""
        pool = DescriptorPool()
        for file in self.files:
            pool.AddSerializedFile(file.SerializeToString())
        return pool

    def problems(
        self, data: bytes, content_type: str | None = None, record: str | None = None
    ) -> tuple[Problem, ...]:
        """Return what is wrong with the data; fields that nobody knows are let pass."""
        media_type = media_type_of(content_type, MEDIA_TYPE)
        try:
            return self._read(self._message(record), data, media_type)
        except ResourceError as error:
            return error.problems

    def _read(self, message: Message, data: bytes, media_type: str) -> tuple[Problem, ...]:
        if is_json(media_type):
            self._read_json(message, data)
        elif media_type in _BINARY:
            try:
                message.MergeFromString(data)
            except DecodeError as exc:
                raise refuse("", f"the data is no {message.DESCRIPTOR.full_name}: {exc}") from exc
        else:
            raise refuse("", f"{media_type!r} is not a content type of Protobuf data")
        # Part of every message class, though the interface does not name it.
        missing: list[str] = message.FindInitializationErrors()  # type: ignore[attr-defined]
        return tuple(Problem(path, "the field is required") for path in missing[:MOST_PROBLEMS])

    def _message(self, record: str | None) -> Message:
        if record not in self._classes:
            own = self.types.own
            # Nested messages are parts of others; they count only when they are named.
            top = [name for name in own if "." not in self.types.local(name)]
            name = chosen({one: one for one in (own if record else top)}, record, "message")
            found = GetMessageClass(self.pool.FindMessageTypeByName(name))
            self._classes[record] = found
        return self._classes[record]()

    def _read_json(self, message: Message, data: bytes) -> None:
        value = read_data(data)
        if not isinstance(value, dict):
            raise refuse("", "the JSON form of a message must be an object")
        try:
            json_format.ParseDict(value, message, descriptor_pool=self.pool)
        # The reader trusts some values to have the shape that their type wants.
        except (json_format.Error, ValueError, TypeError, AttributeError, KeyError) as exc:
            raise refuse("", f"{exc!s:.{_LONGEST_MESSAGE}}") from exc
        except (RecursionError, OverflowError) as exc:
            raise refuse("", "the data is nested too deeply or has too large numbers") from exc


@dataclass(frozen=True, slots=True)
class ProtobufFormat:
    """The schemas of one syntax version."""

    version: str

    def __post_init__(self) -> None:
        if not _VERSION.fullmatch(self.version):
            message = f"the Protobuf syntax version {self.version!r} is neither 2 nor 3"
            raise UnsupportedError(message, what=self.name)

    @property
    def name(self) -> str:
        return f"Protobuf/{self.version[0]}"

    @property
    def media_type(self) -> str:
        return MEDIA_TYPE

    def parse(self, document: object) -> ProtobufSchema:
        """Return the schema of a document, or raise ResourceError with every fault."""
        files = compiled(document)
        syntax = files[-1].syntax or "proto2"
        if syntax != f"proto{self.version[0]}":
            raise refuse("syntax", f"the format says proto{self.version[0]}, the document {syntax}")
        schema = ProtobufSchema(self.name, files)
        try:
            _ = schema.pool
        except TypeError as exc:
            raise refuse("", f"the schema cannot be used: {exc!s:.{_LONGEST_MESSAGE}}") from exc
        return schema

    def incompatibilities(self, new: Schema, old: Schema) -> tuple[Problem, ...]:
        """Return what keeps readers of the new schema from reading data of the old one."""
        if not isinstance(new, ProtobufSchema) or not isinstance(old, ProtobufSchema):
            raise refuse("format", f"{new.format} and {old.format} cannot be compared")
        return Comparison(new.types, old.types).problems()
