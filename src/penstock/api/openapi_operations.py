"""OpenAPI: dead letters, and what tells how the server is."""

from __future__ import annotations

from penstock.api.openapi import (
    Fragment,
    Schema,
    good,
    json_body,
    operation,
    path,
    query,
    ref,
    told,
)

_TEXT: Schema = {"type": "string"}
_NUMBER: Schema = {"type": "integer", "minimum": 1}
_LETTER = {
    "number": 17,
    "route": "3f1c",
    "destination": "http://127.0.0.1:9000/",
    "attempts": 6,
    "status": 500,
    "cause": "the sink answered 500",
    "at": "2026-01-01T00:00:00.000Z",
}


def _record(**members: Schema) -> Schema:
    return {"type": "object", "required": list(members), "properties": members}


_SUMMARY = _record(
    number=_NUMBER,
    route=_TEXT,
    destination=_TEXT,
    attempts={"type": "integer"},
    status={"type": "integer", "description": "The last answer; 0 when there was none."},
    cause=_TEXT,
    at={"type": "string", "format": "date-time"},
)
_MISSING = {"type": "array", "items": _record(what=_TEXT, why=_TEXT)}
_RETRIED = {**_record(retried={"type": "integer"})}
_SKIPPED = {"type": "array", "items": _record(number={"type": "integer"}, why=_TEXT)}


def dead_letters() -> Fragment:
    """Return what can be done with deliveries that were given up."""
    number = path("number", "Number of the dead letter.")
    listed = {"type": "array", "items": ref("DeadLetter")}
    again = good("They are on their way.", _RETRIED, {"retried": 1})
    return Fragment(
        "dead letters",
        "Deliveries that were given up: look at them, send them again, throw them away.",
        {
            "/dead": {
                "get": operation(
                    "List dead letters, the newest first",
                    {200: good("A page.", listed, [_LETTER], headers=told("Link"))},
                    (400,),
                    parameters=[
                        query("limit", "Most to show.", _NUMBER),
                        query("before", "Only those with smaller numbers.", _NUMBER),
                        query("route", "Only those of a subscription.", _TEXT),
                    ],
                )
            },
            "/dead/retry": {
                "post": operation(
                    "Send dead letters again",
                    {
                        202: good(
                            "What became of each.",
                            _record(retried={"type": "integer"}, skipped=_SKIPPED),
                            {"retried": 1, "skipped": []},
                        )
                    },
                    (400, 415),
                    json_body(
                        _record(
                            numbers={
                                "type": "array",
                                "items": {"type": "integer"},
                                "maxItems": 1000,
                            }
                        ),
                        {"numbers": [17, 18]},
                    ),
                )
            },
            "/dead/{number}": {
                "parameters": [number],
                "get": operation(
                    "Show a dead letter with its event",
                    {200: good("The letter.", ref("DeadLetterWithEvent"))},
                    (404,),
                ),
                "delete": operation(
                    "Throw a dead letter away",
                    {200: good("What it was.", ref("DeadLetter"), _LETTER)},
                    (404,),
                ),
            },
            "/dead/{number}/retry": {
                "parameters": [number],
                "post": operation("Send a dead letter again", {202: again}, (404, 409)),
            },
        },
        {
            "DeadLetter": _SUMMARY,
            "DeadLetterWithEvent": {"allOf": [_SUMMARY, _record(event=ref("CloudEvent"))]},
        },
    )


def server() -> Fragment:
    """Return what tells how the server is, and what it can do."""
    links = _record(name=_TEXT, links={"type": "object", "additionalProperties": _TEXT})
    lives = _record(status={"const": "ok"})
    ready = _record(status={"enum": ["ready", "not ready"]}, missing=_MISSING)
    return Fragment(
        "server",
        "How the server is, and what it can do.",
        {
            "/": {"get": operation("Tell what there is", {200: good("Links.", links)})},
            "/healthz": {"get": operation("Tell whether it lives", {200: good("Yes.", lives)})},
            "/readyz": {
                "get": operation(
                    "Tell whether everything is ready",
                    {
                        200: good("Yes.", ready, {"status": "ready", "missing": []}),
                        503: good("Not yet.", ready, headers=told("Retry-After")),
                    },
                )
            },
            "/metrics": {"get": operation("Metrics for Prometheus", {200: _text("text/plain")})},
            "/openapi.json": {
                "get": operation("This document", {200: good("OpenAPI 3.1.", {"type": "object"})})
            },
            "/docs": {"get": operation("A page to try it all", {200: _text("text/html")})},
        },
    )


def _text(media_type: str) -> Schema:
    return {"description": "The text.", "content": {media_type: {"schema": _TEXT}}}
