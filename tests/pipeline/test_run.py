"""The queries on Spark, while they run."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.log.entries import an_entry, some
from tests.pipeline.line import Line, running
from tests.routing.routes import a_route

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture(scope="module")
def line(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Line]:
    with running(spark, tmp_path_factory.mktemp("run")) as started:
        yield started


def test_event_arrives_and_the_ledger_knows(line: Line) -> None:
    line.plant.put(a_route("plain", line.receiver.uri("/plain"), types=("plain",)))

    end = line.plant.append([an_entry(1, type="plain")])
    tally = line.done("plain")

    assert line.receiver.places["/plain"].ids == ["1"]
    assert (tally.matched, tally.delivered, tally.parked) == (1, 1, 0)
    assert line.plant.ledger.position() == (end,)


def test_routes_come_and_go_while_the_queries_run(line: Line) -> None:
    line.plant.put(a_route("old", line.receiver.uri("/old"), types=("t",)))
    line.plant.append([an_entry(1, type="t")])
    line.done("old")

    line.plant.put(a_route("new", line.receiver.uri("/new"), types=("t",)))
    line.plant.drop("old")
    line.plant.append([an_entry(2, type="t")])
    line.done("new")

    assert line.receiver.places["/old"].ids == ["1"]
    assert line.receiver.places["/new"].ids == ["2"]


def test_large_batch_arrives_whole(line: Line) -> None:
    line.plant.put(a_route("many", line.receiver.uri("/many"), types=("many",)))

    line.plant.append(some(range(300), type="many", data=bytes(2_000)))
    line.done("many", 300)

    assert sorted(map(int, line.receiver.places["/many"].ids)) == list(range(300))


def test_watching_sees_that_all_is_well_until_it_is_told_to_stop(line: Line) -> None:
    stopping, seen = threading.Event(), list[None]()

    def noted() -> None:
        seen.append(None)
        stopping.set()

    line.pipeline.watch(stopping, noted)

    assert seen == [None]
