"""What there is: the links at the root."""

from __future__ import annotations

from collections.abc import Sequence

from starlette.responses import Response
from starlette.routing import Route

from penstock.api.resource import Call, Resource, json
from penstock.control import Control

_LINKS = {
    "publish": "/events",
    "subscriptions": "/subscriptions",
    "services": "/services",
    "registry": "/registry/",
    "validate": "/validate",
    "deadLetters": "/dead",
    "health": "/healthz",
    "readiness": "/readyz",
    "metrics": "/metrics",
    "openapi": "/openapi.json",
    "docs": "/docs",
}


def routes(control: Control) -> Sequence[Route]:
    """Return the route of the index."""

    def links(call: Call) -> Response:
        return json(
            {
                "name": "penstock",
                "links": {name: call.base + path for name, path in _LINKS.items()},
            }
        )

    return (Route("/", Resource(control.url, GET=links)),)
