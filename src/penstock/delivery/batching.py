"""Deliveries of one route laid into requests: each on its own, or many in one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from penstock.bindings import Mode, http, webhook
from penstock.delivery.accounts import Delivery
from penstock.delivery.judge import is_apart
from penstock.delivery.shipping import Packer, own_headers
from penstock.ports import Guard, Request
from penstock.routing.route import Handling, Handshake, Route

_BRACKETS = 2
_COMMA = 1


class Parcel(msgspec.Struct, frozen=True):
    """Deliveries of one route that travel in one request."""

    deliveries: Sequence[Delivery]
    request: Request


def parcels(deliveries: Sequence[Delivery], origin: str) -> Iterator[Parcel]:
    """Yield the requests for deliveries of one route."""
    route = deliveries[0].route
    handling = route.target.handling or Handling()
    together = [one for one in deliveries if handling.batch and not _is_alone(one)]
    alone = [one for one in deliveries if not handling.batch or _is_alone(one)]
    for one in alone:
        yield Parcel([one], guarded(Packer(one.entry.event).request(route), route, origin))
    for some, body in _batches(together, handling):
        yield Parcel(some, guarded(_request(route, body), route, origin))


def full(deliveries: Sequence[Delivery], handling: Handling) -> int:
    """Return how many of the deliveries, from the first on, go at once; the others may linger."""
    if not handling.linger or not handling.batch:
        return len(deliveries)
    return len(deliveries) // handling.batch * handling.batch


def guarded(request: Request, route: Route, origin: str) -> Request:
    """Return the request with what its sender must add, sealed as it is."""
    handling = route.target.handling or Handling()
    headers = [*request.headers]
    if handling.handshake is not Handshake.OFF:
        headers.append((webhook.ORIGIN, origin))
    guard = None
    if handling.credential is not None or handling.headers:
        guard = Guard(route.id, handling.headers, handling.credential)
    return msgspec.structs.replace(request, headers=headers, guard=guard)


def _is_alone(delivery: Delivery) -> bool:
    """Tell whether a delivery was in a batch that was refused for what was in it."""
    return delivery.parked is not None and is_apart(delivery.parked.status)


def _batches(
    deliveries: Sequence[Delivery], handling: Handling
) -> Iterator[tuple[list[Delivery], bytes]]:
    # CE-061: all events of one batch have the same version.
    for version in dict.fromkeys(one.entry.event.specversion for one in deliveries):
        some: list[Delivery] = []
        bodies: list[bytes] = []
        size = _BRACKETS
        for one in deliveries:
            if one.entry.event.specversion != version:
                continue
            body = http.write(one.entry.event, Mode.STRUCTURED).body
            if some and (len(some) == handling.batch or size + len(body) > handling.batch_bytes):
                yield some, _joined(bodies)
                some, bodies, size = [], [], _BRACKETS
            some.append(one)
            bodies.append(body)
            size += len(body) + _COMMA
        yield some, _joined(bodies)


def _joined(bodies: Sequence[bytes]) -> bytes:
    return b"[" + b",".join(bodies) + b"]"


def _request(route: Route, body: bytes) -> Request:
    content_type = http.write_batch([]).header(b"content-type") or b""
    headers = [*own_headers(route), ("content-type", content_type.decode())]
    return Request(route.target.uri, headers, body, route.policy.timeout, route.target.settings)
