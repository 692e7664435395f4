"""A log whose file is damaged, foreign or has no room to grow."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from penstock.errors import LimitError, StoreError
from penstock.log import SqliteLog, sqlite
from penstock.ports import Span
from tests.log.entries import an_entry, ids, some

MARK = b"0123456789abcdef" * 64


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "log.db"


@pytest.fixture
def log(path: Path) -> Iterator[SqliteLog]:
    opened = SqliteLog.open(path)
    yield opened
    opened.close()


def written(path: Path, count: int = 40) -> None:
    """A closed log: all of it lies in the file, none beside it."""
    log = SqliteLog.open(path)
    for number in range(count):
        log.append([an_entry(number, data=MARK)])
    log.close()


def read_all(path: Path) -> None:
    log = SqliteLog.open(path)
    try:
        assert log.check()
        list(log.read(Span(0, 0, 40)))
    finally:
        log.close()


def test_flipped_bits_of_an_event_are_found(path: Path) -> None:
    written(path)
    content = bytearray(path.read_bytes())
    content[content.rindex(MARK) + 500] ^= 0x10
    path.write_bytes(content)

    log = SqliteLog.open(path)
    with pytest.raises(StoreError, match=r"damaged: events from \d+ on") as refusal:
        list(log.read(Span(0, 0, 40)))

    assert refusal.value.address == str(path)
    assert any("checksum" in line for line in log.check())
    log.close()


def test_events_before_the_damage_can_still_be_read(path: Path) -> None:
    written(path)
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE batches SET body = zeroblob(length(body)) WHERE first = 20")
    connection.close()

    log = SqliteLog.open(path)

    assert sum(chunk.batch.num_rows for chunk in log.read(Span(0, 0, 20))) == 20
    assert log.check() == ["events from 20 on fail their checksum"]
    log.close()


def test_batch_that_is_no_batch_is_damage_even_with_the_right_checksum(log: SqliteLog) -> None:
    log.append([an_entry()])
    log._connection.execute("UPDATE batches SET body = x'00', crc = 3523407757")  # noqa: SLF001

    with pytest.raises(StoreError, match="cannot be read"):
        list(log.read(Span(0, 0, 1)))


@pytest.mark.parametrize("share", [0.25, 0.5, 0.9])
def test_cut_file_is_refused(path: Path, share: float) -> None:
    written(path)
    content = path.read_bytes()
    path.write_bytes(content[: int(len(content) * share)])

    with pytest.raises(StoreError) as refusal:
        read_all(path)

    assert refusal.value.address == str(path)


def test_file_of_something_else_is_refused(path: Path) -> None:
    path.write_bytes(b"no database at all, but long enough to be looked at" * 100)

    with pytest.raises(StoreError) as refusal:
        read_all(path)

    assert refusal.value.address == str(path)


def test_path_that_is_a_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StoreError) as refusal:
        SqliteLog.open(tmp_path)

    assert refusal.value.address == str(tmp_path)


def test_layout_of_a_later_version_is_refused_and_left_alone(path: Path) -> None:
    written(path)
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA user_version=99")
    connection.close()

    with pytest.raises(StoreError, match="layout 99") as refusal:
        SqliteLog.open(path)

    assert refusal.value.address == str(path)
    connection = sqlite3.connect(path)
    assert connection.execute("PRAGMA user_version").fetchone() == (99,)
    connection.close()


def test_full_disk_is_a_limit_and_leaves_nothing_half_written(log: SqliteLog) -> None:
    log.append(some(range(3)))
    pages = log._connection.execute("PRAGMA page_count").fetchone()[0]  # noqa: SLF001
    log._connection.execute(f"PRAGMA max_page_count={pages + 3}")  # noqa: SLF001

    with pytest.raises(LimitError, match="full") as refusal:
        log.append(some(range(3, 9_003), data=MARK))

    assert (refusal.value.limit, refusal.value.retry_after) == ("disk", 30)
    assert ids(log) == [0, 1, 2]
    log._connection.execute("PRAGMA max_page_count=1000000")  # noqa: SLF001
    assert log.append([an_entry(3)]) == (4,)


def test_nearly_full_disk_is_refused_before_anything_is_written(
    log: SqliteLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite, "_SPARE_BYTES", 1 << 62)

    with pytest.raises(LimitError, match="nearly full") as refusal:
        log.append(some(range(3)))

    assert (refusal.value.limit, refusal.value.retry_after) == ("disk", 30)
    monkeypatch.undo()
    assert log.append(some(range(3))) == (3,)


def test_folder_that_vanished_is_an_error_of_the_store(log: SqliteLog, path: Path) -> None:
    path.rename(path.with_suffix(".moved"))
    for left in path.parent.iterdir():
        left.unlink()
    path.parent.rmdir()

    with pytest.raises(StoreError) as refusal:
        log.append([an_entry()])

    assert refusal.value.address == str(path)
