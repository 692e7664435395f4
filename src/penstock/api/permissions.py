"""The callback of web hooks: a sink that was asked for its consent gives it later."""

from __future__ import annotations

from collections.abc import Sequence

from starlette.responses import Response
from starlette.routing import Route

from penstock.api.openapi import Fragment, good, operation, path
from penstock.api.resource import Call, Resource, json
from penstock.bindings import webhook
from penstock.control import Control

_PATH = "/permissions/{key}"


def routes(control: Control) -> Sequence[Route]:
    """Return the route that grants permission by GET and by POST (Web Hooks 4.1.3)."""
    granted = _Granting(control).grant
    return (Route(_PATH, Resource(control.url, GET=granted, POST=granted)),)


class _Granting:
    def __init__(self, control: Control) -> None:
        self._control = control

    def grant(self, call: Call) -> Response:
        now = self._control.clock.now()
        rate = call.headers.get(webhook.ALLOWED_RATE)
        granted = self._control.permissions.grant(call.names["key"], rate, now)
        # What waited for it need not wait until the sink would be asked again.
        self._control.hasten(granted.destination, now)
        return json({"status": "granted", "rate": "*" if granted.rate is None else granted.rate})


def fragment() -> Fragment:
    """Return what is added to the OpenAPI document."""
    schema = {
        "type": "object",
        "required": ["status", "rate"],
        "properties": {
            "status": {"const": "granted"},
            "rate": {
                "oneOf": [{"const": "*"}, {"type": "integer", "minimum": 1}],
                "description": "Requests per minute; * for any number.",
            },
        },
    }
    answers = {200: good("It is granted.", schema, {"status": "granted", "rate": 120})}
    return Fragment(
        "permissions",
        "Sinks that were asked for their consent grant it here.",
        {
            _PATH: {
                "parameters": [path("key", "The key in the callback address.")],
                "get": operation("Grant permission, by hand", answers, (404,)),
                "post": operation("Grant permission", answers, (404,)),
            }
        },
    )
