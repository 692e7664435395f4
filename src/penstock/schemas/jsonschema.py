"""JSON Schema, in the drafts that the registry names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import islice

import jsonschema_rs

from penstock.errors import Problem, ResourceError, UnsupportedError
from penstock.schemas.base import (
    MOST_PROBLEMS,
    Schema,
    is_json,
    media_type_of,
    refuse,
)
from penstock.schemas.document import Json, pointer, read_data, read_document
from penstock.schemas.jsonschema_compare import Comparison
from penstock.schemas.jsonschema_drafts import DRAFTS, Draft
from penstock.schemas.jsonschema_side import PATTERNS, Side, at_pointer

MEDIA_TYPE = "application/json"
_LONGEST_MESSAGE = 300
_BASE = "urn:penstock:schema"
_MOST_PARTS = 64

_VALIDATORS: Mapping[str, type[jsonschema_rs.Validator]] = {
    "draft-07": jsonschema_rs.Draft7Validator,
    "draft/2019-09": jsonschema_rs.Draft201909Validator,
    "draft/2020-12": jsonschema_rs.Draft202012Validator,
}
_NUMBERS: Mapping[str, int] = {
    "draft-07": jsonschema_rs.Draft7,
    "draft/2019-09": jsonschema_rs.Draft201909,
    "draft/2020-12": jsonschema_rs.Draft202012,
}
_META: Mapping[str, jsonschema_rs.Validator] = {
    version: validator({"$ref": DRAFTS[version].address}, offline=True)
    for version, validator in _VALIDATORS.items()
}


@dataclass(frozen=True, eq=False)
class JsonSchema:
    """A JSON Schema document, compiled; `record` is a JSON Pointer into it."""

    draft: Draft
    document: Json
    validator: jsonschema_rs.Validator
    parts: dict[str, jsonschema_rs.Validator] = field(default_factory=dict)

    @property
    def format(self) -> str:
        return f"JsonSchema/{self.draft.version}"

    @property
    def records(self) -> tuple[str, ...]:
        return ()

    def problems(
        self, data: bytes, content_type: str | None = None, record: str | None = None
    ) -> tuple[Problem, ...]:
        """Return what is wrong with the data, by JSON Pointer."""
        if content_type is not None and content_type != MEDIA_TYPE:
            media_type = media_type_of(content_type, MEDIA_TYPE)
            if not is_json(media_type):
                return (Problem("", f"{media_type!r} is not a content type of JSON data"),)
        try:
            value = read_data(data)
            validator = self.validator if not record else self._part(record)
            if validator.is_valid(value):
                return ()
            errors = islice(validator.iter_errors(value), MOST_PROBLEMS)
            return tuple(_problem(error) for error in errors)
        except ResourceError as error:
            return error.problems
        except (ValueError, RecursionError) as exc:
            return (Problem("", f"the data cannot be checked: {exc!s:.{_LONGEST_MESSAGE}}"),)

    def _part(self, record: str) -> jsonschema_rs.Validator:
        if record not in self.parts:
            at = record.removeprefix("#")
            if not at.startswith("/") or not isinstance(
                at_pointer(self.document, at), (dict, bool)
            ):
                raise refuse("", f"the schema has nothing at {record!r}")
            if len(self.parts) >= _MOST_PARTS:
                self.parts.clear()
            registry = jsonschema_rs.Registry(
                [(_BASE, self.document)], draft=_NUMBERS[self.draft.version]
            )
            self.parts[record] = _VALIDATORS[self.draft.version](
                {"$ref": f"{_BASE}#{at}"}, registry=registry, pattern_options=PATTERNS, offline=True
            )
        return self.parts[record]


@dataclass(frozen=True, slots=True)
class JsonSchemaFormat:
    """The schemas of one draft."""

    version: str

    def __post_init__(self) -> None:
        if self.version.lower() not in DRAFTS:
            known = ", ".join(DRAFTS)
            message = f"the JSON Schema version {self.version!r} is not one of {known}"
            raise UnsupportedError(message, what=self.name)

    @property
    def draft(self) -> Draft:
        """Return the draft."""
        return DRAFTS[self.version.lower()]

    @property
    def name(self) -> str:
        return f"JsonSchema/{self.version.lower()}"

    @property
    def media_type(self) -> str:
        return MEDIA_TYPE

    def parse(self, document: object) -> JsonSchema:
        """Return the schema of a document, or raise ResourceError with every fault."""
        plain = read_document(document)
        if not isinstance(plain, dict):
            raise refuse("", "a JSON Schema must be an object")
        problems = [*_dialect_problems(plain, self.draft), *_meta_problems(plain, self.draft)]
        if problems:
            raise ResourceError(problems)
        return JsonSchema(self.draft, plain, _compiled(plain, self.draft))

    def incompatibilities(self, new: Schema, old: Schema) -> tuple[Problem, ...]:
        """Return what the new schema refuses although the old one accepts it."""
        if not isinstance(new, JsonSchema) or not isinstance(old, JsonSchema):
            raise refuse("format", f"{new.format} and {old.format} cannot be compared")
        return Comparison(Side(new.document, new.draft), Side(old.document, old.draft)).problems()


def _dialect_problems(document: dict[str, Json], draft: Draft) -> list[Problem]:
    stated = document.get("$schema")
    if stated is None:
        return []
    if isinstance(stated, str) and _address(stated) == _address(draft.address):
        return []
    return [Problem("/$schema", f"the format says {draft.address}, the document {stated!r:.100}")]


def _address(text: str) -> str:
    return text.removesuffix("#").partition("://")[2]


def _meta_problems(document: Json, draft: Draft) -> list[Problem]:
    try:
        errors = _META[draft.version].iter_errors(document)
        return [_problem(error) for error in islice(errors, MOST_PROBLEMS)]
    except (ValueError, RecursionError) as exc:
        raise refuse("", f"the schema cannot be read: {exc!s:.{_LONGEST_MESSAGE}}") from exc


def _compiled(document: Json, draft: Draft) -> jsonschema_rs.Validator:
    try:
        return _VALIDATORS[draft.version](document, pattern_options=PATTERNS, offline=True)
    except jsonschema_rs.ValidationError as exc:
        raise ResourceError([_problem(exc)]) from exc
    except (ValueError, RecursionError) as exc:
        raise refuse("", f"the schema cannot be used: {exc!s:.{_LONGEST_MESSAGE}}") from exc


def _problem(error: jsonschema_rs.ValidationError) -> Problem:
    message = error.message
    if len(message) > _LONGEST_MESSAGE:
        half = _LONGEST_MESSAGE // 2
        message = f"{message[:half]} … {message[-half:]}"
    return Problem(pointer(error.instance_path), message)
