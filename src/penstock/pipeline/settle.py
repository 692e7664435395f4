"""Outcomes → ledger, parked, replies: one transaction per micro-batch, on the driver."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from penstock.errors import ConflictError, NotFoundError
from penstock.pipeline.done import Done
from penstock.pipeline.homes import Desk
from penstock.ports import Health, Position, Put, Settlement, State, Tally
from penstock.routing import ROUTE, Route


def settle(desk: Desk, parts: Sequence[Done], seconds: float) -> None:
    """Write down what all tasks of a batch did; replies first, for they must not be lost."""
    if not parts:
        return
    replies = [entry for part in parts for entry in part.replies]
    if replies:
        desk.log.append(replies)
    position = _position(desk.ledger.position() or desk.log.bounds()[0], parts)
    desk.ledger.settle(_together(parts, position, seconds))
    stop(desk, {route for part in parts for route in part.stopped})


def stop(desk: Desk, routes: Iterable[str]) -> None:
    """Take routes out of matching whose sinks are gone for good."""
    for key in routes:
        document = desk.store.get(ROUTE, key)
        if document is None:
            continue
        route = msgspec.json.decode(document.body, type=Route).dated(document.version)
        body = msgspec.json.encode(msgspec.structs.replace(route, stopped=True))
        try:
            desk.store.write([Put(ROUTE, key, body, expected=document.version)])
        except (ConflictError, NotFoundError):
            continue  # Its owner changed or deleted it in this very moment: that is newer.


def _position(before: Position, parts: Sequence[Done]) -> Position:
    ends = list(before)
    for part in parts:
        ends[part.span.partition] = max(ends[part.span.partition], part.span.end)
    return tuple(ends)


def _together(parts: Sequence[Done], position: Position, seconds: float) -> Settlement:
    settlements = [part.settlement for part in parts]
    return Settlement(
        settlements[0].generation,
        position,
        [body for one in settlements for body in one.outcomes],
        [parked for one in settlements for parked in one.parked],
        (),
        [dead for one in settlements for dead in one.dead],
        (sum(len(part.span) for part in parts), seconds),
        _tallies(settlements),
        _health(settlements),
    )


def _tallies(settlements: Iterable[Settlement]) -> list[Tally]:
    sums: dict[str, Tally] = {}
    for tally in (tally for one in settlements for tally in one.tallies):
        known = sums.get(tally.route)
        sums[tally.route] = tally if known is None else known.plus(tally)
    return list(sums.values())


def _health(settlements: Iterable[Settlement]) -> list[Health]:
    """Where two tasks saw one destination differently, the worse sight counts."""
    worst = {State.UP: 0, State.SLOW: 1, State.DOWN: 2}
    seen: dict[str, Health] = {}
    for health in (health for one in settlements for health in one.health):
        known = seen.get(health.destination)
        if known is None or worst[health.state] > worst[known.state]:
            seen[health.destination] = health
    return list(seen.values())
