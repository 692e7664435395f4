"""Schemas: check data with them, and compare their versions, in the formats of the registry."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from functools import cache, lru_cache
from importlib.metadata import EntryPoint, entry_points

from penstock.errors import UnsupportedError
from penstock.schemas.base import FormatFamily, Schema, SchemaFormat, Undecided, refuse

__all__ = [
    "FORMATS",
    "FormatFamily",
    "Schema",
    "SchemaFormat",
    "Undecided",
    "formats",
    "schema_format",
]

FORMATS: Mapping[str, str] = {
    "Avro": "penstock.schemas.avro:AvroFormat",
    "JsonSchema": "penstock.schemas.jsonschema:JsonSchemaFormat",
    "Protobuf": "penstock.schemas.protobuf:ProtobufFormat",
    "XSD": "penstock.schemas.xsd:XsdFormat",
}


@lru_cache(maxsize=64)
def schema_format(name: str) -> SchemaFormat:
    """Return the schema format of a name like `Avro/1.9`; letters match in either case.

    A name that is not `{NAME}/{VERSION}` raises ResourceError; one that is legal but that
    nobody has implemented raises UnsupportedError, and its documents can only be kept unchecked.
    """
    family, _, version = name.partition("/")
    if not family or not version:
        raise refuse("format", f"{name!r} is not a schema format: write NAME/VERSION")
    known = {found.lower(): found for found in formats()}.get(family.lower())
    if known is None:
        raise UnsupportedError(f"the schema format {name!r} is not known here", what=name)
    return _family(known)(version)


@cache
def formats() -> Mapping[str, str]:
    """Return every format name, installed ones included, as `name → "module:Class"`."""
    return {name: entry.value for name, entry in _strangers().items()} | dict(FORMATS)


@cache
def _family(name: str) -> FormatFamily:
    target = FORMATS.get(name)
    if target is None:
        return _strangers()[name].load()  # type: ignore[no-any-return]
    module, _, attribute = target.partition(":")
    return getattr(importlib.import_module(module), attribute)  # type: ignore[no-any-return]


@cache
def _strangers() -> Mapping[str, EntryPoint]:
    return {entry.name: entry for entry in entry_points(group="penstock.schemas")}
