from __future__ import annotations

import pyarrow as pa

from penstock.formats import arrow
from penstock.pipeline import rows
from penstock.ports import Chunk
from tests.log.entries import some


def test_rows_know_their_place_and_their_version() -> None:
    chunks = [
        Chunk(0, 5, arrow.pack(some(range(2)))),
        Chunk(0, 7, arrow.pack(some(range(2, 5)))),
    ]

    batch = rows.placed(chunks, 9)

    assert batch is not None
    assert batch.schema == rows.SCHEMA
    assert batch.column("offset").to_pylist() == [5, 6, 7, 8, 9]
    assert set(batch.column("partition").to_pylist()) == {0}
    assert set(batch.column("version").to_pylist()) == {9}
    assert arrow.unpack(batch.select(arrow.SCHEMA.names)) == some(range(5))


def test_no_chunks_are_no_batch() -> None:
    assert rows.placed([], 1) is None


def test_spark_sees_the_columns_of_the_batch() -> None:
    names = [part.split()[0].strip("`") for part in rows.DDL.split(", ")]

    assert names == rows.SCHEMA.names
    assert ("NOT NULL" in rows.DDL.split(", ")[0]) is True


def test_outcomes_come_back_from_their_bytes() -> None:
    row = rows.OutcomeRow(0, 7, "r", 1, 503, 2, 1_000_000)

    (body,) = rows.outcomes([row, row])

    table = pa.ipc.read_record_batch(pa.py_buffer(body), rows.OUTCOMES)
    assert table.to_pylist() == [row._asdict()] * 2


def test_no_outcomes_are_no_bytes() -> None:
    assert rows.outcomes([]) == []
