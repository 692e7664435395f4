from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql.streaming.datasource import ReadAllAvailable

from penstock.errors import StoreError
from penstock.pipeline import rows
from penstock.pipeline.homes import Pace, desk
from penstock.pipeline.source import Admission, LogReader, _parts
from penstock.ports import Settlement, Span
from tests.log.entries import some
from tests.pipeline.plant import PACE, Plant
from tests.routing.routes import a_route

Offset = dict[str, list[int]]
ALL = ReadAllAvailable()


def ids(reader: LogReader, start: Offset, end: Offset) -> list[str]:
    """The events that the tasks of a micro-batch read, in order."""
    parts = [batch for part in reader.partitions(start, end) for batch in reader.read(part)]
    batch = rows.events(parts, desk(reader._homes).log.read)  # noqa: SLF001
    return [] if batch is None else batch.column("id").to_pylist()


def versions(reader: LogReader, start: Offset, end: Offset) -> set[int]:
    return {part.version for part in reader.partitions(start, end)}


def test_first_batch_is_empty_and_only_shows_that_everything_works(works: Plant) -> None:
    reader = LogReader(works.homes, PACE)

    start = reader.initialOffset()
    end = reader.latestOffset(start, ALL)

    assert start["position"] == end["position"] == [0]
    assert start != end
    assert ids(reader, start, end) == []


def test_batch_takes_what_is_new(works: Plant) -> None:
    reader = LogReader(works.homes, PACE)
    start = reader.initialOffset()
    works.append(some(range(3)))

    end = reader.latestOffset(start, ALL)

    assert end["position"] == [3]
    assert ids(reader, start, end) == ["0", "1", "2"]


def test_reading_begins_where_the_ledger_says_that_all_is_settled(works: Plant) -> None:
    works.append(some(range(5)))
    works.ledger.settle(Settlement(1, position=(3,)))

    reader = LogReader(works.homes, PACE)
    start = reader.initialOffset()

    assert start["position"] == [3]
    assert ids(reader, start, reader.latestOffset(start, ALL)) == ["3", "4"]


def test_ledger_that_is_ahead_of_the_log_is_refused(works: Plant) -> None:
    works.append(some(range(2)))
    works.ledger.settle(Settlement(1, position=(3,)))

    with pytest.raises(StoreError, match="damaged or replaced"):
        LogReader(works.homes, PACE).initialOffset()


def test_batch_is_no_larger_than_the_pace_allows(works: Plant) -> None:
    reader = LogReader(works.homes, Pace(batch_events=4, parallel=1))
    start = reader.initialOffset()
    works.append(some(range(10)))

    end = reader.latestOffset(start, ALL)

    assert ids(reader, start, end) == ["0", "1", "2", "3"]


@pytest.mark.covers("KN-062")
def test_repeated_batch_has_the_same_end_and_the_same_routing_table(works: Plant) -> None:
    first = LogReader(works.homes, PACE)
    version = works.put(a_route("a"))
    works.append(some(range(3)))
    start = first.initialOffset()
    end = first.latestOffset(start, ALL)
    used = versions(first, start, end)

    works.put(a_route("b"))
    works.append(some(range(3, 6)))
    again = LogReader(works.homes, PACE)
    restart = again.initialOffset()
    reached = again.latestOffset(restart, ALL)

    assert (restart["position"], reached["position"]) == (start["position"], end["position"])
    assert versions(again, restart, reached) == used == {version}


def test_next_batch_has_the_newest_routing_table(works: Plant) -> None:
    reader = LogReader(works.homes, PACE)
    works.append(some(range(3)))
    start = reader.initialOffset()
    end = reader.latestOffset(start, ALL)
    versions(reader, start, end)

    newest = works.put(a_route("b"))
    works.append(some(range(3, 6)))

    assert versions(reader, end, reader.latestOffset(end, ALL)) == {newest}


@given(st.integers(0, 5_000), st.integers(0, 5_000), st.integers(1, 5))
def test_parts_cover_a_span_without_gap_or_overlap(start: int, length: int, parallel: int) -> None:
    span = Span(0, start, start + length)

    parts = list(_parts(span, parallel))

    assert [offset for part in parts for offset in range(part.start, part.end)] == list(
        range(span.start, span.end)
    )
    assert len(parts) <= parallel
    assert all(len(part) for part in parts)


def test_admission_grows_with_what_was_done_and_at_most_doubles() -> None:
    admission = Admission(Pace(batch_events=20_000))
    first = admission.admitted((0,), 100.0)
    admission.released(100.0)

    second = admission.admitted((first,), 100.01)

    assert (first, second) == (5_000, 10_000)


def test_admission_never_exceeds_the_pace() -> None:
    admission = Admission(Pace(batch_events=6_000))
    done = 0
    for number in range(10):
        done += admission.admitted((done,), number / 100)
        admission.released(number / 100)

    assert admission.admitted((done,), 1.0) == 6_000


def test_admission_shrinks_when_batches_take_long() -> None:
    admission = Admission(Pace())
    admission.admitted((0,), 100.0)
    admission.released(100.0)

    assert admission.admitted((3_000,), 103.0) == 1_000
    admission.released(103.0)
    assert admission.admitted((3_010,), 113.0) == 500


def test_small_quick_batches_change_nothing() -> None:
    admission = Admission(Pace())
    admission.admitted((0,), 100.0)
    admission.released(100.0)

    assert admission.admitted((7,), 100.2) == 5_000


@pytest.mark.parametrize(
    ("events", "took", "much"),
    [(1_001, 0.1, True), (400, 1.0, True), (400, 0.1, False), (10, 9.0, False)],
)
def test_many_events_or_such_that_take_long_are_for_several_tasks(
    events: int, took: float, *, much: bool
) -> None:
    admission = Admission(Pace())
    admission.admitted((0,), 100.0)
    admission.released(100.0)

    admission.admitted((events,), 100.0 + took)

    assert admission.is_much(events) is much
