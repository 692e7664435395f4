"""What is asked of the event log."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Protocol

import msgspec

from penstock.events.entry import Entry

if TYPE_CHECKING:
    import pyarrow as pa


# The next offset of every partition of the log. The embedded log has one partition, Kafka has many.
Position = tuple[int, ...]


class Span(msgspec.Struct, frozen=True, order=True):
    """The offsets from `start` up to, but not including, `end` of one partition."""

    partition: int
    start: int
    end: int

    def __len__(self) -> int:
        return self.end - self.start


class Chunk(msgspec.Struct, frozen=True):
    """Consecutive events of one partition as they lie in the log."""

    partition: int
    offset: int
    batch: pa.RecordBatch


class EventLog(Protocol):
    """A durable sequence of events under increasing offsets."""

    def append(self, entries: Sequence[Entry]) -> Position:
        """Store the entries together or not at all, durably, and return the position after them."""
        ...

    def read(self, span: Span) -> Iterator[Chunk]:
        """Yield the events of a span in order."""
        ...

    def bounds(self) -> tuple[Position, Position]:
        """Return the first position that is still kept, and the head: the next to be written."""
        ...

    def wait(self, position: Position, seconds: float) -> Position:
        """Return the head as soon as it is beyond a position, or after some seconds."""
        ...

    def reach(self, position: Position, events: int, size: int) -> Position:
        """Return how far one can read from a position within a number of events and bytes."""
        ...

    def since(self, time: int) -> Position:
        """Return where what was stored from a time on (µs since 1970) begins."""
        ...

    def trim(self, before: Position) -> int:
        """Forget what lies before a position and return how many events that were."""
        ...

    def close(self) -> None: ...
