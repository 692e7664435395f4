"""The ledger: what became of every delivery, in SQLite or PostgreSQL."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from penstock.errors import ConflictError
from penstock.ports import Health, Parked, Plan, Position, Settlement, State, Tally
from penstock.store import tables
from penstock.store.engine import create_tables, made, open_engine, reading, writing

_COUNTED = ("matched", "delivered", "parked", "dead", "retried")
BOUNDS = (0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
_LAST = ("last_success", "last_error", "last_error_at")


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
            generation = int(_locked_fact(connection, "generation") or 0) + 1
            _set_fact(connection, "generation", str(generation))
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
            text = _fact(connection, "plan")
            if text:
                known = msgspec.json.decode(text, type=Plan)
                if known.start == start:
                    return known
            made = Plan(start, end, version)
            _set_fact(connection, "plan", msgspec.json.encode(made).decode())
        return made

    def planned(self, start: Position) -> Plan | None:
        """Return the plan recorded for a run that starts at `start`."""
        with reading(self._engine) as connection:
            text = _fact(connection, "plan")
        known = msgspec.json.decode(text, type=Plan) if text else None
        return known if known is not None and known.start == start else None

    def position(self) -> Position | None:
        """Return how far deliveries are settled; None before the first settlement."""
        with reading(self._engine) as connection:
            text = _fact(connection, "position")
        return msgspec.json.decode(text, type=Position) if text else None

    def settle(self, settlement: Settlement) -> None:
        """Write everything of a settlement in one transaction."""
        with writing(self._engine) as connection:
            _fence(connection, settlement.generation)
            if _settled_before(connection, settlement.position):
                return
            if settlement.outcomes:
                rows = [{"at": time.time(), "body": body} for body in settlement.outcomes]
                connection.execute(tables.OUTCOMES.insert(), rows)
            _write_parked(connection, settlement)
            if settlement.dead:
                rows = [_row(dead, drop=("id",)) for dead in settlement.dead]
                connection.execute(tables.DEAD.insert(), rows)
            _write_tallies(connection, settlement.tallies)
            _write_health(connection, settlement.health)
            if settlement.batch is not None:
                _write_batch(connection, *settlement.batch)

    def batches(self) -> Batches:
        """Return how many micro-batches there were, and how long they took."""
        with reading(self._engine) as connection:
            text = _fact(connection, "batches")
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

    def oldest_version(self, newest: int) -> int:
        """Return the oldest version of the routing table that a batch may still ask for."""
        with reading(self._engine) as connection:
            text = _fact(connection, "plan")
        # Before the first plan is recorded its version may already have been chosen.
        return min(msgspec.json.decode(text, type=Plan).version, newest) if text else 0

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
            _set_fact(connection, "synced", str(time.time()))

    def forget_outcomes(self, before: float) -> int:
        """Remove outcomes that are older than a time, and return how many batches of them."""
        old = tables.OUTCOMES.c.at < before
        with writing(self._engine) as connection:
            return connection.execute(tables.OUTCOMES.delete().where(old)).rowcount

    def close(self) -> None:
        self._engine.dispose()
        self._plans.dispose()


def _fence(connection: sa.Connection, generation: int) -> None:
    if int(_locked_fact(connection, "generation") or 0) != generation:
        msg = "a newer pipeline has taken over; this one must stop"
        raise ConflictError(msg, address=f"generation {generation}")


def _settled_before(connection: sa.Connection, position: Position | None) -> bool:
    """Move the position forward; a batch that was settled already is not settled again."""
    if position is None:
        return False
    text = _fact(connection, "position")
    if text and sum(msgspec.json.decode(text, type=Position)) >= sum(position):
        return True
    _set_fact(connection, "position", msgspec.json.encode(position).decode())
    return False


def _write_batch(connection: sa.Connection, events: int, seconds: float) -> None:
    text = _fact(connection, "batches")
    known = msgspec.json.decode(text, type=Batches) if text else Batches()
    after = known.plus(events, seconds, time.time())
    _set_fact(connection, "batches", msgspec.json.encode(after).decode())


def _fact(connection: sa.Connection, name: str) -> str | None:
    query = sa.select(tables.FACTS.c.value).where(tables.FACTS.c.name == name)
    return connection.scalar(query)


def _locked_fact(connection: sa.Connection, name: str) -> str | None:
    """Return a fact that nobody else changes before this transaction ends."""
    query = sa.select(tables.FACTS.c.value).where(tables.FACTS.c.name == name)
    return connection.scalar(query.with_for_update())


def _set_fact(connection: sa.Connection, name: str, value: str) -> None:
    _upsert(connection, tables.FACTS, [{"name": name, "value": value}], ("value",))


def _write_parked(connection: sa.Connection, settlement: Settlement) -> None:
    if settlement.finished:
        gone = tables.PARKED.c.id == sa.bindparam("number")
        connection.execute(
            tables.PARKED.delete().where(gone),
            [{"number": number} for number in settlement.finished],
        )
    if settlement.parked:
        _know(connection, {parked.destination for parked in settlement.parked})
    fresh = [_row(parked, drop=("id",)) for parked in settlement.parked if not parked.id]
    if fresh:
        _upsert(connection, tables.PARKED, fresh, ())
    again = [_reparked(parked) for parked in settlement.parked if parked.id]
    if again:
        names = ("due", "attempts", "status", "cause", "leg", "destination", "entry", "deadline")
        statement = (
            tables.PARKED.update()
            .where(tables.PARKED.c.id == sa.bindparam("number"))
            .values(lease=None, **{name: sa.bindparam(f"new_{name}") for name in names})
        )
        connection.execute(statement, again)


def _know(connection: sa.Connection, destinations: set[str]) -> None:
    """Make sure that the waiting room finds the destination of everything that is parked."""
    rows = [_row(Health(destination, since=time.time())) for destination in destinations]
    _upsert(connection, tables.DESTINATIONS, rows, ())


def _reparked(parked: Parked) -> dict[str, Any]:
    row = {f"new_{name}": value for name, value in _row(parked, drop=("id",)).items()}
    unused = ("new_route", "new_partition", "new_offset")
    return {key: row[key] for key in row if key not in unused} | {"number": parked.id}


def _write_tallies(connection: sa.Connection, tallies: Sequence[Tally]) -> None:
    if not tallies:
        return
    insert = _insert(connection, tables.TALLIES)
    new = insert.excluded
    added = {name: tables.TALLIES.c[name] + new[name] for name in _COUNTED}
    latest = {name: sa.func.coalesce(new[name], tables.TALLIES.c[name]) for name in _LAST}
    statement = insert.on_conflict_do_update(index_elements=["route"], set_=added | latest)
    connection.execute(statement, [_row(tally) for tally in tallies])


def _write_health(connection: sa.Connection, healths: Sequence[Health]) -> None:
    if healths:
        columns = ("state", "failures", "hold_until", "cause", "since")
        _upsert(connection, tables.DESTINATIONS, [_row(health) for health in healths], columns)


def _row(value: msgspec.Struct, drop: Sequence[str] = ()) -> dict[str, Any]:
    return {name: getattr(value, name) for name in value.__struct_fields__ if name not in drop}


def _insert(connection: sa.Connection, table: sa.Table) -> Any:  # noqa: ANN401 - of either dialect
    dialect = sqlite if connection.dialect.name == "sqlite" else postgresql
    return dialect.insert(table)


def _upsert(
    connection: sa.Connection, table: sa.Table, rows: list[dict[str, Any]], replaced: Sequence[str]
) -> None:
    insert = _insert(connection, table)
    if replaced:
        keys = [column.name for column in table.primary_key]
        new = {name: insert.excluded[name] for name in replaced}
        connection.execute(insert.on_conflict_do_update(index_elements=keys, set_=new), rows)
    else:
        connection.execute(insert.on_conflict_do_nothing(), rows)
