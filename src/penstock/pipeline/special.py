"""The deliveries of a micro-batch that want special handling: which go now, and which wait."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from penstock.delivery import batching
from penstock.delivery.accounts import Account, Delivery
from penstock.delivery.batching import Parcel
from penstock.pipeline.gate import PACED
from penstock.pipeline.worker import Worker
from penstock.ports import Response
from penstock.routing.route import Handling

Parcels = Mapping[str, Sequence[Parcel]]
"""For each destination the requests to be made."""
_LINGERS = "it waits for others to be sent with"


def parcels(here: Worker, account: Account, routes: Mapping[str, Sequence[Delivery]]) -> Parcels:
    """Return the requests that can be made at once; what has to wait is parked.

    What has a rate, or a sink that has to be asked first, is left to the retry query: there one
    task owns each destination, so that nobody else counts beside it.
    """
    found: dict[str, list[Parcel]] = {}
    for deliveries in routes.values():
        route = deliveries[0].route
        if not here.gate.is_open(route):
            for delivery in deliveries:
                account.waits(delivery, account.now, PACED)
            continue
        handling = route.target.handling or Handling()
        full = batching.full(deliveries, handling)
        for delivery in deliveries[full:]:
            account.waits(delivery, account.now + handling.linger, _LINGERS)
        if full:
            made = batching.parcels(deliveries[:full], here.gate.origin)
            found.setdefault(route.target.uri, []).extend(made)
    return found


def settle(account: Account, made: Sequence[Parcel], responses: Sequence[Response | None]) -> None:
    """Take the answers to requests in their order."""
    for parcel, response in zip(made, responses, strict=True):
        if response is not None and not response.ours:
            account.settled_together(parcel.deliveries, response)
            continue
        for delivery in parcel.deliveries:
            if response is None:
                account.unfinished(delivery)
            else:
                # The retry query does what a micro-batch has no time for.
                account.waits(delivery, account.now, response.error)
