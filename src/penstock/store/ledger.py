"""The ledger: what became of every delivery, in SQLite or PostgreSQL."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
import sqlalchemy as sa

from penstock.ports import (
    Caught,
    Health,
    Parked,
    Plan,
    Position,
    Rates,
    Settlement,
    Standing,
    State,
    Steps,
    Tally,
)
from penstock.store import tables
from penstock.store.engine import create_tables, made, open_engine, reading, writing
from penstock.store.writes import (
    add_tallies,
    fact,
    fence,
    know,
    locked_fact,
    park,
    rate,
    row,
    set_fact,
    upsert,
)

BOUNDS = (0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)


class Batches(msgspec.Struct, frozen=True):
    """Micro-batches so far: their events and seconds, and how many took at most BOUNDS."""

    count: int = 0
    events: int = 0
    seconds: float = 0.0
    within: tuple[int, ...] = (0,) * len(BOUNDS)
    last: float = 0.0
    last_seconds: float = 0.0

    def plus(self, events: int, seconds: float, now: float) -> Batches:
        """Return the sums after one more batch."""
        within = (
            number + (seconds <= bound) for number, bound in zip(self.within, BOUNDS, strict=True)
        )
        return Batches(
            self.count + 1,
            self.events + events,
            self.seconds + seconds,
            tuple(within),
            now,
            seconds,
        )


class SqlLedger:
    """A `Ledger`: one transaction per settlement, fenced by the generation of the pipeline."""

    def __init__(self, url: str) -> None:
        # NORMAL: a power cut may undo the last settlements, whole ones; their events are then
        # delivered again, which is what at-least-once allows. Nothing is lost by it.
        self._engine = open_engine(url, synchronous="NORMAL")
        # A plan must survive even a power cut, or a repeated batch could decide anew (KA-29).
        self._plans = open_engine(url, synchronous="FULL")
        with writing(self._engine) as connection:
            create_tables(connection, tables.METADATA)

    def begin(self) -> int:
        """Start a new generation of the pipeline; leases of older ones end at once."""
        with writing(self._engine) as connection:
            generation = int(locked_fact(connection, "generation") or 0) + 1
            set_fact(connection, "generation", str(generation))
            leased = tables.PARKED.c.lease.is_not(None)
            connection.execute(
                tables.PARKED.update().where(leased).values(lease=None, due=time.time())
            )
            waiting = sa.exists().where(
                tables.PARKED.c.destination == tables.DESTINATIONS.c.destination
            )
            calm = sa.and_(tables.DESTINATIONS.c.state == State.UP, ~waiting)
            connection.execute(tables.DESTINATIONS.delete().where(calm))
        return generation

    def plan(self, start: Position, end: Position, version: int) -> Plan:
        """Record the plan for a run that starts at `start`, or return the one already recorded."""
        with writing(self._plans) as connection:
            text = fact(connection, "plan")
            known = msgspec.json.decode(text, type=Plan) if text else None
            if known is not None and known.start == start:
                return known
            made = Plan(start, end, version)
            set_fact(connection, "plan", msgspec.json.encode(made).decode())
            if known is None or known.version != version:
                step = {"version": version, "start": msgspec.json.encode(start).decode()}
                upsert(connection, tables.STEPS, [step], ())
        return made

    def planned(self, start: Position) -> Plan | None:
        """Return the plan recorded for a run that starts at `start`."""
        with reading(self._engine) as connection:
            text = fact(connection, "plan")
        known = msgspec.json.decode(text, type=Plan) if text else None
        return known if known is not None and known.start == start else None

    def position(self) -> Position | None:
        """Return how far deliveries are settled; None before the first settlement."""
        with reading(self._engine) as connection:
            text = fact(connection, "position")
        return msgspec.json.decode(text, type=Position) if text else None

    def settle(self, settlement: Settlement) -> None:
        """Write everything of a settlement in one transaction."""
        with writing(self._engine) as connection:
            fence(connection, settlement.generation)
            if _settled_before(connection, settlement.position):
                return
            if settlement.outcomes:
                rows = [{"at": time.time(), "body": body} for body in settlement.outcomes]
                connection.execute(tables.OUTCOMES.insert(), rows)
            _write_parked(connection, settlement)
            if settlement.dead:
                rows = [row(dead, drop=("id",)) for dead in settlement.dead]
                connection.execute(tables.DEAD.insert(), rows)
            add_tallies(connection, settlement.tallies, time.time())
            _write_health(connection, settlement.health)
            if settlement.batch is not None:
                _write_batch(connection, *settlement.batch)

    def batches(self) -> Batches:
        """Return how many micro-batches there were, and how long they took."""
        with reading(self._engine) as connection:
            text = fact(connection, "batches")
        return msgspec.json.decode(text, type=Batches) if text else Batches()

    def health(self) -> Mapping[str, Health]:
        """Return the destinations of which something other than plain success is known."""
        with reading(self._engine) as connection:
            rows = connection.execute(sa.select(tables.DESTINATIONS))
            return {row.destination: made(row, Health) for row in rows}

    def tallies(self) -> Mapping[str, Tally]:
        """Return the sums of every route."""
        with reading(self._engine) as connection:
            rows = connection.execute(sa.select(tables.TALLIES))
            return {row.route: made(row, Tally) for row in rows}

    def standing(self, route: str, destination: str, now: float) -> Standing:
        """Return all that is known of one route, in a time that does not grow with anything."""
        table = tables.PARKED.c
        waits = sa.and_(table.route == route, table.lease.is_(None))
        soonest = sa.select(table.due).where(waits).order_by(table.due).limit(1)
        where = tables.DESTINATIONS.c.destination == destination
        with reading(self._engine) as connection:
            sums = connection.execute(
                sa.select(tables.TALLIES).where(tables.TALLIES.c.route == route)
            ).first()
            health = connection.execute(sa.select(tables.DESTINATIONS).where(where)).first()
            settled = fact(connection, "position")
            return Standing(
                Tally(route) if sums is None else made(sums, Tally),
                Health(destination) if health is None else made(health, Health),
                Rates(*(rate(sums, name, now) for name in Rates.__struct_fields__))
                if sums is not None
                else Rates(),
                connection.scalar(soonest),
                msgspec.json.decode(settled, type=Position) if settled else None,
                steps(connection),
                tuple(caught(connection, tables.CATCHUPS.c.route == route)),
            )

    def oldest_version(self, newest: int) -> int:
        """Return the oldest version of the routing table that a batch may still ask for."""
        with reading(self._engine) as connection:
            text = fact(connection, "plan")
        # Before the first plan is recorded its version may already have been chosen.
        return min(msgspec.json.decode(text, type=Plan).version, newest) if text else 0

    def steps(self) -> Steps:
        """Return where the runs begin that each version of the routing table decides."""
        with reading(self._engine) as connection:
            return steps(connection)

    def caught(self) -> list[Caught]:
        """Return how far all catch-ups have come."""
        with reading(self._engine) as connection:
            return caught(connection)

    def needed(self) -> Position | None:
        """Return the earliest position that a parked delivery still needs from the log."""
        column = sa.func.min(tables.PARKED.c.offset)
        query = sa.select(column).where(tables.PARKED.c.entry.is_(None))
        with reading(self._engine) as connection:
            earliest = connection.scalar(query)
        return None if earliest is None else (int(earliest),)

    def sync(self) -> None:
        """Make sure that all settled so far survives even a power cut."""
        # What is committed here is synced, and with it all that lies before in the same file.
        with writing(self._plans) as connection:
            set_fact(connection, "synced", str(time.time()))

    def forget_outcomes(self, before: float) -> int:
        """Remove outcomes that are older than a time, and return how many batches of them."""
        old = tables.OUTCOMES.c.at < before
        with writing(self._engine) as connection:
            return connection.execute(tables.OUTCOMES.delete().where(old)).rowcount

    def close(self) -> None:
        self._engine.dispose()
        self._plans.dispose()


def steps(connection: sa.Connection) -> Steps:
    """Return where the runs begin that each version of the routing table decides."""
    table = tables.STEPS
    rows = connection.execute(sa.select(table).order_by(table.c.version))
    starts = ((row.version, msgspec.json.decode(row.start, type=Position)) for row in rows)
    plan = fact(connection, "plan")
    return Steps(tuple(starts), msgspec.json.decode(plan, type=Plan).end if plan else None)


def caught(connection: sa.Connection, *where: sa.ColumnElement[bool]) -> list[Caught]:
    """Return how far catch-ups have come."""
    rows = connection.execute(sa.select(tables.CATCHUPS).where(*where))
    return [
        Caught(
            row.route,
            row.since,
            msgspec.json.decode(row.position, type=Position),
            row.judged,
            row.skipped,
        )
        for row in rows
    ]


def _settled_before(connection: sa.Connection, position: Position | None) -> bool:
    """Move the position forward; a batch that was settled already is not settled again."""
    if position is None:
        return False
    text = fact(connection, "position")
    if text and sum(msgspec.json.decode(text, type=Position)) >= sum(position):
        return True
    set_fact(connection, "position", msgspec.json.encode(position).decode())
    return False


def _write_batch(connection: sa.Connection, events: int, seconds: float) -> None:
    text = fact(connection, "batches")
    known = msgspec.json.decode(text, type=Batches) if text else Batches()
    after = known.plus(events, seconds, time.time())
    set_fact(connection, "batches", msgspec.json.encode(after).decode())


def _write_parked(connection: sa.Connection, settlement: Settlement) -> None:
    if settlement.finished:
        gone = tables.PARKED.c.id == sa.bindparam("number")
        connection.execute(
            tables.PARKED.delete().where(gone),
            [{"number": number} for number in settlement.finished],
        )
    know(connection, {parked.destination for parked in settlement.parked})
    park(connection, (parked for parked in settlement.parked if not parked.id))
    again = [_reparked(parked) for parked in settlement.parked if parked.id]
    if again:
        names = ("due", "attempts", "status", "cause", "leg", "destination", "entry", "deadline")
        statement = (
            tables.PARKED.update()
            .where(tables.PARKED.c.id == sa.bindparam("number"))
            .values(lease=None, **{name: sa.bindparam(f"new_{name}") for name in names})
        )
        connection.execute(statement, again)


def _reparked(parked: Parked) -> dict[str, Any]:
    values = {f"new_{name}": value for name, value in row(parked, drop=("id",)).items()}
    unused = ("new_route", "new_partition", "new_offset")
    return {key: values[key] for key in values if key not in unused} | {"number": parked.id}


def _write_health(connection: sa.Connection, healths: Sequence[Health]) -> None:
    if healths:
        columns = ("state", "failures", "hold_until", "cause", "since")
        upsert(connection, tables.DESTINATIONS, [row(health) for health in healths], columns)
