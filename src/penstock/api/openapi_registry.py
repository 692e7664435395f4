"""OpenAPI: the registry; its types are data, so its paths have placeholders for them too."""

from __future__ import annotations

from collections.abc import Mapping

from penstock.api.openapi import (
    Body,
    Fragment,
    Part,
    Schema,
    good,
    header,
    json_body,
    operation,
    path,
    query,
    told,
)
from penstock.registry import document
from penstock.registry.kinds import MODEL

_TEXT: Schema = {"type": "string"}
_OBJECT: Schema = {"type": "object"}
_TABLE: Schema = {"type": "object", "additionalProperties": _OBJECT}
_FLAG: Schema = {"type": "string", "maxLength": 0}

_GROUPS = path("groups", "Type of groups, in the plural, such as schemaGroups.")
_GROUP = path("group", "Id of the group.")
_RESOURCES = path("resources", "Type of resources, in the plural, such as schemas.")
_RESOURCE = path("resource", "Id of the resource.")
_VERSION = path("version", "Id of the version.")

_INLINE = query("inline", "What to show in place; alone, everything.", _TEXT)
_META = query("meta", "Show the attributes as JSON, not the document.", _FLAG)
_EPOCH = query("epoch", "The epoch that it must have.", {"type": "integer", "minimum": 0})
_CHECK = query("check", "How strictly to look.", {"enum": ["strict", "lenient"]})
_ID = header("Registry-id", "The id; made up without it.", _TEXT)
_FORMAT = header("Registry-format", "The kind of schema, such as JsonSchema/draft-07.", _TEXT)
_PAGE = (
    query("limit", "Most to show.", {"type": "integer", "minimum": 1}),
    query("after", "Where the page starts.", _TEXT),
    _INLINE,
)
_READ = (400, 404, 406)
_WRITE = (400, 404, 409, 415)

_DOCUMENT = Body(
    {"application/json": {}, "text/plain": _TEXT, "application/octet-stream": _TEXT},
    {"application/json": {"type": "object"}},
    required=False,
)
_CHOSEN = Body(
    {
        "application/json": {
            "type": "array",
            "items": {"type": "object", "required": ["id"], "properties": {"id": _TEXT}},
        }
    },
    {"application/json": [{"id": "orders", "epoch": 0}]},
    required=False,
)


def fragment() -> Fragment:
    """Return what can be done with the registry."""
    return Fragment(
        "registry",
        "What events mean: schemas, message definitions, endpoints, and whatever the model adds.",
        {**_whole(), **_groups(), **_resources(), **_versions()},
    )


def _whole() -> dict[str, Part]:
    files = dict.fromkeys((document.JSON, document.YAML), _OBJECT)
    shown = good("The registry.", _OBJECT)
    return {
        "/registry": {
            "get": operation(
                "Show the registry, or export it as a file",
                {200: _also(shown, files)},
                (*_READ, 415),
                parameters=[
                    _INLINE,
                    query("model", "Show the model too.", _FLAG),
                    query("resolve", "Tell what a reference inside the registry names.", _TEXT),
                    header("Accept", "The kind of file to export.", {"enum": list(files)}),
                ],
            ),
            "post": operation(
                "Import a file",
                {200: good("What was brought in.", _OBJECT)},
                _WRITE,
                Body({"application/json": _OBJECT, **files}),
                [
                    _CHECK,
                    query("replace", "Replace what is there.", _FLAG),
                    query("dryrun", "Only tell what would happen.", _FLAG),
                ],
            ),
        },
        "/registry/model": {
            "get": operation("Show the model", {200: good("The model.", _OBJECT)}),
            "put": operation(
                "Change the model",
                {200: good("The model as it is now.", _OBJECT)},
                _WRITE,
                json_body(_OBJECT, MODEL.document()),
            ),
        },
    }


def _groups() -> dict[str, Part]:
    shown = good("The group.", _OBJECT)
    return {
        "/registry/{groups}": {
            "parameters": [_GROUPS],
            "get": operation("List groups", {200: _paged()}, _READ, parameters=_PAGE),
            "post": operation(
                "Create a group",
                {201: {**shown, "headers": told("Location")}},
                _WRITE,
                json_body(_OBJECT, {"id": "com.example.orders"}),
                [_CHECK],
            ),
            "delete": _delete_many("Delete groups, all or those that are named"),
        },
        "/registry/{groups}/{group}": {
            "parameters": [_GROUPS, _GROUP],
            "get": operation(
                "Show a group",
                {200: shown},
                _READ,
                parameters=[_INLINE, query("effective", "With all that it inherits.", _FLAG)],
            ),
            "put": operation(
                "Replace a group",
                {200: shown},
                _WRITE,
                json_body(_OBJECT, {"description": "All about orders"}),
                [_EPOCH, _CHECK],
            ),
            "delete": operation(
                "Delete a group and all in it", {200: shown}, (400, 404, 409), parameters=[_EPOCH]
            ),
        },
    }


def _resources() -> dict[str, Part]:
    names = [_GROUPS, _GROUP, _RESOURCES]
    made = {201: {**_entity(), "headers": told("Location")}}
    return {
        "/registry/{groups}/{group}/{resources}": {
            "parameters": names,
            "get": operation("List resources", {200: _paged()}, _READ, parameters=_PAGE),
            "post": operation(
                "Create a resource; attributes are headers",
                made,
                _WRITE,
                _DOCUMENT,
                [_CHECK, _ID, _FORMAT],
            ),
            "delete": _delete_many("Delete resources, all or those that are named"),
        },
        "/registry/{groups}/{group}/{resources}/{resource}": {
            "parameters": [*names, _RESOURCE],
            "get": _show("Show the latest version of a resource"),
            "put": _replace("Replace the latest version of a resource"),
            "post": operation("Add a version", made, _WRITE, _DOCUMENT, [_EPOCH, _CHECK]),
            "delete": operation(
                "Delete a resource", {200: _entity()}, (400, 404, 409), parameters=[_EPOCH]
            ),
        },
    }


def _versions() -> dict[str, Part]:
    names = [_GROUPS, _GROUP, _RESOURCES, _RESOURCE]
    versions = "/registry/{groups}/{group}/{resources}/{resource}/versions"
    return {
        versions: {
            "parameters": names,
            "get": operation("List versions", {200: _paged()}, _READ, parameters=_PAGE),
            "delete": _delete_many("Delete versions, all or those that are named"),
        },
        f"{versions}/{{version}}": {
            "parameters": [*names, _VERSION],
            "get": _show("Show a version"),
            "put": _replace("Replace a version"),
            "delete": operation(
                "Delete a version", {200: _entity()}, (400, 404, 409), parameters=[_EPOCH]
            ),
        },
    }


def _show(summary: str) -> Part:
    elsewhere = {**_entity(), "description": "It is elsewhere.", "headers": told("Location")}
    effective = query("effective", "With all that it inherits.", _FLAG)
    answers = {200: _entity(), 307: elsewhere}
    return operation(summary, answers, _READ, parameters=[_META, _INLINE, effective])


def _replace(summary: str) -> Part:
    parameters = [_META, _EPOCH, _CHECK]
    return operation(summary, {200: _entity()}, _WRITE, _DOCUMENT, parameters)


def _delete_many(summary: str) -> Part:
    answers = {200: good("What they were.", _TABLE), 204: good("They were too many to show.")}
    return operation(summary, answers, (400, 404, 409), _CHOSEN)


def _paged() -> Part:
    return good("A page, by id.", _TABLE, headers=told("Link"))


def _entity() -> Part:
    """Return a document as it was stored, in whatever media type."""
    return _also({"description": "The document; its attributes are headers."}, {"*/*": {}})


def _also(part: Part, content: Mapping[str, Schema]) -> Part:
    known = part.get("content", {})
    more = {kind: {"schema": schema} for kind, schema in content.items()}
    return {**part, "content": {**(known if isinstance(known, dict) else {}), **more}}
