"""Start, watch and stop the queries."""

from __future__ import annotations

import logging
import shutil
import threading
import uuid
from collections.abc import Callable
from pathlib import Path

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from penstock.pipeline.catchup import CatchUp
from penstock.pipeline.homes import Desk, Homes, Pace
from penstock.pipeline.retry import due_source, retry_sink
from penstock.pipeline.sink import delivery_sink
from penstock.pipeline.source import log_source

_LOG = logging.getLogger("penstock.pipeline")
_PATIENCE = 5.0


class Pipeline:
    """The running queries `deliver` and `retry`."""

    def __init__(self, spark: SparkSession, homes: Homes, pace: Pace, checkpoints: Path) -> None:
        self._spark = spark
        self._homes = homes
        self._pace = pace
        # The ledger is the checkpoint that counts. Spark wants one too; it gets a new one each
        # time, so that no file torn by a power cut can keep the pipeline from starting.
        shutil.rmtree(checkpoints, ignore_errors=True)
        self._checkpoints = checkpoints
        self._queries: list[StreamingQuery] = []
        self._stopping = threading.Event()
        self._catching = threading.Thread()

    def start(self) -> None:
        """Start both queries as a new generation, and the catch-ups beside them."""
        ledger = self._homes.ledger()
        generation = ledger.begin()
        ledger.close()
        for kind in (
            log_source(self._homes, self._pace),
            delivery_sink(self._homes, self._pace, generation),
            due_source(self._homes, self._pace, generation),
            retry_sink(self._homes, self._pace, generation),
        ):
            self._spark.dataSource.register(kind)
        self._queries = [
            self._query("deliver", "penstock_log", "penstock_delivery"),
            self._query("retry", "penstock_due", "penstock_retry"),
        ]
        work = CatchUp(Desk(self._homes), self._homes.catchups(generation)).run
        self._catching = threading.Thread(target=work, args=(self._stopping,), daemon=True)
        self._catching.start()

    def watch(self, stopping: threading.Event, seen: Callable[[], None]) -> None:
        """Call `seen` while all is well, until told to stop; raise when a query fails."""
        while not stopping.wait(0.5):
            if not self._catching.is_alive():
                msg = "catching up ended"
                raise RuntimeError(msg)
            for query in self._queries:
                if not query.isActive:
                    cause = query.exception()
                    msg = f"query {query.name} ended: {cause}"
                    raise RuntimeError(msg)
            if self.is_warm():
                seen()

    def is_warm(self) -> bool:
        """Tell whether a first micro-batch, which may be empty, went all the way."""
        return any(query.name == "deliver" and query.lastProgress for query in self._queries)

    def stop(self) -> None:
        """Stop the queries; what they had not settled is delivered again after the next start."""
        self._stopping.set()
        for query in self._queries:
            try:
                query.stop()
            except PySparkException:
                _LOG.exception("query %s did not stop cleanly", query.name)
        if self._catching.is_alive():
            self._catching.join(_PATIENCE)

    def _query(self, name: str, source: str, sink: str) -> StreamingQuery:
        frame = self._spark.readStream.format(source).load()
        folder = self._checkpoints / f"{name}-{uuid.uuid4().hex}"
        return (
            frame.writeStream.format(sink)
            .queryName(name)
            .option("checkpointLocation", str(folder))
            .start()
        )
