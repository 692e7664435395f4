"""What is known of deliveries and of their destinations."""

from __future__ import annotations

import enum

import msgspec

from penstock.ports.log import Position


class Leg(enum.IntEnum):
    """Where a parked delivery is headed."""

    SUBSCRIBER = 0
    DEAD_LETTER = 1
    REPLY = 2
    """Only for a reply that was given up and is tried once more by hand."""


SHELVED = 1e11
"""Deliveries of a held route are due and end this many seconds later than any clock shows."""


class Parked(msgspec.Struct, frozen=True):
    """A delivery that waits for its next attempt."""

    route: str
    destination: str
    partition: int
    offset: int
    due: float
    deadline: float
    """When its whole schedule has passed: a destination that is still down then makes it dead."""
    attempts: int = 0
    leg: Leg = Leg.SUBSCRIBER
    status: int = 0
    cause: str = ""
    entry: bytes | None = None
    """The event itself, where it is not in the log any more or never was."""
    id: int = 0


class Dead(msgspec.Struct, frozen=True):
    """A delivery that was given up, with the event and the cause."""

    route: str
    destination: str
    partition: int
    offset: int
    attempts: int
    status: int
    cause: str
    at: float
    entry: bytes
    id: int = 0


class State(enum.StrEnum):
    """What is known of a destination."""

    UP = "up"
    SLOW = "slow"
    DOWN = "down"


class Health(msgspec.Struct, frozen=True):
    """The state of one destination, as the last settlement left it."""

    destination: str
    state: State = State.UP
    failures: int = 0
    """Failures in a row."""
    hold_until: float = 0.0
    """No request before this time: a Retry-After, or the wait before the next probe."""
    cause: str = ""
    since: float = 0.0


class Tally(msgspec.Struct, frozen=True):
    """What happened to one route, added up."""

    route: str
    matched: int = 0
    delivered: int = 0
    parked: int = 0
    dead: int = 0
    retried: int = 0
    last_success: float | None = None
    last_error: str | None = None
    last_error_at: float | None = None
    last_status: int | None = None
    """What the sink answered then; 0 when there was no answer."""

    def plus(self, other: Tally) -> Tally:
        """Return both added up; of the last happenings the other's count."""
        return Tally(
            self.route,
            self.matched + other.matched,
            self.delivered + other.delivered,
            self.parked + other.parked,
            self.dead + other.dead,
            self.retried + other.retried,
            other.last_success or self.last_success,
            other.last_error or self.last_error,
            other.last_error_at or self.last_error_at,
            self.last_status if other.last_error_at is None else other.last_status,
        )


class Steps(msgspec.Struct, frozen=True):
    """Where the runs of events begin that each version of the routing table decides."""

    starts: tuple[tuple[int, Position], ...] = ()
    """Versions in rising order, each with the start of its first run."""
    frontier: Position | None = None
    """The end of the last run; None before the first."""

    def first(self, version: int) -> Position | None:
        """Return the start of the first run that a version or a later one decides, if any did."""
        return next((start for known, start in self.starts if known >= version), None)


class Caught(msgspec.Struct, frozen=True):
    """How far a catch-up has come."""

    route: str
    since: int
    """The version that began the gap; with the route this is the name of the catch-up."""
    position: Position
    judged: int = 0
    skipped: int = 0
    """Events that the log had forgotten before they were judged."""


class Rates(msgspec.Struct, frozen=True):
    """Events per second of one route, over the last minute."""

    matched: float = 0.0
    delivered: float = 0.0


class Standing(msgspec.Struct, frozen=True):
    """All that the ledger knows of one route, at one moment."""

    tally: Tally
    health: Health
    rates: Rates = Rates()
    next_retry: float | None = None
    settled: Position | None = None
    steps: Steps = Steps()
    caught: tuple[Caught, ...] = ()
