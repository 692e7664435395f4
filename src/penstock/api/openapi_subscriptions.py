"""OpenAPI: subscriptions of the default broker and of each other."""

from __future__ import annotations

from collections.abc import Mapping

from penstock.api.openapi import (
    Fragment,
    Part,
    Schema,
    derived,
    good,
    header,
    json_body,
    operation,
    path,
    query,
    ref,
    told,
)
from penstock.api.resource import MERGE_PATCH
from penstock.subscriptions import Subscription
from penstock.subscriptions.credentials import SECRET, SHOWN
from penstock.subscriptions.protocols import PROTOCOLS
from penstock.subscriptions.status import Status

_TEXT: Schema = {"type": "string"}
_PROPOSED: Mapping[str, object] = {
    "protocol": "HTTP",
    "sink": "https://example.com/orders",
    "types": ["com.example.order.created"],
    "filters": [{"prefix": {"subject": "order-"}}],
}
_EXAMPLE: Mapping[str, object] = {
    "id": "3f1c4a52-9d1e-4f5c-8a63-0d0c6f3f8f11",
    **_PROPOSED,
    "protocolsettings": {"method": "POST", **PROTOCOLS["HTTP"].defaults},
}
_INTERNAL = {"stream", "version", "credential"}
_MATCH = header("If-Match", "Change it only in one of these versions.", _TEXT)
_NONE_MATCH = header("If-None-Match", "Show it only in another version.", _TEXT)


def fragment() -> Fragment:
    """Return what can be done with subscriptions."""
    broker = [path("namespace", "Namespace of the broker."), path("name", "Name of the broker.")]
    paths: dict[str, Part] = {}
    for prefix, names in (("", []), ("/brokers/{namespace}/{name}", broker)):
        paths |= _paths(f"{prefix}/subscriptions", names)
    return Fragment(
        "subscriptions",
        "Standing interests in events (CloudEvents Subscriptions API).",
        paths,
        {
            "Subscription": _subscription(),
            "NewSubscription": _proposal(),
            "SinkCredential": _credential(),
            **derived(Status),
        },
    )


def _paths(collection: str, names: list[Part]) -> dict[str, Part]:
    common = [*names, path("id", "Id of the subscription.")]
    shown = good("The subscription.", ref("Subscription"), _EXAMPLE, headers=told("ETag"))
    change = (400, 404, 409, 412, 415)
    return {
        collection: {
            "parameters": names,
            "get": _query(),
            "post": operation(
                "Create a subscription",
                {201: {**shown, "headers": told("Location", "ETag", "Penstock-Position")}},
                (400, 404, 409, 415),
                json_body(ref("NewSubscription"), _PROPOSED),
            ),
        },
        f"{collection}/{{id}}": {
            "parameters": common,
            "get": operation(
                "Retrieve a subscription",
                {200: shown, 304: good("It has not changed.", headers=told("ETag"))},
                (400, 404),
                parameters=[_NONE_MATCH],
            ),
            "put": operation(
                "Replace a subscription",
                {200: shown},
                change,
                json_body(ref("NewSubscription"), _PROPOSED),
                [_MATCH],
            ),
            "patch": operation(
                "Change parts of a subscription (JSON merge patch)",
                {200: shown},
                change,
                json_body({"type": "object"}, {"sink": "https://example.com/new"}, MERGE_PATCH),
                [_MATCH],
            ),
            "delete": operation(
                "Delete a subscription",
                {200: good("What it was.", ref("Subscription"), _EXAMPLE)},
                (400, 404, 409, 412),
                parameters=[_MATCH],
            ),
        },
        f"{collection}/{{id}}/status": {
            "parameters": common,
            "get": operation(
                "Tell how the deliveries go",
                {200: good("The status.", ref("Status"))},
                (404,),
            ),
        },
        f"{collection}/{{id}}/pause": {
            "parameters": common,
            "post": operation("Hold deliveries back; no event is lost", {200: shown}, (404, 409)),
        },
        f"{collection}/{{id}}/resume": {
            "parameters": common,
            "post": operation("Deliver again, from where it was held", {200: shown}, (404, 409)),
        },
    }


def _query() -> Part:
    listed = {"type": "array", "items": ref("Subscription")}
    return operation(
        "List subscriptions",
        {200: good("All, or a page.", listed, [_EXAMPLE], headers=told("Link"))},
        (400, 404),
        parameters=[
            query("limit", "Most to show; all without it.", {"type": "integer", "minimum": 1}),
            query("after", "Only those behind this id.", _TEXT),
            query("sink", "Only those with this sink.", _TEXT),
            query("type", "Only those that name this type.", _TEXT),
            query("protocol", "Only those with this protocol.", {"enum": list(PROTOCOLS)}),
        ],
    )


def _members() -> dict[str, object]:
    found = derived(Subscription)["Subscription"]["properties"]
    members = dict(found) if isinstance(found, dict) else {}
    return {name: schema for name, schema in members.items() if name not in _INTERNAL}


def _subscription() -> Schema:
    return {
        "type": "object",
        "required": ["id", "filters", "sink", "protocol", "protocolsettings"],
        "properties": {**_members(), "sinkCredential": ref("SinkCredential")},
    }


def _credential() -> Schema:
    """Return the members of all types of credentials; those that are secret never come back."""
    shown = {name: _TEXT for members in SHOWN.values() for name in members}
    secret = {
        name: {"type": "string", "writeOnly": True}
        for members in SECRET.values()
        for name in members
    }
    kind = {"credentialType": {"enum": list(SHOWN)}}
    return {
        "type": "object",
        "required": ["credentialType"],
        "properties": {**kind, **shown, **secret},
    }


def _proposal() -> Schema:
    settings = {
        "type": "object",
        "description": "What can be set follows from the protocol; these are those of HTTP.",
        "properties": {
            name: {"default": PROTOCOLS["HTTP"].defaults[name]}
            if name in PROTOCOLS["HTTP"].defaults
            else {}
            for name in PROTOCOLS["HTTP"].settings
        },
    }
    members = {name: schema for name, schema in _members().items() if name != "paused"}
    return {
        "type": "object",
        "required": ["sink", "protocol"],
        "properties": {
            **members,
            "sink": {"type": "string", "format": "uri", "examples": [_PROPOSED["sink"]]},
            "protocol": {"type": "string", "enum": list(PROTOCOLS)},
            "protocolsettings": settings,
            "filters": {"type": "array", "items": {"type": "object"}},
            "sinkCredential": ref("SinkCredential"),
        },
    }
