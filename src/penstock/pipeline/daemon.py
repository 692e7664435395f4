"""Spark's worker daemon with our modules loaded, so that its workers start at once.

Spark ends Python workers that were idle for a minute. A new one is forked from this process: with
everything imported here, the first event after a quiet hour waits for a fork, not for imports, and
all workers share the memory of the modules.
"""

from __future__ import annotations

import gc
import importlib
import os

import pandas as pd  # type: ignore[import-untyped]
import pyspark.sql.worker.plan_data_source_read
import pyspark.sql.worker.write_into_data_source
import pyspark.worker
from pyspark import daemon

import penstock.pipeline.retry
import penstock.pipeline.sink
import penstock.pipeline.source

LOADED = (
    pd,
    pyspark.sql.worker.plan_data_source_read,
    pyspark.sql.worker.write_into_data_source,
    pyspark.worker,
    penstock.pipeline.retry,
    penstock.pipeline.sink,
    penstock.pipeline.source,
)

if __name__ == "__main__":
    for name in os.environ.get("PENSTOCK_PRELOAD", "").split():
        importlib.import_module(name)
    # What is frozen is not touched by the collector, so the workers go on sharing its pages.
    gc.collect()
    gc.freeze()
    daemon.manager()
