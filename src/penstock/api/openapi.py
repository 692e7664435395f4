"""The OpenAPI document: every room adds a fragment, and the document is made of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from importlib.resources import files

import msgspec
from starlette.responses import Response
from starlette.routing import Route

import penstock
from penstock.api import problems
from penstock.api.resource import Call, Resource, json
from penstock.control import Control
from penstock.errors import (
    ConflictError,
    LimitError,
    NotFoundError,
    PenstockError,
    PreconditionError,
    Problem,
    ResourceError,
    StoreError,
    UnsupportedError,
)

Schema = Mapping[str, object]
Part = Mapping[str, object]

JSON = "application/json"
_REFERENCE = "#/components/schemas/{name}"
_METHODS = ("get", "post", "put", "patch", "delete", "options")


@dataclass(frozen=True, slots=True)
class Fragment:
    """What one room adds: its paths, each with its operations, and the schemas they name."""

    tag: str
    meaning: str
    paths: Mapping[str, Part]
    schemas: Mapping[str, Schema] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Body:
    """What a request carries, by media type, and one example for each."""

    content: Mapping[str, Schema]
    examples: Mapping[str, object] = field(default_factory=dict)
    required: bool = True

    def part(self) -> Part:
        return {"required": self.required, "content": _content(self.content, self.examples)}


def json_body(schema: Schema, example: object, media_type: str = JSON) -> Body:
    """Return a JSON document as what a request carries."""
    return Body({media_type: schema}, {media_type: example})


def ref(name: str) -> Schema:
    """Return a reference to a schema of some fragment."""
    return {"$ref": _REFERENCE.format(name=name)}


def derived(*kinds: type) -> dict[str, Schema]:
    """Return the schemas of structs, and of all that they name."""
    _, found = msgspec.json.schema_components(kinds, schema_hook=_anything, ref_template=_REFERENCE)
    return dict(found)


def _anything(_kind: type) -> dict[str, object]:
    return {"description": "Any JSON value."}


def query(name: str, meaning: str, schema: Schema) -> Part:
    """Return a parameter of the query."""
    return {"name": name, "in": "query", "description": meaning, "schema": schema}


def header(name: str, meaning: str, schema: Schema) -> Part:
    """Return a parameter that is a header of the request."""
    return {"name": name, "in": "header", "description": meaning, "schema": schema}


def path(name: str, meaning: str) -> Part:
    """Return a placeholder of the path."""
    schema = {"type": "string", "minLength": 1}
    return {"name": name, "in": "path", "required": True, "description": meaning, "schema": schema}


def told(*names: str) -> Part:
    """Return headers of an answer."""
    return {name: {"description": _HEADERS[name], "schema": _TEXT} for name in names}


def good(
    meaning: str, schema: Schema | None = None, example: object = None, **more: object
) -> Part:
    """Return an answer of success, in JSON; `more` is what else OpenAPI knows of answers."""
    if schema is None:
        return {"description": meaning, **more}
    examples = {} if example is None else {JSON: example}
    return {"description": meaning, "content": _content({JSON: schema}, examples), **more}


def operation(
    summary: str,
    answers: Mapping[int, Part],
    refusals: Sequence[int] = (),
    body: Body | None = None,
    parameters: Sequence[Part] = (),
) -> Part:
    """Return an operation; every one of them can also meet a limit or a store that fails."""
    refused = sorted({*refusals, 413, 503} - answers.keys())
    found: dict[str, object] = {"summary": summary, "parameters": list(parameters)}
    if body is not None:
        found["requestBody"] = body.part()
    return found | {
        "responses": {
            **{str(status): part for status, part in answers.items()},
            **{str(s): {"$ref": f"#/components/responses/{_name(s)}"} for s in refused},
        }
    }


_TEXT = {"type": "string"}
_HEADERS = {
    "Location": "The address of what was made.",
    "Link": 'The next page, as `<address>; rel="next"`; absent on the last one.',
    "Penstock-Position": "The end of the log, for `config.startfrom` of another subscription.",
    "ETag": "The version of what is shown, for `If-Match` and `If-None-Match`.",
    "Allow": "The methods that are known here.",
    "Accept-Patch": "The media type of a PATCH.",
    "Retry-After": "After how many seconds to try again.",
}
_ADDRESS = "/subscriptions/3f1c"
# One of each, so that the examples come from the code that answers.
_REFUSALS: Mapping[int, PenstockError] = {
    400: ResourceError([Problem("sink", "is required"), Problem("events[0].type", "is required")]),
    404: NotFoundError("there is no subscription '3f1c'", address=_ADDRESS),
    406: LimitError("more is asked for than fits into one answer", limit="inline"),
    409: ConflictError(
        "discversion is 4, not 3: read the service and try again",
        address=_ADDRESS,
        current={"discversion": 4, "updated": "2018-04-05T17:31:00Z"},
    ),
    412: PreconditionError("the subscription was changed since", address=_ADDRESS),
    413: LimitError("a document may have 1048576 bytes", limit="document"),
    415: UnsupportedError("send application/json, not 'text/plain'", what="text/plain"),
    503: StoreError("the disk is full", address="store.db"),
}
_PROBLEM: Schema = {
    "type": "object",
    "description": "Why a request is refused (RFC 9457).",
    "required": ["type", "title", "status", "detail"],
    "properties": {
        "type": {"type": "string", "examples": ["urn:penstock:problem:resource"]},
        "title": _TEXT,
        "status": {"type": "integer", "minimum": 400, "maximum": 599},
        "detail": _TEXT,
        "error": {"type": "string", "description": "In the words of the Subscriptions API."},
        "problems": {
            "type": "array",
            "description": "Every fault of the input.",
            "items": {
                "type": "object",
                "required": ["path", "message"],
                "properties": {"path": _TEXT, "message": _TEXT},
            },
        },
        "current": {"type": "object", "description": "What the request should have known."},
    },
}


def _name(status: int) -> str:
    return HTTPStatus(status).name.title().replace("_", "")


def _content(schemas: Mapping[str, Schema], examples: Mapping[str, object]) -> Part:
    return {
        media_type: {"schema": schema}
        | ({"example": examples[media_type]} if media_type in examples else {})
        for media_type, schema in schemas.items()
    }


def _refusal(status: int) -> Part:
    example = msgspec.json.decode(problems.answer(_REFUSALS[status]).body)
    part: dict[str, object] = {
        "description": HTTPStatus(status).phrase,
        "content": _content({problems.MEDIA_TYPE: ref("Problem")}, {problems.MEDIA_TYPE: example}),
    }
    return part | (
        {"headers": told("Retry-After")} if status == HTTPStatus.SERVICE_UNAVAILABLE else {}
    )


def document(fragments: Sequence[Fragment]) -> dict[str, object]:
    """Return the OpenAPI document of all fragments, without the address of a server."""
    schemas: dict[str, Schema] = {"Problem": _PROBLEM}
    for fragment in fragments:
        schemas |= fragment.schemas
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Penstock",
            "version": penstock.__version__,
            "summary": "An open event platform: publish, subscribe, discover.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "tags": [{"name": each.tag, "description": each.meaning} for each in fragments],
        "paths": {
            place: _item(place, operations, fragment.tag)
            for fragment in fragments
            for place, operations in fragment.paths.items()
        },
        "components": {
            "schemas": schemas,
            "responses": {_name(status): _refusal(status) for status in _REFUSALS},
        },
    }


def _item(place: str, given: Part, tag: str) -> Part:
    """Return a path with its operations, each under a name of its own."""
    words = "".join(word.strip("{}").title() for word in place.split("/")) or "Index"
    made: dict[str, object] = {"parameters": given.get("parameters", [])}
    for method, found in {"options": _offer(place, given), **given}.items():
        if method in _METHODS and isinstance(found, Mapping):
            made[method] = {"operationId": f"{method}{words}", "tags": [tag], **found}
    return made


def _offer(place: str, given: Part) -> Part:
    names = ("Allow", "Accept-Patch") if "patch" in given else ("Allow",)
    # What stands for a placeholder can make it another path, which nobody knows.
    refused = {"404": {"$ref": "#/components/responses/NotFound"}} if "{" in place else {}
    told_methods = good("The methods, in `Allow`.", headers=told(*names))
    return {
        "summary": "Tell which methods are known here",
        "responses": {"200": told_methods, **refused},
    }


def routes(control: Control, fragments: Sequence[Callable[[], Fragment]]) -> Sequence[Route]:
    """Return the routes of the document and of the page that shows it."""
    made = document([fragment() for fragment in fragments])
    page = files("penstock.api").joinpath("docs.html").read_bytes()

    def openapi(call: Call) -> Response:
        return json({**made, "servers": [{"url": call.base}]})

    def docs(_call: Call) -> Response:
        return Response(page, media_type="text/html", headers={"content-security-policy": _POLICY})

    return (
        Route("/openapi.json", Resource(control.url, GET=openapi)),
        Route("/docs", Resource(control.url, GET=docs)),
    )


# The page is whole: it loads nothing, and talks to nobody but this server.
_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
