"""The queries on Spark when they start or fail; apart, for only one pipeline runs at a time."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest

from tests.log.entries import some
from tests.pipeline.line import running
from tests.pipeline.plant import PACE, plant
from tests.pipeline.receiver import eventually, receiving
from tests.routing.routes import a_route

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession


def test_new_pipeline_goes_on_where_the_last_one_was_settled(
    spark: SparkSession, tmp_path: Path
) -> None:
    with receiving() as receiver:
        with plant(tmp_path) as works:
            version = works.put(a_route("before", receiver.uri("/before")))
            works.append(some(range(3)))
            works.ledger.plan((0,), (2,), version)
            works.put(a_route("after", receiver.uri("/after")))

        with running(spark, tmp_path) as line:
            assert eventually(lambda: line.plant.ledger.position() == (3,))

    # The batch that was planned is decided by the table of that time, the next by the newest.
    assert sorted(receiver.places["/before"].ids) == ["0", "1", "2"]
    assert receiver.places["/after"].ids == ["2"]


def test_query_that_fails_is_told(spark: SparkSession, tmp_path: Path) -> None:
    from penstock.pipeline.run import Pipeline

    with plant(tmp_path) as works:
        works.append(some(range(3)))
        pipeline = Pipeline(spark, works.homes, PACE, tmp_path / "checkpoints")
        pipeline.start()
        works.log._connection.execute("UPDATE batches SET crc = 0")  # noqa: SLF001 - damage it
        try:
            with pytest.raises(RuntimeError, match="deliver ended"):
                pipeline.watch(threading.Event(), lambda: None)
        finally:
            pipeline.stop()
