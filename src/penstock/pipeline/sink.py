"""The delivery sink: write works in the executors, commit settles once per batch on the driver."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyspark.sql.datasource import (
    DataSource,
    DataSourceStreamArrowWriter,
    DataSourceStreamWriter,
    WriterCommitMessage,
)
from pyspark.sql.types import StructType

from penstock.pipeline.done import Done
from penstock.pipeline.homes import Homes, Pace, desk
from penstock.pipeline.settle import settle

if TYPE_CHECKING:
    import pyarrow as pa


# Spark loads this module in processes that only plan. What costs memory (40 MB each) is imported
# where it is used; the daemon that forks the working processes has it all loaded already.


@dataclass
class Work(WriterCommitMessage):
    """What a task tells the driver."""

    done: Done | None
    started: float


class DeliveryWriter(DataSourceStreamArrowWriter):
    """Delivers the events of a micro-batch."""

    def __init__(self, homes: Homes, pace: Pace, generation: int) -> None:
        self._homes = homes
        self._pace = pace
        self._generation = generation

    def write(self, iterator: Iterator[pa.RecordBatch]) -> Work:
        """Match and send; write no state here."""
        from penstock.pipeline import rows  # noqa: PLC0415
        from penstock.pipeline.work import deliver  # noqa: PLC0415
        from penstock.pipeline.worker import worker  # noqa: PLC0415

        started = time.time()
        batch = rows.events(iterator, desk(self._homes).log.read)
        if batch is None:
            return Work(None, started)
        return Work(deliver(worker(self._homes), batch, self._generation, self._pace), started)

    def commit(self, messages: list[WriterCommitMessage | None], batchId: int) -> None:
        """Settle the batch; when this fails, Spark fails the query and the batch runs again."""
        works = [message for message in messages if isinstance(message, Work)]
        parts = [work.done for work in works if work.done is not None]
        if parts:
            seconds = time.time() - min(work.started for work in works)
            settle(desk(self._homes), parts, seconds)

    def abort(self, messages: list[WriterCommitMessage | None], batchId: int) -> None:
        """Do nothing: what is not settled is delivered again."""


def delivery_sink(homes: Homes, pace: Pace, generation: int) -> type[DataSource]:
    """Return the sink as a class that Spark can register."""

    class DeliverySink(DataSource):
        @classmethod
        def name(cls) -> str:
            return "penstock_delivery"

        def streamWriter(self, schema: StructType, overwrite: bool) -> DataSourceStreamWriter:  # noqa: FBT001
            return DeliveryWriter(homes, pace, generation)

    return DeliverySink
