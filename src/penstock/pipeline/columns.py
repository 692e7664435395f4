"""One filter as one column over a table of events, for history: the same answer as in Python."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any as Anything

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812 - its usual name

from penstock.filters import Everything, Filter
from penstock.filters.all import All
from penstock.filters.any import Any
from penstock.filters.attributes import AttributeMap
from penstock.filters.base import Texts
from penstock.filters.exact import Exact
from penstock.filters.not_ import Not
from penstock.filters.prefix import Prefix
from penstock.filters.sql import Sql
from penstock.filters.suffix import Suffix
from penstock.pipeline import columns_sql
from penstock.pipeline.columns_attributes import PLAIN, attribute
from penstock.pipeline.columns_python import answered

LARGEST = 300
"""Conditions; Python evaluates a filter that has more: Spark would plan it for many seconds."""
_EXTENSION = 4
"""As many conditions as one on an attribute that does not have a column of its own."""
_Compare = Callable[[Column, Anything], Column]


def column(filter_: Filter) -> Column:
    """Return whether each event matches, true or false, over the columns of an event.

    Python evaluates, in an Arrow UDF, the parts for which there is no rule.
    """
    return in_python(filter_) if _conditions(filter_) > LARGEST else _column(filter_)


def in_python(filter_: Filter) -> Column:
    """Return the same column, evaluated by Python throughout."""
    return answered(filter_.matches, filter_.names())


def _column(filter_: Filter) -> Column:
    rule = RULES.get(type(filter_))
    found = rule(filter_) if rule is not None and _is_sound(filter_) else None
    return in_python(filter_) if found is None else found


def _texts(compare: _Compare, filter_: Texts) -> Column:
    return _all(_text(name, compare, text) for name, text in filter_.texts.items())


def _text(name: str, compare: _Compare, wanted: object) -> Column:
    found = attribute(name)
    if name in PLAIN:
        # Said like this, Spark hands the comparison down to the files.
        return found.present & compare(found.text, wanted)
    return F.coalesce(compare(found.text, wanted), F.lit(False))  # noqa: FBT003 - a value


def _attributes(filter_: AttributeMap) -> Column:
    return _all(
        _text(name, operator.eq, text) if text else attribute(name).present
        for name, text in filter_.texts.items()
    )


def _any(filter_: Any) -> Column:
    several: dict[str, list[str]] = {}
    others: list[Column] = []
    for part in filter_.filters:
        if type(part) is Exact and len(part.texts) == 1 and _is_sound(part):
            ((name, text),) = part.texts.items()
            several.setdefault(name, []).append(text)
        else:
            others.append(_column(part))
    lists = (_text(name, Column.isin, texts) for name, texts in several.items())
    return _joined(operator.or_, [*lists, *others])


def _all(columns: Iterable[Column]) -> Column:
    return _joined(operator.and_, list(columns))


def _joined(join: Callable[[Column, Column], Column], columns: Sequence[Column]) -> Column:
    """Join columns as a tree that is no deeper than it must be: Spark recurses into it."""
    if len(columns) == 1:
        return columns[0]
    middle = len(columns) // 2
    return join(_joined(join, columns[:middle]), _joined(join, columns[middle:]))


RULES: Mapping[type[Filter], Callable[[Anything], Column | None]] = {
    Everything: lambda _: F.lit(True),  # noqa: FBT003 - a value
    Exact: partial(_texts, operator.eq),
    Prefix: partial(_texts, Column.startswith),
    Suffix: partial(_texts, Column.endswith),
    AttributeMap: _attributes,
    All: lambda filter_: _all(map(_column, filter_.filters)),
    Any: _any,
    Not: lambda filter_: ~_column(filter_.filter),
    Sql: lambda filter_: columns_sql.predicate(filter_.expression),
}


def _conditions(filter_: Filter) -> int:
    match filter_:
        case All(parts) | Any(parts):
            return sum(map(_conditions, parts))
        case Not(inner):
            return _conditions(inner)
        case Texts(texts) | AttributeMap(texts):
            return sum(1 if name in PLAIN else _EXTENSION for name in texts)
    return _EXTENSION


def _is_sound(filter_: Filter) -> bool:
    """Tell whether Spark can take the texts of a filter, which lone surrogates keep it from."""
    match filter_:
        case Texts(texts) | AttributeMap(texts):
            text = "".join(texts.values())
        case Sql(text):
            pass
        case _:
            return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
