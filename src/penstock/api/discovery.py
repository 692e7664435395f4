"""CloudSubscriptions Discovery over HTTP: who emits what, and where to subscribe."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import urlsplit

from starlette.responses import Response
from starlette.routing import Route

from penstock.api.resource import Call, Resource, json
from penstock.control import Control
from penstock.discovery import Service, Services
from penstock.errors import Problem, ResourceError


def routes(control: Control) -> Sequence[Route]:
    """Return the routes of /services, also below the path of the public address."""
    facade = _Services(control.services)
    collection = Resource(control.url, GET=facade.query, POST=facade.create)
    item = Resource(control.url, GET=facade.retrieve, PUT=facade.update, DELETE=facade.delete)
    return tuple(
        route
        # A proxy may pass the path of the public address on, or cut it off.
        for prefix in dict.fromkeys(("", urlsplit(control.url).path.rstrip("/")))
        for route in (
            Route(f"{prefix}/services", collection),
            Route(f"{prefix}/services/", collection),
            Route(f"{prefix}/services/{{id}}", item),
        )
    )


class _Services:
    def __init__(self, services: Services) -> None:
        self._services = services

    def query(self, call: Call) -> Response:
        names = call.query.getlist("name")
        if len(names) > 1:
            raise ResourceError([Problem("name", "must be given once: one service is asked for")])
        if names:
            return _shown(self._services.named(names[0], call.base), call)
        found = self._services.query(call.base)
        return json([each.document(call.base) for each in found])

    def create(self, call: Call) -> Response:
        made = self._services.create(call.document(), call.base).document(call.base)
        return json(made, 201, {"location": str(made["url"])})

    def retrieve(self, call: Call) -> Response:
        return _shown(self._services.retrieve(call.names["id"], call.base), call)

    def update(self, call: Call) -> Response:
        return _shown(
            self._services.update(call.names["id"], call.document(), call.base),
            call,
        )

    def delete(self, call: Call) -> Response:
        return _shown(self._services.delete(call.names["id"]), call)


def _shown(service: Service, call: Call) -> Response:
    return json(service.document(call.base))
