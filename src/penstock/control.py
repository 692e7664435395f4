"""The rooms behind API and command line, in one frozen bundle."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from penstock.ports import Clock, DeadLetters, EventLog, Health, Position, ResourceStore, Tally
from penstock.subscriptions import SubscriptionManager


class Batches(Protocol):
    """Micro-batches so far: how many, their events and seconds, and how many took how long."""

    @property
    def count(self) -> int: ...

    @property
    def events(self) -> int: ...

    @property
    def seconds(self) -> float: ...

    @property
    def within(self) -> tuple[int, ...]: ...


class Books(Protocol):
    """What can be read from the ledger."""

    def position(self) -> Position | None: ...

    def tallies(self) -> Mapping[str, Tally]: ...

    def health(self) -> Mapping[str, Health]: ...

    def batches(self) -> Batches: ...


@dataclass(frozen=True, slots=True)
class Limits:
    """How much is accepted at once, and how much may wait."""

    event_bytes: int
    batch_bytes: int
    backlog_events: int


@dataclass(frozen=True, slots=True)
class Control:
    """All that API and command line act upon."""

    store: ResourceStore
    log: EventLog
    ledger: Books
    dead: DeadLetters
    subscriptions: SubscriptionManager
    clock: Clock
    limits: Limits
    pipeline_is_well: Callable[[], bool]
    batch_bounds: tuple[float, ...] = ()
    """The durations by which `Batches.within` counts."""
    url: str = ""
    """Public base address; empty where requests say by which name they reached us."""
