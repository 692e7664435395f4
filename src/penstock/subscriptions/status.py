"""How a subscription does: what the ledger knows of its route, put into words and sums."""

from __future__ import annotations

import enum
from collections.abc import Iterable

import msgspec

from penstock.ports import SHELVED, Caught, Health, Position, Rates, Standing, Tally
from penstock.routing import Gap, Route
from penstock.subscriptions import starting


class Progress(enum.StrEnum):
    """What a subscription does at the moment."""

    RUNNING = "running"
    CATCHING_UP = "catching-up"
    PAUSED = "paused"
    STOPPED = "stopped"


class Start(msgspec.Struct, frozen=True):
    """Where deliveries began, and whether the log still had all that was asked for."""

    startfrom: str
    position: str
    complete: bool


class CatchUp(msgspec.Struct, frozen=True):
    """How far it is with events that were published before the start, or during a pause."""

    judged: int
    remaining: int
    skipped: int
    """Events that retention took from the log before they were judged."""


class Backlog(msgspec.Struct, frozen=True):
    """What is still to be done."""

    events: int
    unread: int
    """Events of all kinds that nobody has compared with the filters yet."""
    parked: int
    """Deliveries that wait for an attempt."""


class LastError(msgspec.Struct, frozen=True):
    """The last attempt that failed."""

    at: float
    status: int
    """What the sink answered; 0 when there was no answer."""
    cause: str


class Status(msgspec.Struct, frozen=True):
    """All that is told of a subscription; times are in seconds since 1970."""

    id: str
    state: Progress
    stopped: bool
    reason: str | None
    position: str
    """The end of the log, for `startfrom` of another subscription."""
    start: Start
    backlog: Backlog
    catchup: CatchUp | None
    rates: Rates
    last_success: float | None
    last_error: LastError | None
    next_retry: float | None
    deliveries: Tally
    sink: Health


def status(route: Route, wanted: str, standing: Standing, log: tuple[Position, Position]) -> Status:
    """Return the status of a subscription, whose route is dated, for the ends of the log."""
    first, head = log
    catchup = _catchup(route, standing, head)
    remaining = catchup.remaining if catchup else 0
    tally = standing.tally
    settled = standing.settled or first
    unread = remaining + (0 if route.held else _distance(settled, route.start, head=head))
    parked = max(tally.parked, 0)
    state = _state(route, remaining)
    waits = standing.next_retry is not None and standing.next_retry < SHELVED
    return Status(
        route.id,
        state,
        route.stopped,
        _reason(state, tally),
        starting.printed(head),
        Start(wanted, starting.printed(route.start or (0,) * len(head)), not route.clipped),
        Backlog(unread + parked, unread, parked),
        catchup,
        standing.rates,
        tally.last_success,
        _last_error(tally),
        standing.next_retry if waits and not route.held else None,
        tally,
        standing.health,
    )


def _state(route: Route, remaining: int) -> Progress:
    if route.stopped:
        return Progress.STOPPED
    if route.held:
        return Progress.PAUSED
    return Progress.CATCHING_UP if remaining else Progress.RUNNING


def _reason(state: Progress, tally: Tally) -> str | None:
    if state is not Progress.STOPPED:
        return None
    return f"the sink is gone for good: {tally.last_error or 'it answered 410'}"


def _last_error(tally: Tally) -> LastError | None:
    if tally.last_error is None:
        return None
    return LastError(tally.last_error_at or 0.0, tally.last_status or 0, tally.last_error)


def _catchup(route: Route, standing: Standing, head: Position) -> CatchUp | None:
    if not route.gaps:
        return None
    known = {one.since: one for one in standing.caught}
    found = [one for gap in route.gaps if (one := known.get(gap.since)) is not None]
    remaining = sum(_remaining(gap, known.get(gap.since), standing, head) for gap in route.gaps)
    return CatchUp(_sum(found, "judged"), remaining, _sum(found, "skipped"))


def _remaining(gap: Gap, known: Caught | None, standing: Standing, head: Position) -> int:
    start, end = gap.bounds(standing.steps)
    at = known.position if known else start or standing.steps.frontier or standing.settled or ()
    return _distance(at, head=head if gap.until is None else end or at)


def _distance(*starts: Position, head: Position) -> int:
    """Return how many events lie between the latest of some positions and another."""
    latest = [max(ends) for ends in zip(*(start for start in starts if start), strict=True)]
    return max(sum(head) - sum(latest), 0) if latest else sum(head)


def _sum(found: Iterable[Caught], name: str) -> int:
    return sum(getattr(one, name) for one in found)
