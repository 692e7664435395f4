"""The CloudEvents Subscriptions API over HTTP."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from urllib.parse import quote

from starlette.responses import Response
from starlette.routing import Route

from penstock.api.conditions import allowed, etag, is_known
from penstock.api.resource import MERGE_PATCH, Call, Resource, json
from penstock.control import Control
from penstock.routing import DEFAULT, Stream, StreamKind
from penstock.subscriptions import Subscription, Wanted, starting
from penstock.subscriptions.status import status

_BROKER = "/brokers/{namespace}/{name}"
_MOST = 10_000


def routes(control: Control) -> Sequence[Route]:
    """Return the routes of all subscriptions, those of the default broker and of each broker."""
    facade = _Subscriptions(control)
    collection = Resource(control.url, GET=facade.query, POST=facade.create)
    item = Resource(
        control.url,
        GET=facade.retrieve,
        PUT=facade.update,
        PATCH=facade.patch,
        DELETE=facade.delete,
    )
    actions = {
        "status": Resource(control.url, GET=facade.status),
        "pause": Resource(control.url, POST=facade.pause),
        "resume": Resource(control.url, POST=facade.resume),
    }
    return tuple(
        route
        for prefix in ("", _BROKER)
        for route in (
            Route(f"{prefix}/subscriptions", collection),
            Route(f"{prefix}/subscriptions/{{id}}", item),
            *(
                Route(f"{prefix}/subscriptions/{{id}}/{name}", action)
                for name, action in actions.items()
            ),
        )
    )


class _Subscriptions:
    def __init__(self, control: Control) -> None:
        self._control = control
        self._manager = control.subscriptions

    def create(self, call: Call) -> Response:
        # Read before: whoever starts another subscription there misses nothing that this one gets.
        position = {"penstock-position": starting.printed(self._control.log.bounds()[1])}
        made = self._manager.create(_stream(call.names), call.document())
        location = {"location": f"{call.base}{quote(call.path)}/{made.id}"}
        return json(made.document(), 201, location | position | etag(made.version))

    def query(self, call: Call) -> Response:
        limit = call.number("limit", None, 1, _MOST)
        stream, after = _stream(call.names), call.query.get("after", "")
        wanted = Wanted(*(call.query.get(name) for name in ("sink", "type", "protocol")))
        if limit is None:
            found = self._manager.query(stream, wanted, after)
            return json([each.document() for each in found])
        page = self._manager.page(stream, wanted, after, limit)
        link = {} if page.after is None else dict([call.link(after=page.after)])
        return json([each.document() for each in page.items], headers=link)

    def retrieve(self, call: Call) -> Response:
        found = self._manager.retrieve(_stream(call.names), call.names["id"])
        if is_known(call.headers, found.version):
            return Response(status_code=304, headers=etag(found.version))
        return _shown(found)

    def update(self, call: Call) -> Response:
        stream, key = _stream(call.names), call.names["id"]
        document, condition = call.document(), allowed(call.headers)
        return _shown(self._manager.update(stream, key, document, condition))

    def patch(self, call: Call) -> Response:
        stream, key = _stream(call.names), call.names["id"]
        document, condition = call.document(MERGE_PATCH), allowed(call.headers)
        return _shown(self._manager.patch(stream, key, document, condition))

    def delete(self, call: Call) -> Response:
        stream, key = _stream(call.names), call.names["id"]
        return json(self._manager.delete(stream, key, allowed(call.headers)).document())

    def pause(self, call: Call) -> Response:
        return _shown(self._manager.pause(_stream(call.names), call.names["id"]))

    def resume(self, call: Call) -> Response:
        return _shown(self._manager.resume(_stream(call.names), call.names["id"]))

    def status(self, call: Call) -> Response:
        control = self._control
        found = self._manager.retrieve(_stream(call.names), call.names["id"])
        route = self._manager.route(found.id)
        # The log first: what the ledger knows by then is never ahead of it.
        ends = control.log.bounds()
        standing = control.ledger.standing(found.id, found.sink, control.clock.now())
        return json(status(route, starting.wish(found.config), standing, ends))


def _shown(found: Subscription) -> Response:
    return json(found.document(), headers=etag(found.version))


def _stream(names: Mapping[str, str]) -> str:
    if "namespace" not in names:
        return DEFAULT.key
    return Stream(StreamKind.BROKER, names["namespace"], names["name"]).key
