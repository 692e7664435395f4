"""OpenAPI: publishing, in all content modes."""

from __future__ import annotations

from penstock.api.openapi import Body, Fragment, Part, good, header, operation, path, ref, told
from penstock.events import VERSIONS

_STRUCTURED = "application/cloudevents+json"
_BATCHED = "application/cloudevents-batch+json"
_EXAMPLE = {
    "specversion": "1.0",
    "id": "1",
    "source": "/shop",
    "type": "com.example.order.created",
    "datacontenttype": "application/json",
    "data": {"amount": 5},
}
_TEXT = {"type": "string", "minLength": 1}
_EVENT = {
    "type": "object",
    "description": "An event in the JSON format; further members are extension attributes.",
    "required": ["specversion", "id", "source", "type"],
    "properties": {
        "specversion": {"type": "string", "enum": list(VERSIONS)},
        "id": _TEXT,
        "source": {"type": "string", "format": "uri-reference", "minLength": 1},
        "type": _TEXT,
        "subject": _TEXT,
        "time": {"type": "string", "format": "date-time"},
        "datacontenttype": {"type": "string", "examples": ["application/json"]},
        "dataschema": {"type": "string", "format": "uri"},
        "data": {},
        "data_base64": {"type": "string", "contentEncoding": "base64"},
    },
}
BODY = Body(
    {
        _STRUCTURED: ref("CloudEvent"),
        _BATCHED: {"type": "array", "items": ref("CloudEvent")},
        "application/json": {},
        "application/octet-stream": {"type": "string", "format": "binary"},
        "text/plain": {"type": "string"},
    },
    {_STRUCTURED: _EXAMPLE, _BATCHED: [_EXAMPLE], "application/json": {"amount": 5}},
    required=False,
)
"""Events in every content mode."""
BINARY = [
    header(f"ce-{name}", f"`{name}` of an event in binary mode", {"type": "string"})
    for name in ("specversion", "id", "source", "type", "subject", "time", "dataschema")
]
_PUBLISH = operation(
    "Publish events: structured, batched, or binary with attributes as headers",
    {202: good("The events are durable.")},
    (400, 404, 415),
    BODY,
    BINARY,
)
_OFFER: Part = {
    "summary": "Ask whether events may be sent (CloudEvents web hooks)",
    "parameters": [
        header("WebHook-Request-Origin", "Who asks for consent.", {"type": "string"}),
    ],
    "responses": {
        "200": good("Consent, to a sender that asks for it.", headers=told("Allow")),
        "204": good("Only `POST` publishes.", headers=told("Allow")),
        "404": {"$ref": "#/components/responses/NotFound"},
    },
}


def fragment() -> Fragment:
    """Return how events are published."""
    names = [path("namespace", "Namespace of the stream."), path("name", "Name of the stream.")]
    methods = {"post": _PUBLISH, "options": _OFFER}
    return Fragment(
        "publishing",
        "Events in; `202` once they are durable.",
        {
            "/events": methods,
            "/brokers/{namespace}/{name}": {"parameters": names, **methods},
            "/channels/{namespace}/{name}": {"parameters": names, **methods},
        },
        {"CloudEvent": _EVENT},
    )
