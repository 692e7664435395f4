"""The CloudEvents Subscriptions API over HTTP."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice
from urllib.parse import quote

import msgspec
from starlette.responses import Response
from starlette.routing import Route

from penstock.api.resource import Call, Resource, json
from penstock.control import Control
from penstock.ports import Health, Tally
from penstock.routing import DEFAULT, ROUTE, Stream, StreamKind
from penstock.routing import Route as EventRoute

_BROKER = "/brokers/{namespace}/{name}"
_MOST = 10_000


def routes(control: Control) -> Sequence[Route]:
    """Return the routes of all subscriptions, those of the default broker and of each broker."""
    facade = _Subscriptions(control)
    collection = Resource(control.url, GET=facade.query, POST=facade.create)
    item = Resource(control.url, GET=facade.retrieve, PUT=facade.update, DELETE=facade.delete)
    status = Resource(control.url, GET=facade.status)
    return tuple(
        route
        for prefix in ("", _BROKER)
        for route in (
            Route(f"{prefix}/subscriptions", collection),
            Route(f"{prefix}/subscriptions/{{id}}", item),
            Route(f"{prefix}/subscriptions/{{id}}/status", status),
        )
    )


class _Subscriptions:
    def __init__(self, control: Control) -> None:
        self._control = control
        self._manager = control.subscriptions

    def create(self, call: Call) -> Response:
        made = self._manager.create(_stream(call.names), call.document())
        return json(made.document(), 201, {"location": f"{call.base}{quote(call.path)}/{made.id}"})

    def query(self, call: Call) -> Response:
        limit = call.number("limit", None, 1, _MOST)
        found = self._manager.query(_stream(call.names), call.query.get("after", ""))
        if limit is None:
            return json([each.document() for each in found])
        page = list(islice(found, limit + 1))
        link = dict([call.link(after=page[limit - 1].id)]) if len(page) > limit else {}
        return json([each.document() for each in page[:limit]], headers=link)

    def retrieve(self, call: Call) -> Response:
        return json(self._manager.retrieve(_stream(call.names), call.names["id"]).document())

    def update(self, call: Call) -> Response:
        stream, key = _stream(call.names), call.names["id"]
        return json(self._manager.update(stream, key, call.document()).document())

    def delete(self, call: Call) -> Response:
        return json(self._manager.delete(_stream(call.names), call.names["id"]).document())

    def status(self, call: Call) -> Response:
        found = self._manager.retrieve(_stream(call.names), call.names["id"])
        ledger = self._control.ledger
        route = self._control.store.get(ROUTE, found.id)
        stopped = route is not None and msgspec.json.decode(route.body, type=EventRoute).stopped
        tally = ledger.tallies().get(found.id, Tally(found.id))
        health = ledger.health().get(found.sink, Health(found.sink))
        return json({"id": found.id, "stopped": stopped, "deliveries": tally, "sink": health})


def _stream(names: Mapping[str, str]) -> str:
    if "namespace" not in names:
        return DEFAULT.key
    return Stream(StreamKind.BROKER, names["namespace"], names["name"]).key
