"""The log as a Spark streaming source."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadLimit
from pyspark.sql.types import StructType

from penstock.errors import StoreError
from penstock.pipeline.homes import Homes, Pace, desk
from penstock.ports import Position, Span

if TYPE_CHECKING:
    import pyarrow as pa

_PATIENCE = 1.0
_SMALL = 1_000
_FEW = 64
_SOON = 0.3
"""Seconds of work for which it is worth while to start several tasks."""
_FEWEST = 500
_LONG = 1.0
_BATCH_BYTES = 32 << 20
_BEAT = 40.0
"""Seconds without events after which an empty micro-batch runs: it shows that everything works,
and keeps the Python workers, which Spark would end after a minute, ready for the next event."""


@dataclass
class LogPartition(InputPartition):
    """A part of a micro-batch that one task reads."""

    span: Span
    version: int


class LogReader(DataSourceStreamReader):
    """Offers what is new in the log; waits for it instead of being asked again and again."""

    def __init__(self, homes: Homes, pace: Pace) -> None:
        self._homes = homes
        self._pace = pace
        self._admission = Admission(pace)
        self._last = 0.0

    def initialOffset(self) -> dict[str, list[int]]:
        """Return where the ledger says that deliveries are settled; no checkpoint is asked."""
        here = desk(self._homes)
        first, head = here.log.bounds()
        settled = here.ledger.position() or first
        if any(ours > theirs for ours, theirs in zip(settled, head, strict=True)):
            msg = (
                f"deliveries are settled up to {settled}, but the log ends at {head}: it was "
                "damaged or replaced, and new events would be taken for old ones"
            )
            raise StoreError(msg, address="log")
        return {"position": list(settled), "beat": [0]}

    def getDefaultReadLimit(self) -> ReadLimit:
        return ReadAllAvailable()

    def latestOffset(self, start: dict[str, list[int]], limit: ReadLimit) -> dict[str, list[int]]:
        """Return the end of the next micro-batch: of one begun before a crash, the same end."""
        position, (beat,) = tuple(start["position"]), start["beat"]
        here = desk(self._homes)
        planned = here.ledger.planned(position)
        if planned is not None:
            return {"position": list(planned.end), "beat": [beat]}
        most = self._admission.admitted(position, time.monotonic())
        head = here.log.wait(position, _PATIENCE if beat else 0.0)
        now = time.monotonic()
        if head == position and (not beat or now - self._last > _BEAT):
            beat += 1
        if head != position or [beat] != start["beat"]:
            self._last = now
        self._admission.released(now)
        if head == position:
            return {"position": list(position), "beat": [beat]}
        return {"position": list(here.log.reach(position, most, _BATCH_BYTES)), "beat": [beat]}

    def partitions(
        self, start: dict[str, list[int]], end: dict[str, list[int]]
    ) -> Sequence[LogPartition]:
        """Record which version of the routing table decides this batch, then cut it into tasks."""
        first, last = tuple(start["position"]), tuple(end["position"])
        if first == last:
            return [LogPartition(Span(0, first[0], first[0]), 0)]
        here = desk(self._homes)
        plan = here.ledger.plan(first, last, here.store.version())
        return [
            LogPartition(part, plan.version)
            for number, (begin, finish) in enumerate(zip(first, last, strict=True))
            for part in _parts(Span(number, begin, finish), self._pieces(finish - begin))
        ]

    def _pieces(self, events: int) -> int:
        return self._pace.parallel if self._admission.is_much(events) else 1

    def read(self, partition: LogPartition) -> Iterator[pa.RecordBatch]:  # type: ignore[override]
        """Yield where the events of one task lie; the sink reads them from the log itself."""
        from penstock.pipeline import rows  # noqa: PLC0415 - see `sink`

        if len(partition.span):
            yield rows.span(partition.span, partition.version)

    def commit(self, end: dict[str, list[int]]) -> None:
        """Do nothing: the ledger already knows."""


class Admission:
    """How many events the next micro-batch may take: as many as were lately done in a second."""

    def __init__(self, pace: Pace) -> None:
        self._most = pace.batch_events
        self._admitted = min(pace.batch_events, 5_000)
        self._from: Position | None = None
        self._since = 0.0
        self._speed = math.inf

    def admitted(self, position: Position, now: float) -> int:
        """Return the limit for the batch that starts at a position."""
        if self._from is not None and position != self._from and now > self._since:
            done, took = sum(position) - sum(self._from), now - self._since
            self._speed = done / took
            if done >= self._admitted or took > _LONG:
                wanted = max(done / took, _FEWEST)
                self._admitted = int(min(wanted, self._admitted * 2, self._most))
        self._from = position
        return self._admitted

    def is_much(self, events: int) -> bool:
        """Tell whether events are enough for several tasks: many, or each of them much work."""
        return events > _SMALL or (events > _FEW and events > self._speed * _SOON)

    def released(self, now: float) -> None:
        """Note that a batch starts now; time spent waiting for events does not count."""
        self._since = now


def _parts(span: Span, pieces: int) -> Iterator[Span]:
    step = -(-len(span) // pieces)
    for begin in range(span.start, span.end, max(step, 1)):
        yield Span(span.partition, begin, min(begin + step, span.end))


def log_source(homes: Homes, pace: Pace) -> type[DataSource]:
    """Return the source as a class that Spark can register; homes travel inside it."""

    class LogSource(DataSource):
        @classmethod
        def name(cls) -> str:
            return "penstock_log"

        def schema(self) -> str:
            from penstock.pipeline import rows  # noqa: PLC0415

            return rows.SPANS_DDL

        def streamReader(self, schema: StructType) -> DataSourceStreamReader:
            return LogReader(homes, pace)

    return LogSource
