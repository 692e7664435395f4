"""The values of CESQL as columns: types, casts and functions; null stands for an error."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812 - its usual name

from penstock.cesql import values
from penstock.cesql.functions import BUILT_IN, LONGEST_TEXT, Functions
from penstock.cesql.values import GREATEST, Kind
from penstock.pipeline.columns_attributes import PLAIN, Attribute, attribute


class Value:
    """For every type that a value may have, its column, which is null where it has another."""

    def __init__(self, kinds: Mapping[Kind, Column]) -> None:
        self._kinds = kinds

    @property
    def kinds(self) -> Mapping[Kind, Column]:
        return self._kinds

    def cast(self, kind: Kind) -> Column:
        """Return the value as the given type, null if it cannot be cast."""
        return F.coalesce(*(_CASTS[one, kind](column) for one, column in self.kinds.items()))


class Held(Value):
    """The value of an attribute, of which columns are made as they are needed."""

    def __init__(self, name: str) -> None:
        self._name = name

    @cached_property
    def _found(self) -> Attribute:
        return attribute(self._name)

    @property
    def kinds(self) -> Mapping[Kind, Column]:
        if self._name in PLAIN:
            return {str: self._found.string}
        found = self._found
        return {str: found.string, int: found.integer, bool: found.boolean}

    def cast(self, kind: Kind) -> Column:
        return self._found.written if kind is str else super().cast(kind)


def literal(value: values.Value) -> Value:
    """Return a value that is the same for every event."""
    return Value({value.__class__: F.lit(value)})


def missing() -> Value:
    """Return what no event has."""
    return Value({str: F.lit(None).cast("string")})


def equal(left: Value, right: Value) -> Column:
    """Return whether values are equal, the left one cast to the type of the right one."""
    return F.coalesce(*(left.cast(kind) == column for kind, column in right.kinds.items()))


def member(value: Value, items: Sequence[values.Value]) -> Column:
    """Return whether a value is one of the items, cast in order to its type."""
    return F.coalesce(*(_member(column, kind, items) for kind, column in value.kinds.items()))


def _member(column: Column, kind: Kind, items: Sequence[values.Value]) -> Column:
    cast = [values.castable(item, kind) for item in items]
    good = list(itertools.takewhile(lambda item: item is not None, cast))
    found = column.isin(good)
    # What comes after an item that cannot be cast is never looked at.
    return found if len(good) == len(items) else F.when(found, F.lit(True))  # noqa: FBT003


def _same(column: Column) -> Column:
    return column


def _string(column: Column) -> Column:
    return column.cast("string")


def _integer(text: Column) -> Column:
    # Spark's own cast would take white space, too.
    return F.regexp_extract(text, r"\A([-+]?[0-9]++)\z", 1).try_cast("int")


def _boolean(text: Column) -> Column:
    return F.regexp_extract(text, r"\A((?i:true|false))\z", 1).try_cast("boolean")


_CASTS: Mapping[tuple[Kind, Kind], Callable[[Column], Column]] = {
    **{(kind, kind): _same for kind in values.CASTS},
    (int, str): _string,
    (bool, str): _string,
    (str, int): _integer,
    (bool, int): lambda column: column.cast("int"),
    (str, bool): _boolean,
    (int, bool): lambda column: column != 0,
}


def fitting(number: Column) -> Column:
    """Return an Integer, null if it does not fit 32 bits."""
    return number.try_cast("int")


def _wide(number: Column) -> Column:
    return number.cast("bigint")


ARITHMETIC: Mapping[str, Callable[[Column, Column], Column]] = {
    "+": lambda left, right: fitting(_wide(left) + _wide(right)),
    "-": lambda left, right: fitting(_wide(left) - _wide(right)),
    "*": lambda left, right: fitting(_wide(left) * _wide(right)),
    # The quotient of numbers of 32 bits, as a double, is never rounded to the next whole one.
    "/": lambda left, right: fitting(F.try_divide(left, right)),
    "%": lambda left, right: fitting(F.try_mod(_wide(left), _wide(right))),
}


def negate(number: Column) -> Column:
    return fitting(-_wide(number))


def call(name: str, arguments: Sequence[Value], functions: Functions) -> Value | None:
    """Return what a function gives, or None if there is no rule for it."""
    function = functions.find(name, len(arguments))
    rule = _FUNCTIONS.get(name)
    if rule is None or function is None or function != BUILT_IN.find(name, len(arguments)):
        return None
    wanted = function.wanted(len(arguments))
    # Functions that take any value return it cast.
    kinds = (kind or function.returns for kind in wanted)
    return Value({function.returns: rule(*map(Value.cast, arguments, kinds))})


def _concat(*texts: Column) -> Column:
    return _bounded(F.concat(F.lit(""), *texts))


def _concat_ws(delimiter: Column, *texts: Column) -> Column:
    # Spark's own function leaves out nulls.
    parts = [part for text in texts for part in (delimiter, text)]
    whole = F.concat(F.lit(""), *parts[1:])
    return F.when(F.length(delimiter) + F.length(whole) <= LONGEST_TEXT, whole)


def _bounded(text: Column) -> Column:
    return F.when(F.length(text) <= LONGEST_TEXT, text)


def _left(text: Column, count: Column) -> Column:
    return F.when(count >= 0, F.left(text, count))


def _right(text: Column, count: Column) -> Column:
    return F.when(count >= 0, F.right(text, count))


def _substring(text: Column, position: Column, count: Column | None = None) -> Column:
    count = F.lit(GREATEST) if count is None else count
    inside = (F.abs(_wide(position)) <= F.length(text)) & (count >= 0)
    return F.when(inside, F.when(position == 0, "").otherwise(F.substring(text, position, count)))


# The white space of Unicode.
_SPACE = (
    "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
)

# LOWER and UPPER have no rule: Java may know other versions of Unicode than Python does.
_FUNCTIONS: Mapping[str, Callable[..., Column]] = {
    "LENGTH": F.length,
    "CONCAT": _concat,
    "CONCAT_WS": _concat_ws,
    "TRIM": lambda text: F.btrim(text, F.lit(_SPACE)),
    "LEFT": _left,
    "RIGHT": _right,
    "SUBSTRING": _substring,
    "ABS": lambda number: fitting(F.abs(_wide(number))),
    "INT": _same,
    "BOOL": _same,
    "STRING": _same,
}
