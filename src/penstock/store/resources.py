"""Resources at rest, every change of them under a growing version."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa

from penstock.errors import ConflictError, NotFoundError, PenstockError
from penstock.ports import Change, Check, Clear, Document, Drop, Put
from penstock.store.engine import create_tables, open_engine, reading, writing
from penstock.store.quick import QuickReads
from penstock.store.together import Together

_METADATA = sa.MetaData()
_VERSIONS = sa.Table(
    "versions",
    _METADATA,
    sa.Column("name", sa.String(40), primary_key=True),
    sa.Column("version", sa.BigInteger, nullable=False),
)
# PostgreSQL orders text by the language of the database; ranges of keys need the plain order.
_KEY = sa.String(400).with_variant(sa.String(400, collation="C"), "postgresql")
_LAST = "\U0010ffff"
# One row per state a resource was ever in. `until` is the version that ended the state, so the
# resources of version V are the rows with since <= V < until.
_RESOURCES = sa.Table(
    "resources",
    _METADATA,
    sa.Column("kind", sa.String(40), primary_key=True),
    sa.Column("key", _KEY, primary_key=True),
    sa.Column("since", sa.BigInteger, primary_key=True),
    sa.Column("until", sa.BigInteger, nullable=True),
    sa.Column("body", sa.LargeBinary, nullable=False),
    sa.Index("resources_live", "kind", "until", "key"),
    sa.Index("resources_since", "kind", "since"),
)
_LIVE = _RESOURCES.c.until.is_(None)
_NEWEST = "store"
_FORGOTTEN = "forgotten"

# Written once: to put a statement together takes longer than to execute it.
_PLACE = (
    _RESOURCES.c.kind == sa.bindparam("at_kind"),
    _RESOURCES.c.key == sa.bindparam("at_key"),
    _LIVE,
)
_FIND = sa.select(_RESOURCES.c.since).where(*_PLACE)
_ERASE = _RESOURCES.delete().where(*_PLACE)
_END = _RESOURCES.update().where(*_PLACE).values(until=sa.bindparam("ended"))
_ADD = _RESOURCES.insert()
_KNOWN = sa.select(_VERSIONS.c.version).where(_VERSIONS.c.name == sa.bindparam("at_name"))
_LOCK = sa.select(_VERSIONS.c.version).where(_VERSIONS.c.name == _NEWEST).with_for_update()
_NUMBER = (
    _VERSIONS.update()
    .where(_VERSIONS.c.name == sa.bindparam("at_name"))
    .values(version=sa.bindparam("made"))
)


class SqlResourceStore:
    """A `ResourceStore` in SQLite or PostgreSQL."""

    def __init__(self, url: str) -> None:
        self._engine = open_engine(url)
        with writing(self._engine) as connection:
            create_tables(connection, _METADATA)
            if connection.scalar(sa.select(_VERSIONS.c.version)) is None:
                rows = [{"name": _NEWEST, "version": 0}, {"name": _FORGOTTEN, "version": 0}]
                connection.execute(_VERSIONS.insert(), rows)
        sqlite = self._engine.dialect.name == "sqlite"
        self._quick = QuickReads(str(self._engine.url.database)) if sqlite else None
        self._together = Together(self._write_each) if sqlite else None
        self._stamps = itertools.count(1)
        self._stamp = 0

    @property
    def embedded(self) -> bool:
        """Whether `get` is so short that an event loop can wait for it."""
        return self._quick is not None

    def stamp(self) -> int:
        """Return a number that is another after every change that was made through this object."""
        return self._stamp

    def get(self, kind: str, key: str) -> Document | None:
        if self._quick is not None:
            return self._quick.get(kind, key)
        with reading(self._engine) as connection:
            row = connection.execute(_live(kind).where(_RESOURCES.c.key == key)).first()
        return None if row is None else _document(row)

    def page(
        self, kind: str, after: str = "", limit: int = 1000, prefix: str = ""
    ) -> list[Document]:
        """Return documents of a kind in the order of their keys, those after a key."""
        if self._quick is not None:
            return self._quick.page(kind, after, limit, prefix)
        query = _live(kind).where(_RESOURCES.c.key > after).order_by(_RESOURCES.c.key).limit(limit)
        with reading(self._engine) as connection:
            return [_document(row) for row in connection.execute(query.where(*_within(prefix)))]

    def count(self, kind: str, prefix: str = "") -> int:
        """Return how many documents of a kind have keys that start with a prefix."""
        if self._quick is not None:
            return self._quick.count(kind, prefix)
        place = (_RESOURCES.c.kind == kind, _LIVE, *_within(prefix))
        query = sa.select(sa.func.count()).select_from(_RESOURCES).where(*place)
        with reading(self._engine) as connection:
            return int(connection.scalar(query) or 0)

    def write(self, changes: Sequence[Change]) -> int:
        """Apply all changes or none, and return the version they made."""
        try:
            if self._together is not None:
                return self._together.write(changes)
            with writing(self._engine) as connection:
                return _written(connection, changes)
        finally:
            # After the commit: who reads before it remembers the old under the old stamp.
            self._stamp = next(self._stamps)

    def _write_each(self, writes: Sequence[Sequence[Change]]) -> list[int | PenstockError]:
        """Apply several writes, each of them all or not at all, with one commit."""
        results: list[int | PenstockError] = []
        with writing(self._engine) as connection:
            for changes in writes:
                try:
                    with connection.begin_nested():
                        results.append(_written(connection, changes))
                except PenstockError as exc:
                    results.append(exc)
        return results

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
        if self._quick is not None:
            self._quick.close()
        self._engine.dispose()


def _version(connection: sa.Connection, name: str) -> int:
    return int(connection.scalar(_KNOWN, {"at_name": name}) or 0)


def _locked_version(connection: sa.Connection) -> int:
    """Return the newest version, and let nobody else make another before this transaction ends."""
    return int(connection.scalar(_LOCK) or 0)


def _set_version(connection: sa.Connection, name: str, version: int) -> None:
    connection.execute(_NUMBER, {"at_name": name, "made": version})


def _live(kind: str) -> sa.Select[Any]:
    return sa.select(_RESOURCES).where(_RESOURCES.c.kind == kind, _LIVE)


def _document(row: sa.Row[Any]) -> Document:
    return Document(row.kind, row.key, bytes(row.body), row.since)


def _written(connection: sa.Connection, changes: Sequence[Change]) -> int:
    version = _locked_version(connection) + 1
    _set_version(connection, _NEWEST, version)
    for change in changes:
        _apply(connection, change, version)
    return version


def _within(prefix: str) -> tuple[sa.ColumnElement[bool], ...]:
    if not prefix:
        return ()
    return (_RESOURCES.c.key >= prefix, _RESOURCES.c.key < prefix + _LAST)


def _apply(connection: sa.Connection, change: Change, version: int) -> None:
    if isinstance(change, Clear):
        _clear(connection, change, version)
        return
    place = {"at_kind": change.kind, "at_key": change.key}
    found = connection.scalar(_FIND, place)
    _expect(change, found)
    if isinstance(change, Check):
        return
    if found == version:
        connection.execute(_ERASE, place)
    elif found is not None:
        connection.execute(_END, {**place, "ended": version})
    if isinstance(change, Put):
        row = {"kind": change.kind, "key": change.key, "since": version, "body": change.body}
        connection.execute(_ADD, row)


def _clear(connection: sa.Connection, change: Clear, version: int) -> None:
    inside = sa.and_(_RESOURCES.c.kind == change.kind, _LIVE, *_within(change.prefix))
    # What this same write put there never was.
    connection.execute(_RESOURCES.delete().where(inside, _RESOURCES.c.since == version))
    connection.execute(_RESOURCES.update().where(inside).values(until=version))


def _expect(change: Put | Drop | Check, found: int | None) -> None:
    address = f"{change.kind}/{change.key}"
    if found is None and (isinstance(change, Drop) or change.expected):
        msg = f"there is no {change.kind} {change.key!r}"
        raise NotFoundError(msg, address=address)
    if change.expected is not None and change.expected != (found or 0):
        msg = f"{change.kind} {change.key!r} was changed by somebody else: read it and try again"
        raise ConflictError(msg, address=address)
