"""The routing table: all routes as they stood at one version."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec

from penstock.routing.route import Route

ROUTE = "route"
STREAM = "stream"
TOKEN = "token"  # noqa: S105 - a kind of document: the renewed token of a route


class RoutingTable(msgspec.Struct, frozen=True):
    """One frozen, versioned snapshot of all routes."""

    version: int = 0
    routes: Mapping[str, Route] = {}

    def changed(self, version: int, put: Iterable[Route], dropped: Iterable[str]) -> RoutingTable:
        """Return the table of a later version."""
        routes = dict(self.routes)
        for key in dropped:
            routes.pop(key, None)
        routes.update((route.id, route) for route in put)
        return RoutingTable(version, routes)
