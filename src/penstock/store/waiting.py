"""The parked and the dead deliveries of the ledger."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from penstock.ports import SHELVED, Dead, Parked, Tally
from penstock.store.engine import create_tables, made, open_engine, reading, writing
from penstock.store.tables import DEAD, DESTINATIONS, METADATA, PARKED
from penstock.store.writes import add_tallies, know

_FAR = 5.0
_GLANCE = 0.02
_ASK = 0.5


class SqlWaitingRoom:
    """A `WaitingRoom` for one generation of the pipeline."""

    def __init__(self, url: str, generation: int) -> None:
        self._engine = open_engine(url, synchronous="NORMAL")
        self._generation = generation
        database = self._engine.url.database
        embedded = self._engine.dialect.name == "sqlite" and database
        self._file = Path(f"{database}-wal") if embedded else None

    def wait(self, ahead: float, seconds: float) -> bool:
        """Tell, within some seconds, whether something is due or will be in `ahead` seconds."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            seen, asked = self._signature(), time.monotonic()
            due = min(self.destinations().values(), default=None)
            if due is not None and due <= time.time() + ahead:
                return True
            pause = min(until, asked + _ASK)
            if due is not None:
                pause = min(pause, asked + due - time.time() - ahead)
            # A glance at the file is all it takes to see that nothing was written.
            while self._signature() == seen and time.monotonic() < pause:
                time.sleep(_GLANCE)
        return False

    def _signature(self) -> tuple[int, int]:
        if self._file is None or not self._file.exists():
            return 0, 0
        found = self._file.stat()
        return found.st_mtime_ns, found.st_size

    def destinations(self) -> Mapping[str, float]:
        """Return each destination with parked deliveries, and when its earliest can be sent."""
        earliest = (
            sa.select(sa.func.min(PARKED.c.due))
            .where(PARKED.c.destination == DESTINATIONS.c.destination)
            .scalar_subquery()
        )
        with reading(self._engine) as connection:
            columns = DESTINATIONS.c.destination, earliest, DESTINATIONS.c.hold_until
            rows = connection.execute(sa.select(*columns))
            return {name: max(due, held) for name, due, held in rows if due is not None}

    def claim(self, destination: str, now: float, limit: int, lease: float) -> list[Parked]:
        """Take due deliveries of a destination; they come back when the lease has passed."""
        due = sa.and_(PARKED.c.destination == destination, PARKED.c.due <= now)
        return self._take(due, PARKED.c.due, limit, now + lease)

    def expire(self, destination: str, now: float, limit: int) -> list[Parked]:
        """Take deliveries of a destination whose deadline has passed and that nobody holds."""
        late = sa.and_(
            PARKED.c.destination == destination,
            PARKED.c.deadline <= now,
            PARKED.c.lease.is_(None),
        )
        return self._take(late, PARKED.c.deadline, limit, now + 60.0)

    def hasten(self, destination: str, now: float) -> int:
        """Make what waits long for a destination due, for it has come back."""
        waiting = sa.and_(
            PARKED.c.destination == destination,
            PARKED.c.lease.is_(None),
            sa.or_(PARKED.c.attempts == 0, PARKED.c.due > now + _FAR),
            PARKED.c.due > now,
            PARKED.c.due < SHELVED,
        )
        with writing(self._engine) as connection:
            return connection.execute(PARKED.update().where(waiting).values(due=now)).rowcount

    def close(self) -> None:
        self._engine.dispose()

    def _take(
        self, which: sa.ColumnElement[bool], order: sa.Column[Any], limit: int, until: float
    ) -> list[Parked]:
        query = sa.select(PARKED).where(which).order_by(order).limit(limit)
        with writing(self._engine) as connection:
            query = query.with_for_update(skip_locked=True)
            found = [made(row, Parked) for row in connection.execute(query)]
            if found:
                numbers = [parked.id for parked in found]
                values = {"due": until, "lease": self._generation}
                connection.execute(PARKED.update().where(PARKED.c.id.in_(numbers)).values(**values))
        return found


class SqlDeadLetters:
    """The dead letters of the ledger: looked at, sent again, thrown away."""

    def __init__(self, url: str) -> None:
        self._engine = open_engine(url, synchronous="NORMAL")
        with writing(self._engine) as connection:
            create_tables(connection, METADATA)

    def page(self, before: int | None, limit: int, route: str | None = None) -> list[Dead]:
        """Return dead letters, the newest first, those older than a number."""
        query = sa.select(DEAD).order_by(DEAD.c.id.desc()).limit(limit)
        if before is not None:
            query = query.where(DEAD.c.id < before)
        if route is not None:
            query = query.where(DEAD.c.route == route)
        with reading(self._engine) as connection:
            return [made(row, Dead) for row in connection.execute(query)]

    def get(self, number: int) -> Dead | None:
        with reading(self._engine) as connection:
            row = connection.execute(sa.select(DEAD).where(DEAD.c.id == number)).first()
        return None if row is None else made(row, Dead)

    def retry(self, numbers: Sequence[int], now: float, deadline: float) -> int:
        """Park the given dead letters again, due at once, and return how many there were."""
        with writing(self._engine) as connection:
            found = connection.execute(sa.select(DEAD).where(DEAD.c.id.in_(numbers)))
            rows = [_revived(made(row, Dead), now, deadline) for row in found]
            if rows:
                know(connection, {row["destination"] for row in rows})
                connection.execute(PARKED.insert(), rows)
                counted = Counter(row["route"] for row in rows)
                sums = [Tally(route, parked=count) for route, count in counted.items()]
                add_tallies(connection, sums, now)
                connection.execute(DEAD.delete().where(DEAD.c.id.in_(numbers)))
        return len(rows)

    def drop(self, numbers: Sequence[int]) -> int:
        """Throw the given dead letters away and return how many there were."""
        with writing(self._engine) as connection:
            return connection.execute(DEAD.delete().where(DEAD.c.id.in_(numbers))).rowcount

    def close(self) -> None:
        self._engine.dispose()


def _revived(dead: Dead, now: float, deadline: float) -> dict[str, Any]:
    # A dead letter sent again is a delivery of its own: the offset -id cannot meet another one.
    return {
        "route": dead.route,
        "destination": dead.destination,
        "partition": dead.partition,
        "offset": -dead.id,
        "leg": 0,
        "due": now,
        "deadline": deadline,
        "attempts": 0,
        "status": 0,
        "cause": "",
        "entry": dead.entry,
        "lease": None,
    }
