"""Schemas that definitions and events name, compiled to check the data of events."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import msgspec

from penstock.errors import Problem, ResourceError, UnsupportedError
from penstock.events import CloudEvent
from penstock.registry.checking import inside
from penstock.registry.references import Missing, References, Target, is_inside
from penstock.schemas import Schema, schema_format

_HOPS = 8


@dataclass(frozen=True, slots=True)
class Source:
    """A schema document, and which part of it is meant."""

    format: str
    content: bytes
    record: str | None
    address: str
    """Where it is in the registry."""


@dataclass(frozen=True, slots=True)
class DataCheck:
    """A schema that is ready, or the reason why there is none."""

    source: Source | None = None
    schema: Schema | None = None
    reason: str = ""

    def problems(self, event: CloudEvent) -> tuple[Problem, ...]:
        """Return what is wrong with the data of an event."""
        if self.schema is None or self.source is None:
            return ()
        if event.data is None:
            return (Problem("data", "is missing, and there is a schema for it"),)
        found = self.schema.problems(event.data, event.datacontenttype, self.source.record)
        return tuple(inside("data", each) for each in found) if found else ()

    def in_version(self, other: DataCheck) -> DataCheck | None:
        """Return the other check where that is for a version of the schema of this one.

        Data in Avro, for one, can only be read with the version that it was written with.
        """
        mine, its = self.source, other.source
        if mine is None or its is None:
            return None
        if its.address != mine.address and not its.address.startswith(f"{mine.address}/version"):
            return None
        if its.record is not None or mine.record is None:
            return other if its.record == mine.record else None
        return replace(other, source=replace(its, record=mine.record))


UNCHECKED = DataCheck()


def of_definition(
    definition: Mapping[str, object], address: str, references: References, base: str
) -> DataCheck:
    """Return the check of the schema that a definition has or refers to."""
    try:
        source = _schema_of(definition, address, references, base)
    except Missing as exc:
        return DataCheck(reason=f"its schemaurl leads nowhere: {exc}")
    if isinstance(source, str):
        return DataCheck(reason=source)
    return UNCHECKED if source is None else _compiled(source)


def of_reference(reference: str, references: References, base: str) -> DataCheck | None:
    """Return the check of what `dataschema` of an event leads to; None where that is elsewhere.

    Missing is raised where it leads into this registry, but to nothing.
    """
    if not is_inside(reference, base):
        return None
    source = _referred(reference, references, base, ("", _HOPS))
    return DataCheck(reason=source) if isinstance(source, str) else _compiled(source)


def _schema_of(
    definition: Mapping[str, object],
    address: str,
    references: References,
    base: str,
    hops: int = _HOPS,
) -> Source | str | None:
    format_ = str(definition.get("schemaformat", ""))
    if "schema" in definition:
        return Source(format_, _bytes(definition["schema"]), None, address)
    reference = definition.get("schemaurl")
    if not isinstance(reference, str):
        return None
    if not is_inside(reference, base):
        return f"its schema is kept elsewhere: {reference}"
    return _referred(reference, references, base, (format_, hops))


def _referred(
    reference: str, references: References, base: str, rest: tuple[str, int]
) -> Source | str:
    """Return the schema behind a reference into the registry, or why it cannot be used."""
    format_, hops = rest
    target = _part(reference, references, base) or references.find(reference, base)
    if target is None or hops == 0:
        return f"{reference} leads too far"
    if target.kind == "definition" and isinstance(target.value, Mapping):
        found = _schema_of(target.value, target.address, references, base, hops - 1)
        return found or f"the definition {target.address} has no schema"
    if target.kind == "schema":
        return _held(target)
    if target.kind != "value":
        return f"{reference} leads to a {target.kind}, not to a schema"
    return Source(format_, _bytes(target.value), None, target.address)


def _held(target: Target) -> Source | str:
    if target.content:
        return Source(target.format, target.content, target.record or None, target.address)
    elsewhere = target.value.get("schemaUri") if isinstance(target.value, Mapping) else None
    return f"its schema is kept elsewhere: {elsewhere or target.address}"


def _part(reference: str, references: References, base: str) -> Target | None:
    """Return a JSON Schema of which a pointer chooses a part, so that the rest stays in reach."""
    if reference.startswith("#"):
        whole, _, pointer = reference.rpartition("/schema/")
    else:
        whole, _, pointer = reference.partition("#/")
    if not whole or not pointer:
        return None
    try:
        target = references.find(whole, base)
    except Missing:
        return None
    if target is None or target.kind != "schema" or not target.format.startswith("JsonSchema/"):
        return None
    return msgspec.structs.replace(target, record=f"#/{pointer}")


def _compiled(source: Source) -> DataCheck:
    try:
        return DataCheck(source, schema_format(source.format).parse(source.content))
    except UnsupportedError as exc:
        return DataCheck(source, reason=str(exc))
    except ResourceError as exc:
        return DataCheck(source, reason=f"its schema cannot be used: {exc.problems[0]}")


def _bytes(schema: object) -> bytes:
    return schema.encode() if isinstance(schema, str) else msgspec.json.encode(schema)
