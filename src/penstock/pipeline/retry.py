"""Parked deliveries that are due: a query whose tasks each own some destinations for an epoch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyspark.sql.datasource import (
    DataSource,
    DataSourceStreamArrowWriter,
    DataSourceStreamReader,
    DataSourceStreamWriter,
    InputPartition,
    WriterCommitMessage,
)
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadLimit
from pyspark.sql.types import StructType

from penstock.pipeline.homes import Homes, Pace, desk

if TYPE_CHECKING:
    import pyarrow as pa

_PATIENCE = 1.0
_AHEAD = 0.1
"""Seconds before something is due at which an epoch is started: Spark takes about that long."""


@dataclass
class Shard(InputPartition):
    """The destinations of one task: those whose hash falls on its number."""

    number: int


class DueReader(DataSourceStreamReader):
    """Starts an epoch when something is due, and otherwise waits."""

    def __init__(self, homes: Homes, pace: Pace, generation: int) -> None:
        self._homes = homes
        self._pace = pace
        self._generation = generation

    def initialOffset(self) -> dict[str, int]:
        return {"epoch": 0}

    def getDefaultReadLimit(self) -> ReadLimit:
        return ReadAllAvailable()

    def latestOffset(self, start: dict[str, int], limit: ReadLimit) -> dict[str, int]:
        """Return the next epoch as soon as something is due."""
        found = desk(self._homes).waiting(self._generation).wait(_AHEAD, _PATIENCE)
        return {"epoch": start["epoch"] + 1} if found else start

    def partitions(self, start: dict[str, int], end: dict[str, int]) -> Sequence[Shard]:
        return [Shard(number) for number in range(self._pace.shards)]

    def read(self, partition: Shard) -> Iterator[pa.RecordBatch]:  # type: ignore[override]
        """Yield the number of the shard: the task that writes it does the work."""
        import pyarrow as pa  # noqa: PLC0415 - see `sink`

        yield pa.RecordBatch.from_arrays([pa.array([partition.number], pa.int32())], ["shard"])

    def commit(self, end: dict[str, int]) -> None:
        """Do nothing: tasks settle as they go."""


class EpochWriter(DataSourceStreamArrowWriter):
    """Runs the epoch of a shard."""

    def __init__(self, homes: Homes, pace: Pace, generation: int) -> None:
        self._homes = homes
        self._pace = pace
        self._generation = generation

    def write(self, iterator: Iterator[pa.RecordBatch]) -> WriterCommitMessage:
        from penstock.pipeline.epoch import Epoch  # noqa: PLC0415 - see `sink`
        from penstock.pipeline.worker import worker  # noqa: PLC0415

        here = worker(self._homes)
        for batch in iterator:
            for number in batch.column("shard").to_pylist():
                here.run(Epoch(here, self._pace, self._generation, number).run())
        return WriterCommitMessage()

    def commit(self, messages: list[WriterCommitMessage | None], batchId: int) -> None:
        """Do nothing: tasks settle as they go."""

    def abort(self, messages: list[WriterCommitMessage | None], batchId: int) -> None:
        """Do nothing: leases of a task that died run out."""


def due_source(homes: Homes, pace: Pace, generation: int) -> type[DataSource]:
    """Return the source as a class that Spark can register."""

    class DueSource(DataSource):
        @classmethod
        def name(cls) -> str:
            return "penstock_due"

        def schema(self) -> str:
            return "shard int"

        def streamReader(self, schema: StructType) -> DataSourceStreamReader:
            return DueReader(homes, pace, generation)

    return DueSource


def retry_sink(homes: Homes, pace: Pace, generation: int) -> type[DataSource]:
    """Return the sink as a class that Spark can register."""

    class RetrySink(DataSource):
        @classmethod
        def name(cls) -> str:
            return "penstock_retry"

        def streamWriter(self, schema: StructType, overwrite: bool) -> DataSourceStreamWriter:  # noqa: FBT001
            return EpochWriter(homes, pace, generation)

    return RetrySink
