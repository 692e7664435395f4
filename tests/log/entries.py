"""Entries for tests of whatever keeps or carries events."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from penstock.events import CloudEvent
from penstock.events.entry import Entry
from penstock.log import SqliteLog
from penstock.ports import Span
from penstock.routing import DEFAULT


def an_entry(number: int = 0, **attributes: Any) -> Entry:  # noqa: ANN401
    """An entry of the default broker whose event has the given id."""
    needed = {"id": str(number), "source": "/shops/42", "type": "order.created"}
    return Entry(DEFAULT.key, CloudEvent(**needed | attributes), 1_000_000 + number)


def some(numbers: Iterable[int], **attributes: Any) -> list[Entry]:  # noqa: ANN401
    return [an_entry(number, **attributes) for number in numbers]


def ids(log: SqliteLog) -> list[int]:
    """The ids of all events in a log, in order."""
    first, head = log.bounds()
    chunks = log.read(Span(0, *first, *head))
    return [int(text) for chunk in chunks for text in chunk.batch.column("id").to_pylist()]
