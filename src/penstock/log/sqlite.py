"""The embedded log: Arrow record batches in one SQLite file."""

from __future__ import annotations

import shutil
import sqlite3
import threading
import time
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Self

import pyarrow as pa

from penstock.errors import FormatError, LimitError, StoreError
from penstock.events.entry import Entry
from penstock.formats import arrow
from penstock.ports import Chunk, Position, Span

_LAYOUT = 1
_SCHEMA = """
CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS batches (
  first INTEGER PRIMARY KEY,
  count INTEGER NOT NULL,
  appended INTEGER NOT NULL,
  crc INTEGER NOT NULL,
  body BLOB NOT NULL
);
"""
_MOST_ROWS = 5_000
_MOST_BYTES = 8 << 20
_SPARE_BYTES = 64 << 20
_SPARE_CHECK_SECONDS = 1.0
_GLANCE = 0.005
_ASK = 0.25
_SWITCH_SECONDS = 10.0


class SqliteLog:
    """An `EventLog` with one partition; every append is on disk before it returns."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._wal = Path(f"{path}-wal")
        self._lock = threading.Lock()
        self._spare_checked = 0.0
        with self._translated():
            self._connection = sqlite3.connect(
                path, isolation_level=None, timeout=30.0, check_same_thread=False
            )
            try:
                self._prepare()
            except BaseException:
                self._connection.close()
                raise

    @classmethod
    def open(cls, path: Path) -> Self:
        path.parent.mkdir(parents=True, exist_ok=True)
        return cls(path)

    def _prepare(self) -> None:
        self._write_ahead()
        # FULL: the write-ahead log is synced at each commit, so a 202 survives a power cut.
        self._connection.execute("PRAGMA synchronous=FULL")
        self._connection.execute("PRAGMA journal_size_limit=67108864")
        self._create()

    def _write_ahead(self) -> None:
        # Of two processes that open a new file at once only one can switch it, and SQLite tells
        # the other so without waiting.
        until = time.monotonic() + _SWITCH_SECONDS
        while True:
            try:
                self._connection.execute("PRAGMA journal_mode=WAL")
            except sqlite3.OperationalError as exc:
                if exc.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > until:
                    raise
                time.sleep(_GLANCE)
            else:
                return

    def _create(self) -> None:
        found = self._connection.execute("PRAGMA user_version").fetchone()[0]
        if found == _LAYOUT:
            return
        if found > _LAYOUT:
            msg = f"the log has layout {found}, this version of Penstock knows up to {_LAYOUT}"
            raise StoreError(msg, address=str(self._path))
        self._connection.executescript(f"{_SCHEMA} PRAGMA user_version={_LAYOUT};")

    def append(self, entries: Sequence[Entry]) -> Position:
        """Store the entries together or not at all, durably, and return the position after them."""
        pieces = list(_pieces(entries))
        now = time.time_ns() // 1_000
        with self._lock, self._translated():
            self._check_spare()
            with self._writing() as connection:
                first = self._head()
                for batch in pieces:
                    body = arrow.dump(batch)
                    connection.execute(
                        "INSERT INTO batches VALUES (?, ?, ?, ?, ?)",
                        (first, batch.num_rows, now, zlib.crc32(body), body),
                    )
                    first += batch.num_rows
            return (first,)

    def read(self, span: Span) -> Iterator[Chunk]:
        """Yield the events of a span in order; refuse when some of them are gone or damaged."""
        if not len(span):
            return
        expected = span.start
        for first, count in self._rows(span):
            skipped = max(span.start - first, 0)
            if first + count <= span.start:
                continue
            if first + skipped != expected:
                break
            batch = self._batch(first).slice(skipped, span.end - first - skipped)
            expected = first + skipped + batch.num_rows
            yield Chunk(0, first + skipped, batch)
        if expected != span.end:
            msg = f"events {expected} to {span.end} are not in the log"
            raise StoreError(msg, address=str(self._path))

    def _rows(self, span: Span) -> list[tuple[int, int]]:
        with self._lock, self._translated():
            return self._connection.execute(
                "SELECT first, count FROM batches WHERE first < ? AND first >= "
                "coalesce((SELECT max(first) FROM batches WHERE first <= ?), 0) ORDER BY first",
                (span.end, span.start),
            ).fetchall()

    def reach(self, position: Position, events: int, size: int) -> Position:
        """Return how far one can read from a position within a number of events and bytes."""
        (start,) = position
        end, taken = start, 0
        with self._lock, self._translated():
            rows = self._connection.execute(
                "SELECT first + count, length(body) FROM batches WHERE first < ? AND first >= "
                "coalesce((SELECT max(first) FROM batches WHERE first <= ?), 0) ORDER BY first",
                (start + events, start),
            )
            for after, width in rows:
                if after <= start:
                    continue
                taken += width
                if taken > size and end > start:
                    break
                end = after
        return (min(end, start + events),)

    def bounds(self) -> tuple[Position, Position]:
        """Return the first position that is still kept, and the head."""
        with self._lock, self._translated():
            head = self._head()
            row = self._connection.execute("SELECT min(first) FROM batches").fetchone()
        return (head if row[0] is None else row[0],), (head,)

    def wait(self, position: Position, seconds: float) -> Position:
        """Return the head as soon as it is beyond a position, or after some seconds."""
        until = time.monotonic() + seconds
        while True:
            seen, asked = self._signature(), time.monotonic()
            with self._lock, self._translated():
                head = (self._head(),)
            if head != position or asked >= until:
                return head
            # Looking at the file costs a hundredth of asking the database, so an idle server is
            # idle. Two commits within one tick of the file clock look like one: ask now and then.
            while self._signature() == seen and time.monotonic() < min(until, asked + _ASK):
                time.sleep(_GLANCE)

    def _signature(self) -> tuple[int, int]:
        try:
            found = self._wal.stat()
        except FileNotFoundError:
            return 0, 0
        return found.st_mtime_ns, found.st_size

    def trim(self, before: Position) -> int:
        """Forget whole batches before a position and return how many events that were."""
        with self._lock, self._translated(), self._writing() as connection:
            # The head must survive the last batch, or offsets would start over.
            connection.execute("INSERT OR REPLACE INTO meta VALUES ('head', ?)", (self._head(),))
            # The first condition lets SQLite look only at what goes.
            gone = connection.execute(
                "DELETE FROM batches WHERE first < :end AND first + count <= :end RETURNING count",
                {"end": before[0]},
            ).fetchall()
        return sum(count for (count,) in gone)

    def since(self, time: int) -> Position:
        """Return where what was stored from a time on (µs since 1970) begins."""
        with self._lock, self._translated():
            low, high = 0, self._head()
            # Batches lie in the order of their times: halving finds the place among millions.
            while low < high:
                row = self._connection.execute(
                    "SELECT first, count, appended FROM batches WHERE first <= ? "
                    "ORDER BY first DESC LIMIT 1",
                    ((low + high) // 2,),
                ).fetchone()
                if row is None or row[2] < time:
                    low = (low + high) // 2 + 1 if row is None else row[0] + row[1]
                else:
                    high = row[0]
        return (max(low, self.bounds()[0][0]),)

    def expired(self, older_than: int, most_bytes: int) -> Position:
        """Return the position before which retention by age (µs) and by size would trim."""
        with self._lock, self._translated():
            # The first young batch, not the last old one: a clock that was once wrong would
            # otherwise age all that lies before.
            young = self._connection.execute(
                "SELECT first FROM batches WHERE appended >= ? ORDER BY first LIMIT 1",
                (older_than,),
            ).fetchone()
            by_age = self._head() if young is None else young[0]
            by_size = 0
            if self.size() > most_bytes:
                by_size = self._oldest_beyond(most_bytes)
        return (max(by_age, by_size),)

    def _oldest_beyond(self, most_bytes: int) -> int:
        kept = 0
        rows = self._connection.execute(
            "SELECT first, count, length(body) FROM batches ORDER BY first DESC"
        )
        for first, count, size in rows:
            kept += size
            if kept > most_bytes:
                return int(first + count)
        return 0

    def size(self) -> int:
        """Return how many bytes the log takes on disk."""
        pages, free, width = (
            self._connection.execute(f"PRAGMA {name}").fetchone()[0]
            for name in ("page_count", "freelist_count", "page_size")
        )
        return int((pages - free) * width)

    def check(self) -> list[str]:
        """Read everything once and return what is damaged."""
        with self._lock:
            try:
                found = [row[0] for row in self._connection.execute("PRAGMA quick_check")]
                damage = [line for line in found if line != "ok"]
                rows = self._connection.execute("SELECT first, crc, body FROM batches")
                damage += [
                    f"events from {first} on fail their checksum"
                    for first, crc, body in rows
                    if zlib.crc32(body) != crc
                ]
            except sqlite3.DatabaseError as exc:
                return [str(exc)]
        return damage

    def close(self) -> None:
        with self._lock:
            self._connection.close()

    def _head(self) -> int:
        row = self._connection.execute(
            "SELECT first + count FROM batches ORDER BY first DESC LIMIT 1"
        ).fetchone()
        if row is None:
            row = self._connection.execute("SELECT value FROM meta WHERE key = 'head'").fetchone()
        return 0 if row is None else int(row[0])

    def _batch(self, first: int) -> pa.RecordBatch:
        with self._lock, self._translated():
            row = self._connection.execute(
                "SELECT crc, body FROM batches WHERE first = ?", (first,)
            ).fetchone()
        if row is None:
            msg = f"events from {first} on were trimmed from the log"
            raise StoreError(msg, address=str(self._path))
        crc, body = row
        if zlib.crc32(body) != crc:
            msg = f"the log is damaged: events from {first} on fail their checksum"
            raise StoreError(msg, address=str(self._path))
        try:
            return arrow.load(body)
        except FormatError as exc:
            msg = f"the log is damaged: events from {first} on cannot be read"
            raise StoreError(msg, address=str(self._path)) from exc

    def _check_spare(self) -> None:
        now = time.monotonic()
        if now - self._spare_checked < _SPARE_CHECK_SECONDS:
            return
        self._spare_checked = now
        if shutil.disk_usage(self._path.parent).free < _SPARE_BYTES:
            msg = "the disk is nearly full: make room, then publish again"
            self._spare_checked = 0.0
            raise LimitError(msg, limit="disk", retry_after=30)

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            yield self._connection
            self._connection.execute("COMMIT")
        except BaseException:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            raise

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, OSError) as exc:
            if getattr(exc, "sqlite_errorcode", None) == sqlite3.SQLITE_FULL:
                msg = "the disk is full: make room, then publish again"
                raise LimitError(msg, limit="disk", retry_after=30) from exc
            msg = f"the event log failed: {exc}"
            raise StoreError(msg, address=str(self._path)) from exc


def _pieces(entries: Sequence[Entry]) -> Iterator[pa.RecordBatch]:
    """Cut a large append so that no row of the table grows beyond what is quick to read."""
    start = size = 0
    for index, entry in enumerate(entries):
        width = len(entry.event.data or b"") + 200
        if index > start and (size + width > _MOST_BYTES or index - start >= _MOST_ROWS):
            yield arrow.pack(entries[start:index])
            start, size = index, 0
        size += width
    if start < len(entries):
        yield arrow.pack(entries[start:])
