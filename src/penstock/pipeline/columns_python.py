"""What no column rule says, said by Python: a filter over rows, in an Arrow UDF."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from itertools import repeat
from typing import Any

import pyarrow as pa
from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812 - its name everywhere
from pyspark.sql.types import BooleanType

from penstock.events.event import CloudEvent
from penstock.formats import arrow
from penstock.pipeline.columns_attributes import homes

Answer = Callable[[CloudEvent], bool | None]
_FIELDS = ("id", "source", "type", "specversion", *arrow.CORE[4:])


def answered(answer: Answer, names: Collection[str]) -> Column:
    """Return what Python answers for each event, of which it sees the named attributes."""
    columns = sorted({"specversion"}.union(*(homes(name) for name in names)))

    def ask(*values: pa.Array) -> pa.Array:
        events = _events(dict(zip(columns, values, strict=True)))
        return pa.array([answer(event) for event in events], pa.bool_())

    asked: Column = F.arrow_udf(ask, BooleanType())(*map(F.col, columns))  # type: ignore[attr-defined]
    return asked


def _events(columns: dict[str, pa.Array]) -> Iterator[CloudEvent]:
    core = (_values(columns.get(name)) for name in _FIELDS)
    extensions = _values(columns.get("extensions"))
    count = len(columns["specversion"])
    for _, text, *row in zip(range(count), extensions, *core, strict=False):
        yield CloudEvent(*row, arrow.extensions_of(text))  # type: ignore[call-arg]


def _values(column: pa.Array | None) -> Iterable[Any]:
    return repeat(None) if column is None else column.to_pylist()
