"""Message definitions: metadata, and the schema of the data (Message Definitions Registry)."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from penstock.registry import formats, metadata
from penstock.registry.faults import Faults, within
from penstock.registry.references import Missing, Target
from penstock.registry.rules import Around, Draft, is_json
from penstock.registry.schema import dialect, examined

ENTITY = ("format", "metadata", "schemaformat", "schema", "schemaurl", "uri")
"""The attributes that are the definition itself."""
_SUFFIXED = frozenset({"Avro", "Protobuf"})


class DefinitionRules:
    """The rules of message definitions."""

    known: tuple[str, ...] = ENTITY
    flat: tuple[str, ...] = ENTITY

    def settled(self, draft: Draft, around: Around, faults: Faults) -> Draft:
        """Return the draft as it is kept."""
        kept = {name: value for name, value in draft.attributes.items() if value is not None}
        target = self._borrowed(kept, around, faults)
        format_ = self._format(kept, target, around, faults)
        if format_:
            kept["format"] = format_
        self._metadata(kept, draft, around, faults)
        self._schema(kept, around, faults)
        if draft.uri:
            faults.reference(draft.uri, within(around.path, "definitionUri"))
        return msgspec.structs.replace(draft, attributes=kept, content=b"", media_type="")

    def _borrowed(
        self, kept: Mapping[str, object], around: Around, faults: Faults
    ) -> Target | None:
        if "uri" not in kept:
            return None
        path = within(around.path, "uri")
        reference = faults.reference(kept["uri"], path)
        target = found(reference or "", around, faults, path)
        if target is not None and target.kind != "definition":
            faults.add(path, f"must lead to a definition, not to a {target.kind}")
        return target

    def _format(
        self, kept: Mapping[str, object], target: Target | None, around: Around, faults: Faults
    ) -> str | None:
        path = within(around.path, "format")
        given = kept.get("format")
        if given is None:
            given = (target.format if target else "") or around.group_format
        if given is None:
            faults.add(path, "is required, like CloudEvents/1.0")
            return None
        format_ = formats.read(faults, given, path, formats.MESSAGE_FORMATS)
        for other, whose in ((around.group_format, "group"), (target and target.format, "target")):
            if format_ and other and format_ != other:
                faults.add(path, f"is {format_} and must be {other}, the format of its {whose}")
        return format_

    def _metadata(
        self, kept: dict[str, object], draft: Draft, around: Around, faults: Faults
    ) -> None:
        path = within(around.path, "metadata")
        if "metadata" not in kept:
            if "uri" not in kept and not draft.uri:
                faults.add(path, "is required")
            return
        declared = faults.mapping(kept["metadata"], path)
        format_ = kept.get("format")
        if declared is not None and isinstance(format_, str):
            kept["metadata"] = metadata.settled(faults, format_, declared, path)
            for place, message in metadata.warnings(format_, declared, path):
                around.warn(place, message)

    def _schema(self, kept: dict[str, object], around: Around, faults: Faults) -> None:
        path = around.path
        if "schemaformat" in kept:
            kept["schemaformat"] = formats.read(
                faults, kept["schemaformat"], within(path, "schemaformat"), formats.SCHEMA_FORMATS
            )
        if "schema" in kept and "schemaurl" in kept:
            faults.add(within(path, "schemaurl"), "excludes schema: give one of them")
        target = self._target(kept, around, faults) if "schemaurl" in kept else None
        if "schemaformat" not in kept and target is not None and target.format:
            kept["schemaformat"] = target.format
        if "schemaformat" not in kept and ("schema" in kept or "schemaurl" in kept):
            faults.add(within(path, "schemaformat"), "is required, like JsonSchema/draft-07")
        elif "schema" in kept and isinstance(kept["schemaformat"], str):
            kept["schema"] = self._embedded(kept, around, faults)

    def _embedded(self, kept: Mapping[str, object], around: Around, faults: Faults) -> object:
        format_, schema = str(kept["schemaformat"]), kept["schema"]
        path = within(around.path, "schema")
        content = schema.encode() if isinstance(schema, str) else msgspec.json.encode(schema)
        if formats.name_of(format_) in formats.JSON_FORMATS:
            if not is_json(content):
                faults.add(path, f"must be JSON, for {format_} is")
                return schema
            schema = msgspec.json.decode(content)
            is_json_schema = format_.startswith("JsonSchema/")
            if is_json_schema and not dialect(faults, schema, format_, path):
                return schema
        elif not isinstance(schema, str):
            faults.add(path, f"must be a string, for {format_} is text")
            return schema
        examined(faults, format_, content, around, path)
        return schema

    def _target(self, kept: Mapping[str, object], around: Around, faults: Faults) -> Target | None:
        path = within(around.path, "schemaurl")
        reference = faults.text(kept["schemaurl"], path) or ""
        if any(each.isspace() for each in reference):
            faults.add(path, "must be a URI reference (RFC 3986)")
        target = found(reference, around, faults, path)
        if target is None:
            return None
        stated = kept.get("schemaformat")
        if target.kind == "schema" and isinstance(stated, str) and target.format != stated:
            faults.add(path, f"leads to a schema in {target.format}, not {stated}")
        message = unclear(target, around)
        if message:
            around.doubt(faults, path, message)
        return target


def found(reference: str, around: Around, faults: Faults, path: str) -> Target | None:
    """Return what a reference into this registry leads to; one that leads nowhere is a doubt."""
    try:
        return around.references.origin(reference, around.base)
    except Missing as exc:
        around.doubt(faults, path, f"leads nowhere: {exc}")
        return None


def unclear(target: Target, around: Around) -> str | None:
    """Return why a reference to a schema does not choose one object in it (RA-68)."""
    if target.kind == "value":
        return None
    if target.kind != "schema":
        return f"must lead to a schema, not to a {target.kind}"
    names = around.checker.records(target.format, target.content)
    family = formats.name_of(target.format)
    if names is None or (family not in _SUFFIXED and not (family == "XSD" and target.record)):
        return None
    short = [name for name in names if target.record in (name, name.rpartition(".")[2])]
    if target.record and len(short) != 1:
        return f"there is no {target.record!r} in the schema, but {', '.join(names) or 'nothing'}"
    if not target.record and len(names) != 1:
        return f"must choose one of {', '.join(names) or 'nothing'} with a suffix behind a colon"
    return None
