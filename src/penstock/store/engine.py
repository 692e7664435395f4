"""SQLAlchemy engines for SQLite and PostgreSQL, and their errors turned into ours."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import msgspec
import sqlalchemy as sa
from sqlalchemy.pool import QueuePool

from penstock.errors import StoreError

T = TypeVar("T", bound=msgspec.Struct)

_SWITCH_SECONDS = 10.0
_CREATING = 7_036_874
"""The number of the lock under which PostgreSQL lets one process after the other create tables."""


def open_engine(url: str, *, synchronous: str = "FULL") -> sa.Engine:
    """Return an engine whose transactions take the write lock at once on SQLite."""
    new = sa.create_engine(url, poolclass=QueuePool, pool_size=4, max_overflow=8)
    if new.dialect.name != "sqlite":
        return new

    # The driver's own BEGIN is deferred; two writers that both read first would deadlock.
    @sa.event.listens_for(new, "connect")
    def _connected(connection: sqlite3.Connection, _record: object) -> None:
        connection.isolation_level = None
        connection.execute("PRAGMA busy_timeout=30000")
        _write_ahead(connection)
        for pragma in (f"synchronous={synchronous}", "journal_size_limit=67108864"):
            connection.execute(f"PRAGMA {pragma}")

    @sa.event.listens_for(new, "begin")
    def _begun(connection: sa.Connection) -> None:
        mode = connection.get_execution_options().get("penstock_begin", "IMMEDIATE")
        connection.exec_driver_sql(f"BEGIN {mode}")

    return new


def _write_ahead(connection: sqlite3.Connection) -> None:
    # Of two processes that open a new file at once only one can switch it, and SQLite tells the
    # other so without waiting.
    until = time.monotonic() + _SWITCH_SECONDS
    while True:
        try:
            connection.execute("PRAGMA journal_mode=WAL")
        except sqlite3.OperationalError as exc:
            if exc.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > until:
                raise
            time.sleep(0.01)
        else:
            return


def create_tables(connection: sa.Connection, metadata: sa.MetaData) -> None:
    """Create what is missing, also while another process does the same."""
    if connection.dialect.name == "postgresql":
        connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_CREATING)))
    metadata.create_all(connection)
    _extend(connection, metadata)


def _extend(connection: sa.Connection, metadata: sa.MetaData) -> None:
    """Give tables that an older version made the columns and indexes that came later."""
    found = sa.inspect(connection)
    for table in metadata.sorted_tables:
        known = {column["name"] for column in found.get_columns(table.name)}
        for column in table.columns:
            if column.name not in known:
                added = sa.schema.CreateColumn(column).compile(dialect=connection.dialect)
                connection.execute(sa.text(f"ALTER TABLE {table.name} ADD COLUMN {added}"))
        present = {index["name"] for index in found.get_indexes(table.name)}
        for index in table.indexes:
            if index.name not in present:
                index.create(connection)


@contextmanager
def writing(engine: sa.Engine) -> Iterator[sa.Connection]:
    """Open a transaction that writes."""
    with translated(engine), engine.begin() as connection:
        yield connection


@contextmanager
def reading(engine: sa.Engine) -> Iterator[sa.Connection]:
    """Open a transaction that only reads; it never waits for a writer."""
    with (
        translated(engine),
        engine.connect().execution_options(penstock_begin="DEFERRED") as connection,
        connection.begin(),
    ):
        yield connection


@contextmanager
def translated(engine: sa.Engine) -> Iterator[None]:
    """Turn errors of the database into a StoreError."""
    try:
        yield
    except sa.exc.SQLAlchemyError as exc:
        address = engine.url.render_as_string(hide_password=True)
        reason = str(getattr(exc, "orig", None) or exc).splitlines()[0]
        msg = f"the store failed: {reason}"
        raise StoreError(msg, address=address) from exc


def made(row: sa.Row[Any], kind: type[T]) -> T:
    """Return a row as a struct whose fields have the names of its columns."""
    # The keys of a row are a subclass of str, which msgspec does not take.
    fields = kind.__struct_fields__
    return msgspec.convert({name: getattr(row, name) for name in fields}, kind)
