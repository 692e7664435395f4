"""What every event log must do."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from penstock.events.entry import Entry
from penstock.events.event import CloudEvent
from penstock.formats import arrow
from penstock.ports import EventLog, Position, Span
from penstock.testing.expect import expect


def check_log(opened: Callable[[], EventLog]) -> None:
    """Raise AssertionError where a log does not keep to the port.

    `opened` opens the same log each time; it is empty at first, and is trimmed to nothing here.
    """
    log = opened()
    try:
        start, entries = _check_append(log)
        _check_read(log, start, entries)
        _check_wait(log)
    finally:
        log.close()
    _check_reopened(opened, entries)
    _check_trimmed(opened)


def _entries(count: int) -> list[Entry]:
    return [
        Entry("brokers/default/default", CloudEvent(str(number), "/check", "check"), number)
        for number in range(count)
    ]


def _check_append(log: EventLog) -> tuple[Position, list[Entry]]:
    first, head = log.bounds()
    expect(first == head, "an empty log starts at its head")
    entries = _entries(5)
    middle = log.append(entries[:2])
    end = log.append(entries[2:])
    expect(sum(middle) == sum(head) + 2, "an append moves the head by its number of entries")
    expect(log.bounds() == (first, end), "an append returns the new head")
    return first, entries


def _check_read(log: EventLog, start: Position, entries: Sequence[Entry]) -> None:
    found = everything(log)
    expect(_sorted(found) == _sorted(entries), "what was appended is read back")
    _, head = log.bounds()
    for number, (begin, end) in enumerate(zip(start, head, strict=True)):
        chunks = list(log.read(Span(number, begin, end)))
        expected = begin
        for chunk in chunks:
            expect(chunk.offset == expected, "chunks follow each other without a gap")
            expected += chunk.batch.num_rows
        expect(expected == end, "a span is read whole")
        expect(not list(log.read(Span(number, begin, begin))), "an empty span has no chunk")


def _check_wait(log: EventLog) -> None:
    first, head = log.bounds()
    expect(log.wait(first, 10.0) == head, "waiting ends at once when the head is beyond")
    expect(log.wait(head, 0.01) == head, "waiting ends when the time is over")
    expect(log.since(0) == first, "everything was stored after 1970")
    expect(log.since(1 << 53) == head, "nothing was stored in the future")


def _check_reopened(opened: Callable[[], EventLog], entries: Sequence[Entry]) -> None:
    log = opened()
    try:
        expect(_sorted(everything(log)) == _sorted(entries), "a log survives being closed")
    finally:
        log.close()


def _check_trimmed(opened: Callable[[], EventLog]) -> None:
    log = opened()
    first, head = log.bounds()
    expect(log.trim(head) == sum(head) - sum(first), "trim counts what it forgot")
    log.close()
    log = opened()
    try:
        expect(log.bounds() == (head, head), "offsets go on after all was trimmed")
        after = log.append(_entries(1))
        expect(sum(after) == sum(head) + 1, "no offset is given twice")
    finally:
        log.close()


def everything(log: EventLog) -> list[Entry]:
    """Return all that a log keeps."""
    first, head = log.bounds()
    spans = [Span(number, *ends) for number, ends in enumerate(zip(first, head, strict=True))]
    chunks = (chunk for span in spans for chunk in log.read(span))
    return [entry for chunk in chunks for entry in arrow.unpack(chunk.batch)]


def _sorted(entries: Sequence[Entry]) -> list[Entry]:
    return sorted(entries, key=lambda entry: entry.received)
