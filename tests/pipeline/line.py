"""A running pipeline with a receiver at its end."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from penstock.ports import Tally
from tests.pipeline.plant import PACE, Plant, plant
from tests.pipeline.receiver import Receiver, eventually, receiving

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from penstock.pipeline.run import Pipeline


@dataclass(frozen=True)
class Line:
    """Log, store and ledger, the queries that run on them, and who receives."""

    plant: Plant
    receiver: Receiver
    pipeline: Pipeline

    def tally(self, route: str) -> Tally:
        return self.plant.ledger.tallies().get(route, Tally(route))

    def done(self, route: str, deliveries: int = 1, seconds: float = 30.0) -> Tally:
        """Wait until so many deliveries of a route have come to their end."""
        assert eventually(lambda: _ended(self.tally(route)) >= deliveries, seconds), self.tally(
            route
        )
        return self.tally(route)

    def quiet(self, *destinations: str) -> bool:
        """Wait until nothing waits for some destinations any more."""
        return eventually(lambda: not self.plant.destinations() & set(destinations))


def _ended(tally: Tally) -> int:
    return tally.delivered + tally.dead


@contextmanager
def running(spark: SparkSession, folder: Path) -> Iterator[Line]:
    """Run the one pipeline that a Spark session can have at a time."""
    from penstock.pipeline.run import Pipeline

    with plant(folder) as works, receiving() as receiver:
        pipeline = Pipeline(spark, works.homes, PACE, folder / "checkpoints")
        pipeline.start()
        try:
            assert eventually(pipeline.is_warm, 120.0)
            yield Line(works, receiver, pipeline)
        finally:
            pipeline.stop()
