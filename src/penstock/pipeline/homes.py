"""Where the pipeline finds log, store, ledger and sinks; travels to the executors."""

from __future__ import annotations

import importlib
import pickle
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from penstock.ports import CatchUps, EventLog, Ledger, ResourceStore, Sink, Vault, WaitingRoom


@dataclass(frozen=True, slots=True)
class Opening:
    """A call that is made later, of something that is imported then (`module:name`).

    Spark carries homes into processes that only plan: those must not load what they do not use.
    """

    target: str
    arguments: tuple[Any, ...] = ()

    def __call__(self, *more: object) -> Any:  # noqa: ANN401 - whatever the target returns
        module, _, path = self.target.partition(":")
        found = importlib.import_module(module)
        for name in path.split("."):
            found = getattr(found, name)
        return found(*self.arguments, *more)  # type: ignore[operator]


@dataclass(frozen=True, slots=True)
class Hook:
    """Who we are to sinks that are asked for their consent (Web Hooks 4.1)."""

    origin: str = "localhost"
    callback: str = ""
    """Where a sink can consent later, without a slash at the end; empty: nowhere."""


@dataclass(frozen=True)
class Homes:
    """Picklable ways to open everything; the composition root fills them in."""

    log: Callable[[], EventLog]
    store: Callable[[], ResourceStore]
    ledger: Callable[[], Ledger]
    waiting: Callable[[int], WaitingRoom]
    sink: Callable[[str], Sink]
    vault: Callable[[], Vault]
    catchups: Callable[[int], CatchUps]
    hook: Hook = Hook()


class Desk:
    """What is open in this process, each opened when it is first needed."""

    def __init__(self, homes: Homes) -> None:
        self.homes = homes
        self._waiting: dict[int, WaitingRoom] = {}

    @cached_property
    def log(self) -> EventLog:
        return self.homes.log()

    @cached_property
    def store(self) -> ResourceStore:
        return self.homes.store()

    @cached_property
    def ledger(self) -> Ledger:
        return self.homes.ledger()

    @cached_property
    def vault(self) -> Vault:
        return self.homes.vault()

    def waiting(self, generation: int) -> WaitingRoom:
        if generation not in self._waiting:
            self._waiting[generation] = self.homes.waiting(generation)
        return self._waiting[generation]


# Spark reuses a Python process for many tasks. Connections are too dear to make for each
# micro-batch, so a process keeps them here, and what works with them in `worker`.
_DESKS: dict[bytes, Desk] = {}


def desk(homes: Homes) -> Desk:
    """Return the desk of this process for these homes."""
    key = pickle.dumps(homes)
    if key not in _DESKS:
        _DESKS[key] = Desk(homes)
    return _DESKS[key]


@dataclass(frozen=True, slots=True)
class Pace:
    """How much and how long the pipeline works at a time."""

    batch_events: int = 20_000
    batch_seconds: float = 0.5
    parallel: int = 2
    """Tasks into which a large batch is cut."""
    shards: int = 1
    epoch_seconds: float = 30.0
