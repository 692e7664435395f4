"""Matching through Spark: how many events/s, and how the time grows with the number of routes."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import pyarrow as pa
from pyspark.sql import SparkSession
from pyspark.sql.datasource import (
    DataSource,
    DataSourceStreamArrowWriter,
    DataSourceStreamWriter,
    WriterCommitMessage,
)
from pyspark.sql.types import StructType

from bench import rig
from penstock import runtime
from penstock.config import Settings
from penstock.events.entry import Entry
from penstock.events.event import CloudEvent
from penstock.pipeline import rows
from penstock.pipeline.homes import Homes, Pace, desk
from penstock.pipeline.session import session
from penstock.pipeline.source import log_source
from penstock.pipeline.worker import worker
from penstock.routing import DEFAULT, Route, Target

EVENTS = 2_000_000
_BATCH = 200_000
_STEP = 5_000


def measure(events: int = EVENTS) -> list[rig.Row]:
    """Return events/s with 1,000 routes of mixed filters, and the cost of 100 times more routes."""
    found = {size: _match(size, events) for size in (1_000, 100, 10_000)}
    speed, matches = found[1_000]
    growth = found[100][0] / found[10_000][0]
    return [
        rig.Row(
            f"match through Spark, 1,000 routes, {matches:.1f} matches per event",
            speed,
            "events/s",
            goal=">= 300,000",
            met=speed >= 300_000,  # noqa: PLR2004
        ),
        rig.Row(
            "match: time with 10,000 routes / time with 100",
            found[10_000][0],
            "events/s",
            found[100][0],
            growth,
            "ratio <= 3",
            growth <= 3,  # noqa: PLR2004
        ),
    ]


def routes(count: int) -> list[Route]:
    """Return routes of four kinds of filters; an event meets one route of each but the last."""
    return [
        Route(
            f"route-{number}", DEFAULT.key, Target("http://127.0.0.1:9/"), filters=[_filter(number)]
        )
        for number in range(count)
    ]


def _filter(number: int) -> dict[str, object]:
    kind, place = number % 4, number // 4
    if kind == 0:
        return {"exact": {"type": f"com.example.thing{place}.created"}}
    if kind == 1:
        return {"prefix": {"source": f"/shops/{place}/"}}
    if kind == 2:  # noqa: PLR2004
        return {"suffix": {"subject": f".{place}"}}
    exact = {"exact": {"type": f"com.example.thing{place}.created"}}
    return {"all": [exact, {"prefix": {"source": f"/shops/{place}/"}}]}


def entries(count: int, size: int) -> Iterator[list[Entry]]:
    """Yield events for a number of routes: every subject is another, types and sources repeat."""
    chance = random.Random(7)
    places = size // 4
    for first in range(0, count, _STEP):
        yield [
            Entry(
                DEFAULT.key,
                CloudEvent(
                    f"id-{number}",
                    f"/shops/{chance.randrange(places)}/tills/{chance.randrange(4)}",
                    f"com.example.thing{chance.randrange(places)}.created",
                    subject=f"order-{number}.{chance.randrange(places)}",
                    datacontenttype="application/json",
                    data=b'{"order": 17, "amount": 12.5}',
                ),
                number,
            )
            for number in range(first, first + _STEP)
        ]


@dataclass
class Count(WriterCommitMessage):
    """How many matches a task found."""

    matches: int


class MatchWriter(DataSourceStreamArrowWriter):
    """Does of the delivery sink's work only the matching."""

    def __init__(self, homes: Homes, notes: str) -> None:
        self._homes = homes
        self._notes = notes

    def write(self, iterator: Iterator[pa.RecordBatch]) -> Count:
        batch = rows.events(iterator, desk(self._homes).log.read)
        if batch is None:
            return Count(0)
        found = worker(self._homes).index(batch.column("version")[0].as_py()).match(batch)
        return Count(len(found.rows))

    def commit(self, messages: list[WriterCommitMessage | None], batchId: int) -> None:
        total = sum(message.matches for message in messages if isinstance(message, Count))
        with open(self._notes, "a") as notes:  # noqa: PTH123 - a path as text travels to Spark
            notes.write(f"{total}\n")

    def abort(self, messages: list[WriterCommitMessage | None], batchId: int) -> None: ...


def _match(size: int, events: int) -> tuple[float, float]:
    with rig.data_folder() as settings:
        log = runtime.open_log(settings)
        for group in entries(events, size):
            log.append(group)
        rig.put_routes(settings, routes(size))
        return _through_spark(settings, events)


def _through_spark(settings: Settings, events: int) -> tuple[float, float]:
    homes = runtime.homes(settings)
    notes = settings.folder / "matches"
    notes.touch()
    spark = session(settings)
    try:
        spark.dataSource.register(log_source(homes, Pace(batch_events=_BATCH, parallel=2)))
        spark.dataSource.register(_match_sink(homes, str(notes)))
        batches = _run(spark, settings, events)
    finally:
        spark.stop()
    counted = _second_half([batch for batch in batches if _events(batch)])
    seconds = sum(row["durationMs"]["triggerExecution"] for row in counted) / 1_000
    matches = sum(int(line) for line in notes.read_text().split()) / events
    return sum(map(_events, counted)) / seconds, matches


def _second_half(batches: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return what counts: at first processes start, indexes are built, and batches are small."""
    passed = [*accumulate(map(_events, batches))]
    return [batch for batch, so_far in zip(batches, passed, strict=True) if so_far > passed[-1] / 2]


def _events(batch: dict[str, Any]) -> int:
    """Return how many events a micro-batch had; Spark itself sees only where they lie."""
    source = batch["sources"][0]
    start, end = (
        json.loads(source[name]) if isinstance(source[name], str) else source[name]
        for name in ("startOffset", "endOffset")
    )
    return int(sum(end["position"]) - sum(start["position"] if start else (0,)))


def _run(spark: SparkSession, settings: Settings, events: int) -> list[dict[str, Any]]:
    query = (
        spark.readStream.format("penstock_log")
        .load()
        .writeStream.format("bench_match")
        .option("checkpointLocation", str(settings.folder / "match"))
        .start()
    )
    seen: dict[int, dict[str, Any]] = {}

    def finished() -> bool:
        if (failure := query.exception()) is not None:
            raise failure
        seen.update({row["batchId"]: json.loads(row.json) for row in query.recentProgress})
        return sum(map(_events, seen.values())) >= events

    try:
        rig.wait_for(finished, 300, 0.2)
    finally:
        query.stop()
    return [seen[number] for number in sorted(seen)]


def _match_sink(homes: Homes, notes: str) -> type[DataSource]:
    class MatchSink(DataSource):
        @classmethod
        def name(cls) -> str:
            return "bench_match"

        def streamWriter(self, schema: StructType, overwrite: bool) -> DataSourceStreamWriter:  # noqa: FBT001
            return MatchWriter(homes, notes)

    return MatchSink
