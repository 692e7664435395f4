"""The catch-ups of routes, and the deliveries that wait for a resume, in the ledger."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import sqlalchemy as sa

from penstock.ports import SHELVED, Caught, Parked, Steps, Tally
from penstock.store import ledger
from penstock.store.engine import create_tables, open_engine, reading, writing
from penstock.store.tables import CATCHUPS, METADATA, PARKED, STEPS
from penstock.store.writes import add_tallies, fence, know, park_counted, row, upsert

_AWAY = PARKED.c.due >= SHELVED


class SqlCatchUps:
    """`CatchUps` for one generation of the pipeline."""

    def __init__(self, url: str, generation: int) -> None:
        self._engine = open_engine(url, synchronous="NORMAL")
        self._generation = generation
        with writing(self._engine) as connection:
            create_tables(connection, METADATA)

    def steps(self) -> Steps:
        """Return where the runs begin that each version of the routing table decides."""
        with reading(self._engine) as connection:
            return ledger.steps(connection)

    def forget_steps(self, before: int) -> None:
        """Remove what is known of versions before one."""
        with writing(self._engine) as connection:
            connection.execute(STEPS.delete().where(STEPS.c.version < before))

    def all(self) -> list[Caught]:
        """Return how far all catch-ups have come."""
        with reading(self._engine) as connection:
            return ledger.caught(connection)

    def advance(
        self, before: Caught | None, after: Caught, parked: Sequence[Parked], now: float
    ) -> bool:
        """Park deliveries and note how far that is, together, unless it was done already."""
        with writing(self._engine) as connection:
            fence(connection, self._generation)
            known = ledger.caught(connection, *_named(after))
            if known != ([] if before is None else [before]):
                return False
            know(connection, {one.destination for one in parked})
            count = park_counted(connection, parked)
            tally = Tally(after.route, matched=count, parked=count)
            add_tallies(connection, [tally] if count else [], now)
            values = row(after) | {"position": msgspec.json.encode(after.position).decode()}
            upsert(connection, CATCHUPS, [values], ("position", "judged", "skipped"))
        return True

    def forget(self, caught: Caught) -> None:
        """Remove what is known of a catch-up that is over."""
        with writing(self._engine) as connection:
            connection.execute(CATCHUPS.delete().where(*_named(caught)))

    def waiting(self, route: str, most: int) -> int:
        """Return how many deliveries of a route wait, counting no further than `most`."""
        some = sa.select(PARKED.c.id).where(PARKED.c.route == route).limit(most).subquery()
        with reading(self._engine) as connection:
            return connection.scalar(sa.select(sa.func.count()).select_from(some)) or 0

    def shelved(self) -> list[str]:
        """Return the routes that have deliveries which wait for a resume."""
        # From one route to the next by the index, past all the deliveries in between.
        first = sa.select(sa.func.min(PARKED.c.route).label("route")).cte(recursive=True)
        following = sa.select(sa.func.min(PARKED.c.route)).where(PARKED.c.route > first.c.route)
        routes = first.union_all(
            sa.select(following.scalar_subquery()).where(first.c.route.is_not(None))
        )
        away = sa.exists().where(PARKED.c.route == routes.c.route, _AWAY)
        with reading(self._engine) as connection:
            return list(connection.scalars(sa.select(routes.c.route).where(away)))

    def release(self, route: str, now: float, limit: int) -> int:
        """Make shelved deliveries of a route due, with the time they had left."""
        left = PARKED.c.deadline - SHELVED
        change = PARKED.update().values(due=now, deadline=now + left)
        with writing(self._engine) as connection:
            fence(connection, self._generation)
            return connection.execute(change.where(_some_away(route, limit))).rowcount

    def discard(self, route: str, limit: int) -> int:
        """Remove shelved deliveries of a route that is gone."""
        with writing(self._engine) as connection:
            fence(connection, self._generation)
            return connection.execute(PARKED.delete().where(_some_away(route, limit))).rowcount

    def close(self) -> None:
        self._engine.dispose()


def _named(caught: Caught) -> tuple[sa.ColumnElement[bool], ...]:
    return CATCHUPS.c.route == caught.route, CATCHUPS.c.since == caught.since


def _some_away(route: str, limit: int) -> sa.ColumnElement[bool]:
    some = sa.select(PARKED.c.id).where(PARKED.c.route == route, _AWAY).limit(limit)
    return PARKED.c.id.in_(some)
