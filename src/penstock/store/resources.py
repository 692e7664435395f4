"""Resources at rest, every change of them under a growing version."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa

from penstock.errors import ConflictError, NotFoundError
from penstock.ports import Change, Document, Drop, Put
from penstock.store.engine import create_tables, open_engine, reading, writing

_METADATA = sa.MetaData()
_VERSIONS = sa.Table(
    "versions",
    _METADATA,
    sa.Column("name", sa.String(40), primary_key=True),
    sa.Column("version", sa.BigInteger, nullable=False),
)
# One row per state a resource was ever in. `until` is the version that ended the state, so the
# resources of version V are the rows with since <= V < until.
_RESOURCES = sa.Table(
    "resources",
    _METADATA,
    sa.Column("kind", sa.String(40), primary_key=True),
    sa.Column("key", sa.String(400), primary_key=True),
    sa.Column("since", sa.BigInteger, primary_key=True),
    sa.Column("until", sa.BigInteger, nullable=True),
    sa.Column("body", sa.LargeBinary, nullable=False),
    sa.Index("resources_live", "kind", "until", "key"),
    sa.Index("resources_since", "kind", "since"),
)
_LIVE = _RESOURCES.c.until.is_(None)
_NEWEST = "store"
_FORGOTTEN = "forgotten"


class SqlResourceStore:
    """A `ResourceStore` in SQLite or PostgreSQL."""

    def __init__(self, url: str) -> None:
        self._engine = open_engine(url)
        with writing(self._engine) as connection:
            create_tables(connection, _METADATA)
            if connection.scalar(sa.select(_VERSIONS.c.version)) is None:
                rows = [{"name": _NEWEST, "version": 0}, {"name": _FORGOTTEN, "version": 0}]
                connection.execute(_VERSIONS.insert(), rows)

    def get(self, kind: str, key: str) -> Document | None:
        with reading(self._engine) as connection:
            row = connection.execute(_live(kind).where(_RESOURCES.c.key == key)).first()
        return None if row is None else _document(row)

    def page(self, kind: str, after: str = "", limit: int = 1000) -> list[Document]:
        """Return documents of a kind in the order of their keys, those after a key."""
        query = _live(kind).where(_RESOURCES.c.key > after).order_by(_RESOURCES.c.key).limit(limit)
        with reading(self._engine) as connection:
            return [_document(row) for row in connection.execute(query)]

    def write(self, changes: Sequence[Change]) -> int:
        """Apply all changes or none, and return the version they made."""
        with writing(self._engine) as connection:
            version = _locked_version(connection) + 1
            _set_version(connection, _NEWEST, version)
            for change in changes:
                _apply(connection, change, version)
        return version

    def changes(self, kind: str, since: int, until: int) -> tuple[list[Document], list[str]]:
        """Return what was put, and the keys dropped, after version `since` up to `until`."""
        table = _RESOURCES.c
        there = sa.or_(table.until.is_(None), table.until > until)
        put = sa.select(_RESOURCES).where(
            table.kind == kind, table.since > since, table.since <= until, there
        )
        gone = sa.select(table.key).where(
            table.kind == kind, table.until > since, table.until <= until
        )
        with reading(self._engine) as connection:
            forgotten = _version(connection, _FORGOTTEN)
            if until < forgotten:
                msg = f"version {until} is forgotten: ask for {forgotten} or later"
                raise ConflictError(msg, address=kind)
            if 0 < since < forgotten:
                msg = f"changes since version {since} are forgotten: start from nothing"
                raise ConflictError(msg, address=kind)
            documents = [_document(row) for row in connection.execute(put)]
            dropped = set(connection.scalars(gone)) - {document.key for document in documents}
        return documents, sorted(dropped)

    def version(self) -> int:
        with reading(self._engine) as connection:
            return _version(connection, _NEWEST)

    def forget(self, before: int) -> int:
        """Remove states that ended at or before a version; no batch asks for them any more."""
        ended = _RESOURCES.c.until <= before
        with reading(self._engine) as connection:
            if connection.scalar(sa.select(_RESOURCES.c.until).where(ended).limit(1)) is None:
                return 0
        with writing(self._engine) as connection:
            _set_version(connection, _FORGOTTEN, before)
            return connection.execute(_RESOURCES.delete().where(ended)).rowcount

    def close(self) -> None:
        self._engine.dispose()


def _version(connection: sa.Connection, name: str) -> int:
    query = sa.select(_VERSIONS.c.version).where(_VERSIONS.c.name == name)
    return int(connection.scalar(query) or 0)


def _locked_version(connection: sa.Connection) -> int:
    """Return the newest version, and let nobody else make another before this transaction ends."""
    query = sa.select(_VERSIONS.c.version).where(_VERSIONS.c.name == _NEWEST)
    return int(connection.scalar(query.with_for_update()) or 0)


def _set_version(connection: sa.Connection, name: str, version: int) -> None:
    connection.execute(_VERSIONS.update().where(_VERSIONS.c.name == name).values(version=version))


def _live(kind: str) -> sa.Select[Any]:
    return sa.select(_RESOURCES).where(_RESOURCES.c.kind == kind, _LIVE)


def _document(row: sa.Row[Any]) -> Document:
    return Document(row.kind, row.key, bytes(row.body), row.since)


def _apply(connection: sa.Connection, change: Change, version: int) -> None:
    place = sa.and_(_RESOURCES.c.kind == change.kind, _RESOURCES.c.key == change.key, _LIVE)
    found = connection.scalar(sa.select(_RESOURCES.c.since).where(place))
    _expect(change, found)
    if found == version:
        connection.execute(_RESOURCES.delete().where(place))
    elif found is not None:
        connection.execute(_RESOURCES.update().where(place).values(until=version))
    if isinstance(change, Put):
        connection.execute(
            _RESOURCES.insert().values(
                kind=change.kind, key=change.key, since=version, until=None, body=change.body
            )
        )


def _expect(change: Change, found: int | None) -> None:
    address = f"{change.kind}/{change.key}"
    if found is None and (isinstance(change, Drop) or change.expected):
        msg = f"there is no {change.kind} {change.key!r}"
        raise NotFoundError(msg, address=address)
    if change.expected is not None and change.expected != (found or 0):
        msg = f"{change.kind} {change.key!r} was changed by somebody else: read it and try again"
        raise ConflictError(msg, address=address)
