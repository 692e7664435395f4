"""Arrow batch → match ▸ send → what is to be settled; runs in the executors."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence

import pyarrow as pa

from penstock.delivery.accounts import Account, Delivery
from penstock.delivery.dispatch import Answers, Shipment, dispatch
from penstock.delivery.shipping import Packer
from penstock.formats import arrow
from penstock.pipeline import replies, rows, special
from penstock.pipeline.done import Done
from penstock.pipeline.homes import Pace
from penstock.pipeline.special import Parcels
from penstock.pipeline.worker import Worker
from penstock.ports import Health, Request, Settlement, Span, State
from penstock.routing.route import Route

_RETRY_SHARE = 4

Lanes = Mapping[str, Sequence[tuple[Delivery, Request]]]
"""For each destination its plain deliveries, each with its request."""


def deliver(here: Worker, batch: pa.RecordBatch, generation: int, pace: Pace) -> Done:
    """Match every event of a batch and send it to the routes it goes to."""
    health = here.desk.ledger.health()
    account = Account(time.time())
    open_lanes: dict[str, list[tuple[Delivery, Request]]] = {}
    careful: dict[str, list[Delivery]] = {}
    for delivery, packer in _wanted(here, batch, account):
        route = delivery.route
        known = health.get(delivery.destination)
        if known is not None and _closed(known, account.now):
            account.held(delivery, known.hold_until)
        elif route.target.handling is None:
            request = packer.request(route)
            open_lanes.setdefault(delivery.destination, []).append((delivery, request))
        else:
            careful.setdefault(route.id, []).append(delivery)
    parcels = special.parcels(here, account, careful) if careful else {}
    shipments = _shipments(open_lanes, pace, parcels)
    shipments += _parcelled(here, open_lanes, pace, parcels)
    answers = here.run(dispatch(shipments, here.sink, pace.batch_seconds))
    account.now = time.time()
    _settle_answers(account, open_lanes, answers)
    for destination, made in parcels.items():
        plain = len(open_lanes.get(destination, ()))
        special.settle(account, made, answers[destination].responses[plain:])
    found = replies.entries(account)
    settlement = _settlement(account, generation, health, pace)
    return Done(_span(batch), settlement, found, account.stopped)


def _wanted(
    here: Worker, batch: pa.RecordBatch, account: Account
) -> Iterator[tuple[Delivery, Packer]]:
    """Yield what is to be sent now, with regard to what owners said since the run was planned."""
    found = list(_deliveries(here, batch))
    recalled = here.recalled(batch.column("version")[0].as_py())
    for delivery, packer in found:
        if delivery.route.id in recalled.gone:
            continue
        account.matched(delivery.route)
        if delivery.route.id in recalled.held:
            account.shelved(delivery)
        else:
            yield delivery, packer


def _deliveries(here: Worker, batch: pa.RecordBatch) -> Iterator[tuple[Delivery, Packer]]:
    index = here.index(batch.column("version")[0].as_py())
    found = list(index.match(batch).each())
    chosen = batch.take(pa.array([row for row, _ in found], pa.int64()))
    offsets = chosen.column("offset").to_pylist()
    partitions = chosen.column("partition").to_pylist()
    entries = arrow.unpack(chosen.select(arrow.SCHEMA.names))
    for (_, routes), entry, partition, offset in zip(
        found, entries, partitions, offsets, strict=True
    ):
        packer = Packer(entry.event)
        for route in routes:
            if route.takes(partition, offset):
                yield Delivery(route, entry, partition, offset), packer


def _closed(health: Health, now: float) -> bool:
    return health.state is not State.UP or health.hold_until > now


def _shipments(lanes: Lanes, pace: Pace, parcels: Parcels) -> list[Shipment]:
    return [
        Shipment(
            destination,
            parts[0][0].route.target.protocol,
            share(parts[0][0].route, pace),
            [request for _, request in parts],
        )
        for destination, parts in lanes.items()
        if destination not in parcels
    ]


def _parcelled(here: Worker, lanes: Lanes, pace: Pace, parcels: Parcels) -> Iterator[Shipment]:
    """Yield the shipments to destinations that get parcels, after what is plain for them."""
    for destination, made in parcels.items():
        route = made[0].deliveries[0].route
        protocol = route.target.protocol
        plain = [request for _, request in lanes.get(destination, ())]
        yield Shipment(
            destination,
            protocol,
            share(route, pace),
            [*plain, *(parcel.request for parcel in made)],
            here.sender(protocol, hasty=True),
        )


def share(route: Route, pace: Pace) -> int:
    """Return how many requests one task may have open at a destination that is up."""
    allowed = route.target.in_flight
    return max((allowed - retry_share(route)) // pace.parallel, 1)


def retry_share(route: Route) -> int:
    """Return how many of them are kept for retries."""
    return max(route.target.in_flight // _RETRY_SHARE, 1)


def _settle_answers(account: Account, lanes: Lanes, answers: Mapping[str, Answers]) -> None:
    for destination, parts in lanes.items():
        # Behind the answers to plain requests are those to parcels, if there are any.
        for (delivery, _), response in zip(parts, answers[destination].responses, strict=False):
            if response is None:
                account.unfinished(delivery)
            else:
                account.settled(delivery, response)


def _settlement(
    account: Account,
    generation: int,
    health: Mapping[str, Health],
    pace: Pace,
) -> Settlement:
    return Settlement(
        generation,
        outcomes=rows.outcomes([rows.OutcomeRow(*row) for row in account.outcomes]),
        parked=account.parked,
        dead=account.dead,
        tallies=account.tallies(),
        health=account.health(dict(health), pace.batch_seconds),
    )


def _span(batch: pa.RecordBatch) -> Span:
    offsets = batch.column("offset")
    first, last = offsets[0].as_py(), offsets[len(offsets) - 1].as_py()
    return Span(batch.column("partition")[0].as_py(), first, last + 1)
