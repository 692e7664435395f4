"""The operators of CESQL on values that already have the right types."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence

from penstock.cesql.values import (
    CASTS,
    GREATEST,
    SMALLEST,
    ErrorKind,
    EvaluationError,
    Kind,
    Value,
    castable,
    to_boolean,
    to_integer,
)

LOGIC = frozenset({"AND", "OR", "XOR"})
EQUALITY = frozenset({"=", "!="})


def add(left: int, right: int) -> int:
    return _fitting(left + right)


def subtract(left: int, right: int) -> int:
    return _fitting(left - right)


def multiply(left: int, right: int) -> int:
    return _fitting(left * right)


def divide(left: int, right: int) -> int:
    """Divide, rounding toward zero."""
    _refuse_zero(right)
    quotient = abs(left) // abs(right)
    return _fitting(quotient if (left < 0) == (right < 0) else -quotient)


def remainder(left: int, right: int) -> int:
    """Return what a division leaves, with the sign of the left side."""
    _refuse_zero(right)
    rest = abs(left) % abs(right)
    return -rest if left < 0 else rest


def negate(number: int) -> int:
    return _fitting(-number)


ARITHMETIC: Mapping[str, Callable[[int, int], int]] = {
    "+": add,
    "-": subtract,
    "*": multiply,
    "/": divide,
    "%": remainder,
}
ORDERINGS: Mapping[str, Callable[[int, int], bool]] = {
    "<": int.__lt__,
    "<=": int.__le__,
    ">": int.__gt__,
    ">=": int.__ge__,
}


def binary(operator: str, left: Value, right: Value) -> Value:
    """Return what an operator makes of two values, cast to its types (CESQL 3.7)."""
    if operator in EQUALITY:
        return equal(left, right) is (operator == "=")
    if operator == "XOR":
        return to_boolean(left) is not to_boolean(right)
    if operator in LOGIC:
        decided = operator == "OR"
        return to_boolean(right) if to_boolean(left) is not decided else decided
    operate = ARITHMETIC.get(operator) or ORDERINGS[operator]
    return operate(to_integer(left), to_integer(right))


def equal(left: Value, right: Value) -> bool:
    """Compare, casting the left side to the type of the right (CESQL 3.7)."""
    kind = right.__class__
    return (left if left.__class__ is kind else CASTS[kind](left)) == right


def member(value: Value, items: Iterable[Value]) -> bool:
    """Tell whether a value equals one of the items, cast in order to its type (CESQL 3.4.5)."""
    return any(equal(item, value) for item in items)


class _InOrder:
    """Items of which some cannot be cast: whether one equals depends on their order."""

    def __init__(self, items: Sequence[Value]) -> None:
        self._items = items

    def __contains__(self, value: object) -> bool:
        return isinstance(value, bool | int | str) and member(value, self._items)


def sets(items: Sequence[Value]) -> Mapping[Kind, Container[Value]]:
    """Return, for each type that a value can have, the items cast to it."""
    return {kind: _cast(items, kind) for kind in CASTS}


def _cast(items: Sequence[Value], kind: Kind) -> Container[Value]:
    found = [castable(item, kind) for item in items]
    known = [value for value in found if value is not None]
    return frozenset(known) if len(known) == len(items) else _InOrder(items)


def _fitting(number: int) -> int:
    if SMALLEST <= number <= GREATEST:
        return number
    raise EvaluationError(ErrorKind.MATH, f"{number} does not fit 32 bits")


def _refuse_zero(divisor: int) -> None:
    if divisor == 0:
        raise EvaluationError(ErrorKind.MATH, "division by zero")
