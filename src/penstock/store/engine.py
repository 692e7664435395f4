"""SQLAlchemy engines for SQLite and PostgreSQL, and their errors turned into ours."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import msgspec
import sqlalchemy as sa
from sqlalchemy.pool import QueuePool

from penstock.errors import StoreError

T = TypeVar("T", bound=msgspec.Struct)


def open_engine(url: str, *, synchronous: str = "FULL") -> sa.Engine:
    """Return an engine whose transactions take the write lock at once on SQLite."""
    new = sa.create_engine(url, poolclass=QueuePool, pool_size=4, max_overflow=8)
    if new.dialect.name != "sqlite":
        return new

    # The driver's own BEGIN is deferred; two writers that both read first would deadlock.
    @sa.event.listens_for(new, "connect")
    def _connected(connection: sqlite3.Connection, _record: object) -> None:
        connection.isolation_level = None
        for pragma in (
            "journal_mode=WAL",
            f"synchronous={synchronous}",
            "busy_timeout=30000",
            "journal_size_limit=67108864",
        ):
            connection.execute(f"PRAGMA {pragma}")

    @sa.event.listens_for(new, "begin")
    def _begun(connection: sa.Connection) -> None:
        mode = connection.get_execution_options().get("penstock_begin", "IMMEDIATE")
        connection.exec_driver_sql(f"BEGIN {mode}")

    return new


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
