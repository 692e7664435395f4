"""Everything behind the pipeline, in a folder of its own, for tests to act upon."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import msgspec

from penstock import runtime
from penstock.config import Settings
from penstock.events.entry import Entry
from penstock.log import SqliteLog
from penstock.pipeline.homes import Homes, Pace
from penstock.ports import Drop, Put
from penstock.routing import ROUTE, Route
from penstock.store import SqlDeadLetters, SqlLedger, SqlResourceStore, SqlWaitingRoom

PACE = Pace(parallel=1, epoch_seconds=5.0)


@dataclass(frozen=True)
class Plant:
    """The log, the store and the ledger of one data folder."""

    settings: Settings
    log: SqliteLog
    store: SqlResourceStore
    ledger: SqlLedger
    dead: SqlDeadLetters

    @property
    def homes(self) -> Homes:
        return runtime.homes(self.settings)

    def put(self, *routes: Route) -> int:
        """Add or replace routes; return the version of the routing table."""
        changes = [Put(ROUTE, route.id, msgspec.json.encode(route)) for route in routes]
        return self.store.write(changes)

    def drop(self, *keys: str) -> int:
        return self.store.write([Drop(ROUTE, key) for key in keys])

    def route(self, key: str) -> Route | None:
        found = self.store.get(ROUTE, key)
        return None if found is None else msgspec.json.decode(found.body, type=Route)

    def append(self, entries: Sequence[Entry]) -> int:
        """Append to the log; return the position behind."""
        (position,) = self.log.append(entries)
        return position

    def waiting(self) -> int:
        """How many deliveries wait."""
        return sum(tally.parked for tally in self.ledger.tallies().values())

    def destinations(self) -> set[str]:
        """Where deliveries, dead letters too, still wait for."""
        room = SqlWaitingRoom(runtime.ledger_url(self.settings), 0)
        found = set(room.destinations())
        room.close()
        return found


@contextmanager
def plant(folder: Path) -> Iterator[Plant]:
    settings = Settings(data=str(folder))
    made = Plant(
        settings,
        runtime.open_log(settings),
        runtime.open_store(settings),
        runtime.open_ledger(settings),
        runtime.open_dead_letters(settings),
    )
    try:
        yield made
    finally:
        for part in (made.log, made.store, made.ledger, made.dead):
            part.close()
