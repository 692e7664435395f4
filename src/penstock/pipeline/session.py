"""Settings → SparkSession."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

from pyspark.sql import SparkSession

from penstock.config import Settings

# Measured with a source and a sink in Python at 200 events/s on two cores (median micro-batch).
_CHOSEN = {
    # No web server beside ours, and no bookkeeping for it.
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    # The default manager starts readlink and chmod processes for every file it writes.
    "spark.sql.streaming.checkpointFileManagerClass": (
        "org.apache.spark.sql.execution.streaming.checkpointing."
        "FileSystemBasedCheckpointFileManager"
    ),
    # Checksum files double the writes; the ledger is what counts, the checkpoint is thrown away.
    "spark.sql.streaming.checkpoint.fileChecksum.enabled": "false",
    # A micro-batch here has no expression worth compiling: 154 ms with generated code, 105 without.
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    # Unix sockets to the Python workers instead of TCP with a handshake: 169 ms to 146.
    "spark.python.unix.domain.socket.enabled": "true",
    # Nothing is joined or grouped; adaptive planning would only plan twice.
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.shuffle.partitions": "2",
    # Workers keep connections and the match index; a new process per task would lose them.
    "spark.python.worker.reuse": "true",
    # Workers are forked with our modules already loaded.
    "spark.python.daemon.module": "penstock.pipeline.daemon",
    # The source waits for events by itself; without this Spark would ask it every 10 ms.
    "spark.sql.streaming.pollingDelay": "20ms",
    "spark.sql.streaming.noDataMicroBatches.enabled": "false",
    "spark.sql.streaming.minBatchesToRetain": "2",
    "spark.sql.streaming.numRecentProgressUpdates": "10",
    # One Arrow batch per task: the matcher gains from seeing many events at once.
    "spark.sql.execution.arrow.maxRecordsPerBatch": "50000",
    "spark.sql.execution.pyspark.udf.faulthandler.enabled": "false",
    # A stopped query must not wait for a sink that takes its time.
    "spark.python.task.killTimeout": "500ms",
    "spark.task.maxFailures": "1",
    "spark.locality.wait": "0",
}
# The serial collector and the first compiler only: the JVM here moves small batches, and this
# saves about 150 MB and the work of two collectors and a second compiler on two cores.
_JVM = "-XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Xss512k -XX:ReservedCodeCacheSize=64m"


def session(settings: Settings, preload: Sequence[str] = ()) -> SparkSession:
    """Return the Spark session of the pipeline; its workers start with some modules loaded."""
    os.environ["PENSTOCK_PRELOAD"] = " ".join(preload)
    folder = Path(settings.data).absolute() / "spark"
    folder.mkdir(parents=True, exist_ok=True)
    # Workers start another Python than ours unless told.
    python = sys.executable if settings.spark_master else _interpreter(folder)
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = python
    # Spark binds to an address of the machine by default; nothing here is for others.
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    builder = SparkSession.builder.master(settings.spark_master or f"local[{settings.slots}]")
    builder = builder.appName("penstock")
    for key, value in _CHOSEN.items():
        builder = builder.config(key, value)
    builder = builder.config("spark.driver.memory", settings.driver_memory)
    logging = f"-Dlog4j2.configurationFile=file:{_log4j()}"
    builder = builder.config("spark.driver.extraJavaOptions", f"{_JVM} {logging}")
    builder = builder.config("spark.local.dir", str(folder / "local"))
    builder = builder.config("spark.sql.warehouse.dir", str(folder / "warehouse"))
    return builder.getOrCreate()


def _interpreter(folder: Path) -> str:
    """Return the Python of Spark's processes: ours, with PySpark from where it is installed.

    Spark puts an archive of PySpark first on their path. What comes from an archive is compiled
    anew by each of them: 20 s instead of 13 from the start of a server until it is ready.
    """
    path, python = shlex.quote(os.environ.get("PYTHONPATH", "")), shlex.quote(sys.executable)
    script = folder / "python"
    script.write_text(f'#!/bin/sh\nPYTHONPATH={path} exec {python} "$@"\n', encoding="utf-8")
    script.chmod(0o755)
    # Some disks are mounted so that nothing on them can be run.
    return str(script) if os.access(script, os.X_OK) else sys.executable


def _log4j() -> Path:
    return Path(__file__).with_name("log4j2.properties")
