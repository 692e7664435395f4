from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from penstock.errors import StoreError
from penstock.log import SqliteLog
from penstock.ports import Span
from penstock.testing import check_log
from tests.log.entries import an_entry, ids, some

HOUR = 3_600_000_000


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "data" / "log.db"


@pytest.fixture
def log(path: Path) -> Iterator[SqliteLog]:
    opened = SqliteLog.open(path)
    yield opened
    opened.close()


def now() -> int:
    return time.time_ns() // 1_000


def dated(log: SqliteLog, first: int, appended: int) -> None:
    """Pretend that a batch was appended at another time."""
    log._connection.execute(  # noqa: SLF001 - the port has no way to write the past
        "UPDATE batches SET appended = ? WHERE first = ?", (appended, first)
    )


def test_log_keeps_to_the_port(path: Path) -> None:
    check_log(lambda: SqliteLog.open(path))


def test_append_returns_the_position_behind_its_entries(log: SqliteLog) -> None:
    assert log.append(some(range(3))) == (3,)
    assert log.append(some(range(3, 5))) == (5,)
    assert log.bounds() == ((0,), (5,))


def test_append_of_nothing_changes_nothing(log: SqliteLog) -> None:
    log.append(some(range(3)))

    assert log.append([]) == (3,)


def test_large_append_is_cut_into_pieces_and_read_back_whole(log: SqliteLog) -> None:
    log.append(some(range(12_001)))

    chunks = list(log.read(Span(0, 0, 12_001)))

    assert [chunk.offset for chunk in chunks] == [0, 5_000, 10_000]
    assert ids(log) == list(range(12_001))


def test_append_of_large_events_is_cut_by_size(log: SqliteLog) -> None:
    log.append(some(range(5), data=bytes(4 << 20)))

    chunks = list(log.read(Span(0, 0, 5)))

    assert len(chunks) > 1
    assert all(chunk.batch.nbytes < 10 << 20 for chunk in chunks)


@pytest.mark.parametrize(("start", "end"), [(0, 9), (0, 1), (2, 4), (3, 6), (4, 9), (8, 9), (5, 5)])
def test_span_is_read_to_the_event(log: SqliteLog, start: int, end: int) -> None:
    for first in (0, 3, 6):
        log.append(some(range(first, first + 3)))

    chunks = list(log.read(Span(0, start, end)))
    found = [int(text) for chunk in chunks for text in chunk.batch.column("id").to_pylist()]

    assert found == list(range(start, end))
    assert [chunk.offset for chunk in chunks][:1] == ([start] if start < end else [])


@pytest.mark.parametrize("span", [Span(0, 0, 3), Span(0, 2, 5), Span(0, 5, 8), Span(0, 9, 12)])
def test_span_that_is_not_all_there_is_refused(log: SqliteLog, span: Span, path: Path) -> None:
    log.append(some(range(3)))
    log.append(some(range(3, 6)))
    log.trim((3,))

    with pytest.raises(StoreError, match="not in the log") as refusal:
        list(log.read(span))

    assert refusal.value.address == str(path)


def test_trim_forgets_whole_batches_only(log: SqliteLog) -> None:
    log.append(some(range(3)))
    log.append(some(range(3, 6)))

    assert log.trim((5,)) == 3

    assert log.bounds() == ((3,), (6,))
    assert ids(log) == [3, 4, 5]


def test_trim_beyond_the_head_keeps_the_offsets(log: SqliteLog, path: Path) -> None:
    log.append(some(range(3)))

    log.trim((100,))
    log.close()

    with_nothing = SqliteLog.open(path)
    assert with_nothing.bounds() == ((3,), (3,))
    assert with_nothing.append([an_entry(7)]) == (4,)
    with_nothing.close()


def test_trimming_again_and_again_counts_once(log: SqliteLog) -> None:
    log.append(some(range(3)))

    assert [log.trim((3,)), log.trim((3,))] == [3, 0]


def test_wait_returns_when_another_connection_appends(log: SqliteLog, path: Path) -> None:
    heads: list[tuple[int, ...]] = []
    waiting = threading.Thread(target=lambda: heads.append(log.wait((0,), 30.0)))
    started = time.monotonic()
    waiting.start()

    other = SqliteLog.open(path)
    other.append(some(range(2)))
    waiting.join(10.0)
    other.close()

    assert heads == [(2,)]
    assert time.monotonic() - started < 5.0


def test_wait_is_over_in_time(log: SqliteLog) -> None:
    started = time.monotonic()

    assert log.wait((0,), 0.05) == (0,)

    assert 0.04 < time.monotonic() - started < 1.0


def test_nothing_has_expired_in_a_young_and_small_log(log: SqliteLog) -> None:
    log.append(some(range(3)))

    assert log.expired(now() - HOUR, 1 << 30) == (0,)


def test_retention_by_age_ends_before_the_first_young_batch(log: SqliteLog) -> None:
    for first in (0, 3, 6):
        log.append(some(range(first, first + 3)))
    dated(log, 0, now() - 3 * HOUR)
    dated(log, 3, now() - 2 * HOUR)

    assert log.expired(now() - HOUR, 1 << 30) == (6,)


def test_everything_may_expire(log: SqliteLog) -> None:
    log.append(some(range(3)))

    assert log.expired(now() + HOUR, 1 << 30) == (3,)


def test_clock_that_was_once_wrong_does_not_age_older_events(log: SqliteLog) -> None:
    for first in (0, 3, 6):
        log.append(some(range(first, first + 3)))
    dated(log, 3, 0)

    assert log.expired(now() - HOUR, 1 << 30) == (0,)


def test_retention_by_size_keeps_as_much_as_was_asked(log: SqliteLog) -> None:
    for first in range(10):
        log.append([an_entry(first, data=bytes(100_000))])

    log.trim(log.expired(0, 350_000))

    assert ids(log) == [7, 8, 9]


def test_size_is_given_back_to_new_events(log: SqliteLog) -> None:
    sizes = []
    for _ in range(5):
        log.append(some(range(10), data=bytes(20_000)))
        sizes.append(log.size())
        log.trim((1_000,))

    assert log.size() < 100_000
    assert max(sizes) < 400_000


def test_whole_log_has_no_damage(log: SqliteLog) -> None:
    log.append(some(range(3)))

    assert log.check() == []


def test_threads_share_a_log(log: SqliteLog) -> None:
    ends: list[int] = []

    def work() -> None:
        ends.extend(log.append(some(range(2)))[0] for _ in range(20))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted(ends) == list(range(2, 162, 2))


@pytest.mark.parametrize(
    ("start", "events", "size", "end"),
    [
        (0, 100, 1 << 30, 30),
        (0, 15, 1 << 30, 15),
        (5, 10, 1 << 30, 15),
        (10, 100, 150_000, 20),
        (5, 100, 150_000, 10),
        (0, 100, 1, 10),
        (30, 100, 1 << 30, 30),
    ],
)
def test_reach_ends_at_the_number_of_events_or_of_bytes(
    log: SqliteLog, start: int, events: int, size: int, end: int
) -> None:
    for first in (0, 10, 20):
        log.append(some(range(first, first + 10), data=bytes(10_000)))

    assert log.reach((start,), events, size) == (end,)


def test_reach_looks_only_at_what_lies_ahead(log: SqliteLog) -> None:
    for first in range(300):
        log.append([an_entry(first)])
    steps: list[None] = []

    log._connection.set_progress_handler(lambda: steps.append(None), 1)  # noqa: SLF001
    log.reach((299,), 100, 1 << 20)

    assert len(steps) < 200


def test_every_commit_is_on_disk_before_it_returns(log: SqliteLog) -> None:
    ask = log._connection.execute  # noqa: SLF001 - only a power cut would show it

    assert ask("PRAGMA journal_mode").fetchone() == ("wal",)
    assert ask("PRAGMA synchronous").fetchone() == (2,)
