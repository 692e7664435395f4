"""What is asked of the ledger, and of the rooms in which deliveries wait."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

import msgspec

from penstock.ports.deliveries import Caught, Dead, Health, Parked, Standing, Steps, Tally
from penstock.ports.log import Position


class Plan(msgspec.Struct, frozen=True):
    """A run of events and the version of the routing table that decides them."""

    start: Position
    end: Position
    version: int


class Settlement(msgspec.Struct, frozen=True):
    """All that one micro-batch, or one group of retries, leaves behind."""

    generation: int
    position: Position | None = None
    outcomes: Sequence[bytes] = ()
    """Record batches of outcomes, as bytes."""
    parked: Sequence[Parked] = ()
    finished: Sequence[int] = ()
    """Ids of parked deliveries that are done with, one way or the other."""
    dead: Sequence[Dead] = ()
    batch: tuple[int, float] | None = None
    """Events and seconds of a micro-batch."""
    tallies: Sequence[Tally] = ()
    health: Sequence[Health] = ()


class Ledger(Protocol):
    """What became of every delivery; also the pipeline's only checkpoint."""

    def begin(self) -> int:
        """Start a new generation of the pipeline; older ones cannot settle from now on."""
        ...

    def plan(self, start: Position, end: Position, version: int) -> Plan:
        """Record the plan for a run that starts at `start`, or return the one already recorded."""
        ...

    def planned(self, start: Position) -> Plan | None:
        """Return the plan recorded for a run that starts at `start`."""
        ...

    def position(self) -> Position | None:
        """Return how far deliveries are settled; None before the first settlement."""
        ...

    def settle(self, settlement: Settlement) -> None:
        """Write everything of a settlement in one transaction."""
        ...

    def health(self) -> Mapping[str, Health]: ...

    def standing(self, route: str, destination: str, now: float) -> Standing:
        """Return all that is known of one route."""
        ...

    def close(self) -> None: ...


class WaitingRoom(Protocol):
    """The parked deliveries, as the retry query sees them."""

    def wait(self, ahead: float, seconds: float) -> bool:
        """Tell, within some seconds, whether something is due or will be in `ahead` seconds."""
        ...

    def destinations(self) -> Mapping[str, float]:
        """Return each destination with parked deliveries, and when its earliest can be sent."""
        ...

    def claim(self, destination: str, now: float, limit: int, lease: float) -> list[Parked]:
        """Take due deliveries of a destination; they come back when the lease has passed."""
        ...

    def expire(self, destination: str, now: float, limit: int) -> list[Parked]:
        """Take deliveries of a destination whose deadline has passed."""
        ...

    def hasten(self, destination: str, now: float) -> int:
        """Make everything that waits for a destination due, for it has come back."""
        ...


class CatchUps(Protocol):
    """The catch-ups of routes, and what waits for a resume, as the pipeline sees them."""

    def steps(self) -> Steps: ...

    def forget_steps(self, before: int) -> None:
        """Remove what is known of versions before one."""
        ...

    def all(self) -> list[Caught]: ...

    def advance(
        self, before: Caught | None, after: Caught, parked: Sequence[Parked], now: float
    ) -> bool:
        """Park deliveries and note how far that is, together, unless it was done already."""
        ...

    def forget(self, caught: Caught) -> None: ...

    def waiting(self, route: str, most: int) -> int:
        """Return how many deliveries of a route wait, counting no further than `most`."""
        ...

    def shelved(self) -> list[str]:
        """Return the routes that have deliveries which wait for a resume."""
        ...

    def release(self, route: str, now: float, limit: int) -> int:
        """Make shelved deliveries of a route due, with the time they had left."""
        ...

    def discard(self, route: str, limit: int) -> int:
        """Remove shelved deliveries of a route that is gone."""
        ...

    def close(self) -> None: ...


class DeadLetters(Protocol):
    """The deliveries that were given up, for people to look at."""

    def page(self, before: int | None, limit: int, route: str | None = None) -> list[Dead]: ...

    def get(self, number: int) -> Dead | None: ...

    def retry(self, numbers: Sequence[int], now: float, deadline: float) -> int:
        """Park the given dead letters again, due at once, and return how many there were."""
        ...

    def drop(self, numbers: Sequence[int]) -> int:
        """Throw the given dead letters away and return how many there were."""
        ...
