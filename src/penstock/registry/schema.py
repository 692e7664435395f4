"""Schemas: versions of a document in one format (Registry Service, Schema Registry)."""

from __future__ import annotations

import msgspec

from penstock.errors import ResourceError
from penstock.registry import formats
from penstock.registry.checking import inside
from penstock.registry.faults import Faults, within
from penstock.registry.references import is_inside
from penstock.registry.rules import Around, Draft, consistent, is_json, shaped

_JSON_SCHEMA = "JsonSchema"
_DRAFTS = {
    "http://json-schema.org/draft-07/schema": "JsonSchema/draft-07",
    "https://json-schema.org/draft-07/schema": "JsonSchema/draft-07",
    "https://json-schema.org/draft/2019-09/schema": "JsonSchema/draft/2019-09",
    "https://json-schema.org/draft/2020-12/schema": "JsonSchema/draft/2020-12",
}


class SchemaRules:
    """The rules of schemas."""

    known: tuple[str, ...] = ("format", "schema", "schemaurl", "schemaUri", "schemaBase64")
    flat: tuple[str, ...] = ()

    def settled(self, draft: Draft, around: Around, faults: Faults) -> Draft:
        """Return the draft as it is kept."""
        format_ = self._format(draft, around, faults)
        self._exactly_one(draft, around, faults)
        kept = msgspec.structs.replace(draft, attributes={**draft.attributes, "format": format_})
        if draft.content and format_:
            self._document(kept, format_, around, faults)
        return shaped(kept, draft.media_type or formats.media_type(format_ or ""))

    def _format(self, draft: Draft, around: Around, faults: Faults) -> str | None:
        path = within(around.path, "format")
        if "format" not in draft.attributes:
            faults.add(path, "is required, like JsonSchema/draft-07")
            return None
        found = formats.read(faults, draft.attributes["format"], path, formats.SCHEMA_FORMATS)
        if found is None:
            return None
        consistent(faults, found, path, around)
        other = next((each for each in around.formats if each != found), None)
        if other and formats.name_of(other) == formats.name_of(found):
            faults.add(path, f"must be {other}, as in the other versions")
        return found

    def _exactly_one(self, draft: Draft, around: Around, faults: Faults) -> None:
        path = within(around.path, "schemaurl")
        if draft.content and draft.uri:
            faults.add(path, "excludes schema: give the document or its address")
        elif not draft.content and not draft.uri:
            faults.add(within(around.path, "schema"), "is required, or schemaurl instead of it")
        if draft.uri and is_inside(draft.uri, around.base):
            faults.add(path, "must not point into this registry")
        elif draft.uri:
            faults.uri(draft.uri, path)

    def _document(self, draft: Draft, format_: str, around: Around, faults: Faults) -> None:
        path = within(around.path, "schema")
        if formats.name_of(format_) in formats.JSON_FORMATS and not is_json(draft.content):
            faults.add(path, f"must be JSON, for {format_} is")
            return
        if formats.name_of(format_) == _JSON_SCHEMA:
            document = msgspec.json.decode(draft.content)
            if not dialect(faults, document, format_, path):
                return
        examined(faults, format_, draft.content, around, path)


def examined(faults: Faults, format_: str, content: bytes, around: Around, path: str) -> None:
    """The document can be parsed in its format."""
    try:
        around.checker.parse(format_, content)
    except ResourceError as exc:
        for problem in exc.problems:
            found = inside(path, problem)
            around.doubt(faults, found.path, found.message)


def dialect(faults: Faults, document: object, format_: str, path: str) -> bool:
    """Say whether a JSON Schema is an object which states, if any, the dialect of its format."""
    if not isinstance(document, dict):
        faults.add(path, "must be a JSON object")
        return False
    stated = document.get("$schema")
    if stated is None:
        return True
    meant = _DRAFTS.get(str(stated).rstrip("#"))
    if meant == format_:
        return True
    message = f"states {meant or stated}, and the format is {format_}"
    faults.add(f"{path}/$schema", message)
    return False
