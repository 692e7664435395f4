"""CESQL: evaluations on one core, routes beside exact ones, one filter over a million events."""

from __future__ import annotations

import random
import tempfile
import time
import timeit
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - its usual name

from bench import rig
from penstock import filters
from penstock.config import Settings
from penstock.events.entry import Entry
from penstock.events.event import CloudEvent
from penstock.formats import arrow
from penstock.pipeline.columns import column, in_python
from penstock.pipeline.session import session
from penstock.routing import DEFAULT, Route, Target
from penstock.routing.index import Index

TYPICAL = "type = 'com.example.order.created' AND source LIKE '/shops/%' AND EXISTS subject"
ROUTES = 1_000
HISTORY = 1_000_000
_GOAL = 500_000
_CALLS = 50_000
_ROUNDS = 7
_TURNS = 30
_BATCH = 10_000
_BATCHES = 5
_EVENT = CloudEvent(
    id="A234-1234-1234",
    source="/shops/42/orders/7",
    type="com.example.order.created",
    subject="order-7",
    time="2018-04-05T17:31:00Z",
    datacontenttype="application/json",
)
# A job over history is one large batch: worth compiling, unlike the pipeline's small ones.
_COMPILED = {
    "spark.sql.codegen.wholeStage": "true",
    "spark.sql.codegen.factoryMode": "FALLBACK",
}


def measure() -> list[rig.Row]:
    """Return the three figures that CESQL has goals for."""
    return [_evaluations(), _routes(), _history()]


def _evaluations() -> rig.Row:
    matches = filters.parse({"sql": TYPICAL}).matches
    best = min(timeit.repeat(lambda: matches(_EVENT), number=_CALLS, repeat=_ROUNDS))
    rate = _CALLS / best
    name = "CESQL, the typical expression on one core"
    return rig.Row(name, rate, "events/s", goal=f">= {_GOAL:,}", met=rate >= _GOAL)


def _routes() -> rig.Row:
    """Measure both kinds of routes in turns, so that a busy machine slows both."""
    batches = [arrow.pack(_entries(number)) for number in range(_BATCHES)]
    exact = Index(_route(number, sql=False) for number in range(ROUTES))
    mixed = Index(_route(number, sql=number % 2 == 0) for number in range(ROUTES))
    seconds = [(_matched(exact, batches), _matched(mixed, batches)) for _ in range(_TURNS)]
    rates = [_BATCH * _BATCHES / min(one) for one in zip(*seconds, strict=True)]
    name = f"match, {ROUTES:,} routes, half of them CESQL / all exact"
    return rig.ratio_row(name, rates[1], rates[0], "events/s", 0.5)


def _route(number: int, *, sql: bool) -> Route:
    kind = f"com.example.thing{number}.created"
    text = TYPICAL.replace("com.example.order.created", kind)
    document = {"sql": text} if sql else {"exact": {"type": kind}}
    return Route(f"route-{number}", DEFAULT.key, Target("http://127.0.0.1:9/"), filters=[document])


def _entries(seed: int) -> list[Entry]:
    chance = random.Random(seed)
    return [
        Entry(
            DEFAULT.key,
            CloudEvent(
                f"id-{seed}-{number}",
                f"/shops/{chance.randrange(50)}/tills/{chance.randrange(4)}",
                f"com.example.thing{chance.randrange(ROUTES)}.created",
                subject=f"order-{number}" if number % 5 else None,
                datacontenttype="application/json",
                data=b'{"order": 17, "amount": 12.5}',
            ),
            number,
        )
        for number in range(_BATCH)
    ]


def _matched(index: Index, batches: list[pa.RecordBatch]) -> float:
    start = time.perf_counter()
    for batch in batches:
        index.match(batch)
    return time.perf_counter() - start


def _history() -> rig.Row:
    filter_ = filters.parse({"sql": TYPICAL})
    with _spark() as (spark, folder):
        _archived(spark, HISTORY).write.parquet(str(folder))
        events = spark.read.parquet(str(folder))
        columns = [_timed(events, column(filter_)) for _ in range(_ROUNDS)]
        rows = [_timed(events, in_python(filter_)) for _ in range(2)]
    counts = {count for count, _ in (*columns, *rows)}
    assert len(counts) == 1, f"both must find the same events: {counts}"
    name = f"CESQL over {HISTORY:,} events in Parquet, as a column / row by row"
    fast, slow = (HISTORY / min(seconds for _, seconds in found) for found in (columns, rows))
    return rig.ratio_row(name, fast, slow, "events/s", 10)


@contextmanager
def _spark() -> Iterator[tuple[SparkSession, Path]]:
    with tempfile.TemporaryDirectory() as folder:
        spark = session(Settings(data=folder))
        try:
            for key, value in _COMPILED.items():
                spark.conf.set(key, value)
            yield spark, Path(folder) / "events"
        finally:
            spark.stop()


def _timed(events: DataFrame, chosen: Column) -> tuple[int, float]:
    start = time.perf_counter()
    count = events.filter(chosen).count()
    return count, time.perf_counter() - start


def _archived(spark: SparkSession, count: int) -> DataFrame:
    """Return events as the archive keeps them: their columns are those of the log."""
    number = F.col("number")
    kinds = F.array(
        *(F.lit(f"com.example.order.{kind}") for kind in ("created", "paid", "shipped"))
    )
    extensions = F.concat(F.lit('{"priority":'), number % 7, F.lit(',"sequence":"05"}'))
    made = {
        "stream": F.lit(DEFAULT.key),
        "received": number,
        "hops": F.lit(0).cast("smallint"),
        "specversion": F.lit("1.0"),
        "id": F.concat(F.lit("id-"), number),
        "source": F.concat(F.lit("/shops/"), number % 50),
        "type": F.element_at(kinds, (number % 3 + 1).cast("int")),
        "subject": F.when(number % 5 != 0, F.concat(F.lit("order-"), number)),
        "time": F.lit("2018-04-05T17:31:00Z"),
        "datacontenttype": F.lit("application/json"),
        "dataschema": F.lit(None).cast("string"),
        "extensions": F.when(number % 2 == 0, extensions),
        "data": F.lit(b'{"order": 17, "amount": 12.5, "currency": "EUR"}'),
        "form": F.lit(0).cast("tinyint"),
    }
    chosen = [made[name].alias(name) for name in arrow.SCHEMA.names]
    return spark.range(count).withColumnRenamed("id", "number").select(chosen)
