"""Events checked against the registry, without being published."""

from __future__ import annotations

import threading
from collections.abc import Sequence

from starlette.responses import Response
from starlette.routing import Route

from penstock.api.openapi import Fragment, Part, Schema, good, operation, ref
from penstock.api.openapi_publish import BINARY, BODY
from penstock.api.registry_call import ROOT
from penstock.api.resource import Call, Resource, json
from penstock.bindings import http
from penstock.bindings.base import Mode
from penstock.control import Control
from penstock.registry import Judgement, Validator

PATH = "/validate"


def routes(control: Control) -> Sequence[Route]:
    """Return the route of validation."""
    checks = _Checks(control)
    most = control.limits.batch_bytes
    return (Route(PATH, Resource(control.url, most=most, POST=checks.judge)),)


class _Checks:
    def __init__(self, control: Control) -> None:
        self._store = control.store
        self._lock = threading.Lock()
        self._made: Validator | None = None

    def judge(self, call: Call) -> Response:
        headers = call.headers.raw
        events = http.read(headers, call.body)
        validator = self._validator()
        base = f"{call.base}{ROOT}"
        found = [validator.judge(event, base) for event in events]
        if http.mode(call.headers.get("content-type")) is not Mode.BATCHED:
            return json(_shown(found[0], base))
        return json(_together(found, base))

    def _validator(self) -> Validator:
        with self._lock:
            if self._made is None:
                self._made = Validator(self._store)
            else:
                self._made.refresh()
            return self._made


def _shown(found: Judgement, base: str, path: str = "") -> dict[str, object]:
    shown: dict[str, object] = {
        "problems": [{"path": f"{path}{at.path}", "message": at.message} for at in found.problems],
        "known": found.known,
    }
    if found.definition:
        shown["definition"] = f"{base}{found.definition}"
    if found.unchecked:
        shown["unchecked"] = found.unchecked
    return shown


def _together(found: Sequence[Judgement], base: str) -> dict[str, object]:
    """Return what a batch is told: all problems by place, and each event by itself."""
    located = [_shown(each, base, f"[{number}].") for number, each in enumerate(found)]
    return {
        "problems": [at for each in located for at in _problems(each)],
        "known": all(each.known for each in found),
        "events": [_shown(each, base) for each in found],
    }


def _problems(shown: dict[str, object]) -> list[object]:
    found = shown["problems"]
    return found if isinstance(found, list) else []


_TEXT: Schema = {"type": "string"}
_PROBLEMS: Schema = {
    "type": "array",
    "description": "What is wrong; empty when nothing is. In a batch, paths start with `[n].`.",
    "items": {
        "type": "object",
        "required": ["path", "message"],
        "properties": {"path": _TEXT, "message": _TEXT},
    },
}
_JUDGEMENT: Schema = {
    "type": "object",
    "description": "What the registry says of an event, or of all events of a batch.",
    "required": ["problems", "known"],
    "properties": {
        "problems": _PROBLEMS,
        "known": {
            "type": "boolean",
            "description": "Whether a definition or a schema of the registry is about it.",
        },
        "definition": {"type": "string", "description": "Address of the definition for its type."},
        "unchecked": {"type": "string", "description": "Why the data was not checked."},
        "events": {
            "type": "array",
            "description": "Each event of a batch by itself.",
            "items": {"$ref": "#/components/schemas/Judgement"},
        },
    },
}
_EXAMPLE = {
    "problems": [{"path": "data/amount", "message": '"x" is not of type "number"'}],
    "known": True,
    "definition": "http://127.0.0.1:8080/registry/definitionGroups/shop/definitions/order",
}


def fragment() -> Fragment:
    """Return how events are checked."""
    post: Part = operation(
        "Check events against the registry: structured, batched, or binary; nothing is stored",
        {200: good("Their problems, or none.", ref("Judgement"), _EXAMPLE)},
        (400, 415),
        BODY,
        BINARY,
    )
    return Fragment(
        "validation",
        "Events compared with definitions and schemas of the registry.",
        {PATH: {"post": post}},
        {"Judgement": _JUDGEMENT},
    )
