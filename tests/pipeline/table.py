"""Tables of events in Spark, and what filters say of them there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pyarrow as pa

from penstock.events import CloudEvent
from penstock.events.entry import Entry
from penstock.filters import Filter
from penstock.formats import arrow
from penstock.routing import DEFAULT

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

Answers = list[list[bool | None]]
# What a session for history has instead of the pipeline's settings.
COMPILED = {
    "spark.sql.codegen.wholeStage": "true",
    "spark.sql.codegen.factoryMode": "FALLBACK",
}


@contextmanager
def compiled(spark: SparkSession, *, wanted: bool = True) -> Iterator[None]:
    """Let Spark compile its plans, as for history, or leave it as the pipeline has it."""
    before = {name: str(spark.conf.get(name)) for name in COMPILED}
    try:
        for name, value in COMPILED.items() if wanted else ():
            spark.conf.set(name, value)
        yield
    finally:
        for name, value in before.items():
            spark.conf.set(name, value)


def packed(events: Sequence[CloudEvent]) -> pa.RecordBatch:
    """The events as one batch of the default broker."""
    return arrow.pack([Entry(DEFAULT.key, event, 0) for event in events])


def table(spark: SparkSession, events: Sequence[CloudEvent]) -> DataFrame:
    """The events as a table."""
    return spark.createDataFrame(pa.Table.from_batches([packed(events)]))


def answers(
    spark: SparkSession, filters: Sequence[Filter], events: Sequence[CloudEvent]
) -> Answers:
    """What each filter says of each event, in one job."""
    from penstock.pipeline.columns import column

    return asked(spark, [column(one) for one in filters], events)


def asked(spark: SparkSession, columns: Sequence[Column], events: Sequence[CloudEvent]) -> Answers:
    named = [one.alias(f"c{number}") for number, one in enumerate(columns)]
    found = table(spark, events).select(*named).toArrow()
    return [column.to_pylist() for column in found.columns]
