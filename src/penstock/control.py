"""The rooms behind API and command line, in one frozen bundle."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from penstock.delivery.handshake import Permissions
from penstock.discovery import Services
from penstock.knative import Resources
from penstock.ports import (
    Clock,
    DeadLetters,
    EventLog,
    Health,
    Position,
    ResourceStore,
    Standing,
    Tally,
)
from penstock.registry import Registry
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

    def standing(self, route: str, destination: str, now: float) -> Standing: ...


@dataclass(frozen=True, slots=True)
class Limits:
    """How much is accepted at once, and how much may wait."""

    event_bytes: int
    batch_bytes: int
    backlog_events: int
    registry_bytes: int = 32 << 20
    """The largest answer or document of the registry."""


@dataclass(frozen=True, slots=True)
class Control:
    """All that API and command line act upon."""

    store: ResourceStore
    log: EventLog
    ledger: Books
    dead: DeadLetters
    subscriptions: SubscriptionManager
    services: Services
    registry: Registry
    knative: Resources
    permissions: Permissions
    hasten: Callable[[str, float], int]
    """Makes what waits for a destination due."""
    clock: Clock
    limits: Limits
    pipeline_is_well: Callable[[], bool]
    batch_bounds: tuple[float, ...] = ()
    """The durations by which `Batches.within` counts."""
    address: str = ""
    """Where streams take events; empty where only requests tell."""
    url: str = ""
    """Public base address; empty where requests say by which name they reached us."""
