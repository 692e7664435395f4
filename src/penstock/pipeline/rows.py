"""The Arrow and Spark schemas of what flows through the pipeline."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from penstock.formats import arrow
from penstock.ports import Chunk, Span

PLACE = [
    pa.field("partition", pa.int32(), nullable=False),
    pa.field("offset", pa.int64(), nullable=False),
    pa.field("version", pa.int64(), nullable=False),
]
SCHEMA = pa.schema([*PLACE, *arrow.SCHEMA])
"""One row per event: its place in the log, the version of the routing table for it, the event."""

_SPARK = {
    pa.string(): "string",
    pa.binary(): "binary",
    pa.int8(): "tinyint",
    pa.int16(): "smallint",
    pa.int32(): "int",
    pa.int64(): "bigint",
}


def _ddl(schema: pa.Schema) -> str:
    return ", ".join(
        f"`{field.name}` {_SPARK[field.type]}{'' if field.nullable else ' NOT NULL'}"
        for field in schema
    )


DDL = _ddl(SCHEMA)
"""The same for Spark."""

SPANS = pa.schema(
    [
        pa.field("partition", pa.int32(), nullable=False),
        pa.field("start", pa.int64(), nullable=False),
        pa.field("end", pa.int64(), nullable=False),
        pa.field("version", pa.int64(), nullable=False),
    ]
)
"""One row per task: where its events lie. The task reads them itself, for a row of events that
passes from Python through Java to Python costs 40 µs, which is twice what its delivery costs."""
SPANS_DDL = _ddl(SPANS)

OUTCOMES = pa.schema(
    [
        pa.field("partition", pa.int32(), nullable=False),
        pa.field("offset", pa.int64(), nullable=False),
        pa.field("route", pa.string(), nullable=False),
        pa.field("outcome", pa.int8(), nullable=False),
        pa.field("status", pa.int16(), nullable=False),
        pa.field("attempts", pa.int32(), nullable=False),
        pa.field("at", pa.int64(), nullable=False),
    ]
)


class OutcomeRow(NamedTuple):
    """What became of one delivery at one moment."""

    partition: int
    offset: int
    route: str
    outcome: int
    status: int
    attempts: int
    at: int


def span(where: Span, version: int) -> pa.RecordBatch:
    """Return the row that tells a task where its events lie."""
    values = (where.partition, where.start, where.end, version)
    arrays = [pa.array([value], field.type) for value, field in zip(values, SPANS, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=SPANS)


def events(
    batches: Iterable[pa.RecordBatch], read: Callable[[Span], Iterable[Chunk]]
) -> pa.RecordBatch | None:
    """Return the events of a task as one batch: read by spans, or as a source brought them."""
    found = [part for batch in batches if batch.num_rows for part in _brought(batch, read)]
    if not found:
        return None
    return pa.Table.from_batches(found).combine_chunks().to_batches()[0]


def _brought(
    batch: pa.RecordBatch, read: Callable[[Span], Iterable[Chunk]]
) -> Iterator[pa.RecordBatch]:
    if batch.schema.names != SPANS.names:
        yield batch
        return
    for row in batch.to_pylist():
        part = placed(read(Span(row["partition"], row["start"], row["end"])), row["version"])
        if part is not None:
            yield part


def placed(chunks: Iterable[Chunk], version: int) -> pa.RecordBatch | None:
    """Return chunks of the log as one batch of rows, or None when there are none."""
    batches = [_placed(chunk, version) for chunk in chunks]
    if not batches:
        return None
    table = pa.Table.from_batches(batches).combine_chunks()
    return table.to_batches()[0]


def _placed(chunk: Chunk, version: int) -> pa.RecordBatch:
    count = chunk.batch.num_rows
    place = [
        pa.repeat(pa.scalar(chunk.partition, pa.int32()), count),
        pa.array(np.arange(chunk.offset, chunk.offset + count, dtype=np.int64)),
        pa.repeat(pa.scalar(version, pa.int64()), count),
    ]
    return pa.RecordBatch.from_arrays([*place, *chunk.batch.columns], schema=SCHEMA)


def outcomes(rows: Sequence[OutcomeRow]) -> list[bytes]:
    """Return outcomes as the bytes of a record batch; none are no batch."""
    if not rows:
        return []
    arrays = [
        pa.array(column, type=field.type)
        for column, field in zip(zip(*rows, strict=True), OUTCOMES, strict=True)
    ]
    batch = pa.RecordBatch.from_arrays(arrays, schema=OUTCOMES)
    return [batch.serialize().to_pybytes()]
