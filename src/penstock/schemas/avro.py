"""Apache Avro schemas."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from itertools import islice

from penstock.errors import Problem, ResourceError, UnsupportedError
from penstock.schemas.avro_binary import binary_problems
from penstock.schemas.avro_compare import Resolution
from penstock.schemas.avro_reader import Reader
from penstock.schemas.avro_tree import PRIMITIVES, Record, Reference, Tree, Type, Union
from penstock.schemas.avro_values import Values
from penstock.schemas.base import MOST_PROBLEMS, Schema, chosen, is_json, media_type_of, refuse
from penstock.schemas.document import read_data, read_document

MEDIA_TYPE = "application/vnd.apache.avro"
_BINARY = {MEDIA_TYPE, "application/avro", "avro/binary", "application/octet-stream"}
_VERSION = re.compile(r"[0-9]+(\.[0-9]+)*", re.ASCII)


@dataclass(frozen=True, eq=False)
class AvroSchema:
    """An Avro schema document; checks data in the binary and in the JSON encoding."""

    format: str
    tree: Tree

    @cached_property
    def records(self) -> tuple[str, ...]:
        return tuple(self._by_name)

    @cached_property
    def _by_name(self) -> dict[str, Type]:
        named = self.tree.named.items()
        return {name: Reference(name) for name, one in named if isinstance(one, Record)}

    def problems(
        self, data: bytes, content_type: str | None = None, record: str | None = None
    ) -> tuple[Problem, ...]:
        """Return what is wrong with the data, by JSON Pointer."""
        media_type = media_type_of(content_type, MEDIA_TYPE)
        try:
            type_ = self._type(record)
            if is_json(media_type):
                found = Values(self.tree).problems(type_, read_data(data))
                return tuple(islice(found, MOST_PROBLEMS))
        except ResourceError as error:
            return error.problems
        if media_type in _BINARY:
            return binary_problems(self.tree, type_, data)
        return (Problem("", f"{media_type!r} is not a content type of Avro data"),)

    def _type(self, record: str | None) -> Type:
        # A record at the top holds the others; in a union at the top they stand side by side.
        if record is None and not isinstance(self.tree.root, Union):
            return self.tree.root
        return chosen(self._by_name, record, "record")


@dataclass(frozen=True, slots=True)
class AvroFormat:
    """The schemas of one release of Apache Avro."""

    version: str

    def __post_init__(self) -> None:
        if not _VERSION.fullmatch(self.version):
            message = f"{self.version!r} is not a release of Apache Avro"
            raise UnsupportedError(message, what=self.name)

    @property
    def name(self) -> str:
        return f"Avro/{self.version}"

    @property
    def media_type(self) -> str:
        return MEDIA_TYPE

    def parse(self, document: object) -> AvroSchema:
        """Return the schema of a document, or raise ResourceError with every fault."""
        is_name = isinstance(document, str) and document in PRIMITIVES
        plain = document if is_name else read_document(document)
        version = tuple(int(part) for part in self.version.split(".")[:2])
        return AvroSchema(self.name, Reader(version).read(plain))

    def incompatibilities(self, new: Schema, old: Schema) -> tuple[Problem, ...]:
        """Return what keeps readers of the new schema from reading data of the old one."""
        if not isinstance(new, AvroSchema) or not isinstance(old, AvroSchema):
            raise refuse("format", f"{new.format} and {old.format} cannot be compared")
        return Resolution(new.tree, old.tree).problems()
