"""What several parts of the ledger write, each in the transaction of its caller."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec
import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from penstock.errors import ConflictError
from penstock.ports import Health, Parked, Tally
from penstock.store import tables

_COUNTED = ("matched", "delivered", "parked", "dead", "retried")
_LAST = ("last_success", "last_error", "last_error_at", "last_status")
_RATED = ("matched", "delivered")
_MINUTE = 60.0


def fence(connection: sa.Connection, generation: int) -> None:
    """Let only the newest pipeline write, and none begin before this transaction ends."""
    if int(locked_fact(connection, "generation") or 0) != generation:
        msg = "a newer pipeline has taken over; this one must stop"
        raise ConflictError(msg, address=f"generation {generation}")


def fact(connection: sa.Connection, name: str) -> str | None:
    query = sa.select(tables.FACTS.c.value).where(tables.FACTS.c.name == name)
    return connection.scalar(query)


def locked_fact(connection: sa.Connection, name: str) -> str | None:
    """Return a fact that nobody else changes before this transaction ends."""
    query = sa.select(tables.FACTS.c.value).where(tables.FACTS.c.name == name)
    return connection.scalar(query.with_for_update())


def set_fact(connection: sa.Connection, name: str, value: str) -> None:
    upsert(connection, tables.FACTS, [{"name": name, "value": value}], ("value",))


def park(connection: sa.Connection, parked: Iterable[Parked]) -> None:
    """Let new deliveries wait; those that wait already are left alone."""
    rows = [row(one, drop=("id",)) for one in parked]
    if rows:
        upsert(connection, tables.PARKED, rows, ())


def park_counted(connection: sa.Connection, parked: Iterable[Parked]) -> int:
    """Do the same, and return how many did not wait already."""
    rows = [row(one, drop=("id",)) for one in parked]
    if not rows:
        return 0
    insert = _insert(connection, tables.PARKED).on_conflict_do_nothing()
    return len(connection.execute(insert.returning(tables.PARKED.c.id), rows).all())


def know(connection: sa.Connection, destinations: set[str]) -> None:
    """Make sure that the waiting room finds the destination of everything that is parked."""
    rows = [row(Health(destination, since=time.time())) for destination in destinations]
    if rows:
        upsert(connection, tables.DESTINATIONS, rows, ())


def add_tallies(connection: sa.Connection, tallies: Sequence[Tally], now: float) -> None:
    """Add to the sums of routes, and to those of this minute."""
    if not tallies:
        return
    insert = _insert(connection, tables.TALLIES)
    old, new = tables.TALLIES.c, insert.excluded
    added = {name: old[name] + new[name] for name in _COUNTED}
    latest = {name: sa.func.coalesce(new[name], old[name]) for name in _LAST}
    changed = added | latest | {"minute": new.minute} | _window(old, new)
    statement = insert.on_conflict_do_update(index_elements=["route"], set_=changed)
    connection.execute(statement, [_tally_row(tally, now) for tally in tallies])


def _window(old: Any, new: Any) -> dict[str, Any]:  # noqa: ANN401 - columns of either dialect
    same, next_one = old.minute == new.minute, old.minute == new.minute - 1
    sums: dict[str, Any] = {}
    for name in _RATED:
        this, before = old[f"minute_{name}"], old[f"before_{name}"]
        sums[f"minute_{name}"] = sa.case((same, this + new[name]), else_=new[name])
        sums[f"before_{name}"] = sa.case((same, before), (next_one, this), else_=0)
    return sums


def _tally_row(tally: Tally, now: float) -> dict[str, Any]:
    sums = {f"minute_{name}": getattr(tally, name) for name in _RATED}
    return row(tally) | {"minute": int(now // _MINUTE)} | sums


def rate(found: sa.Row[Any], name: str, now: float) -> float:
    """Return how many per second there were over the last minute, from the row of a tally."""
    minute, passed = divmod(now, _MINUTE)
    this, before = getattr(found, f"minute_{name}"), getattr(found, f"before_{name}")
    if found.minute == minute - 1:
        this, before = 0, this
    elif found.minute != minute:
        return 0.0
    # Of the minute before, as much counts as still lies within the last sixty seconds.
    return float(this + before * (1.0 - passed / _MINUTE)) / _MINUTE


def row(value: msgspec.Struct, drop: Sequence[str] = ()) -> dict[str, Any]:
    """Return a struct as a row whose columns have the names of its fields."""
    return {name: getattr(value, name) for name in value.__struct_fields__ if name not in drop}


def upsert(
    connection: sa.Connection, table: sa.Table, rows: list[dict[str, Any]], replaced: Sequence[str]
) -> None:
    """Insert rows; of those that are there already, replace some columns or leave them alone."""
    insert = _insert(connection, table)
    if replaced:
        keys = [column.name for column in table.primary_key]
        new = {name: insert.excluded[name] for name in replaced}
        insert = insert.on_conflict_do_update(index_elements=keys, set_=new)
    else:
        insert = insert.on_conflict_do_nothing()
    connection.execute(insert, rows)


def _insert(connection: sa.Connection, table: sa.Table) -> Any:  # noqa: ANN401 - of either dialect
    dialect = sqlite if connection.dialect.name == "sqlite" else postgresql
    return dialect.insert(table)
