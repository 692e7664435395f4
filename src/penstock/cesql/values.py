"""The three types of CESQL: casts, and what errors are."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import NoReturn, TypeAlias

import msgspec

from penstock.events.values import canonical

Value: TypeAlias = bool | int | str
Kind: TypeAlias = type[bool] | type[int] | type[str]

SMALLEST = -(2**31)
GREATEST = 2**31 - 1
_DIGITS = len(str(GREATEST))
_INTEGER = re.compile("[+-]?[0-9]+")
ZEROS: Mapping[Kind, Value] = {bool: False, int: 0, str: ""}


class ErrorKind(StrEnum):
    """What went wrong in an evaluation (CESQL 3.3)."""

    PARSE = "parse"
    MATH = "math"
    CAST = "cast"
    MISSING_ATTRIBUTE = "missingAttribute"
    MISSING_FUNCTION = "missingFunction"
    FUNCTION_EVALUATION = "functionEvaluation"
    GENERIC = "generic"


class EvaluationError(Exception):
    """How a function reports an error, with the value that it gives in spite of it.

    It never leaves an evaluation: the result carries it.
    """

    def __init__(self, kind: ErrorKind, detail: str, value: Value | None = None) -> None:
        self.kind = kind
        self.detail = detail
        self.value = value
        super().__init__(detail)


def cast_failure(value: Value, target: str) -> NoReturn:
    """Refuse a cast."""
    raise EvaluationError(ErrorKind.CAST, f"{printed(value)} is not {target}")


def missing(name: str) -> NoReturn:
    """Refuse to go on without an attribute."""
    raise EvaluationError(ErrorKind.MISSING_ATTRIBUTE, f"the event has no attribute {name!r}")


def printed(value: Value) -> str:
    """Return a value as CESQL writes it, shortened if it is long."""
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, int):
        return str(value)
    text = value if len(value) <= _SHOWN else f"{value[:_SHOWN]}…"
    escaped = text.replace("'", "\\'")
    return f"'{escaped}'"


_SHOWN = 60


def primitive(value: object, name: str) -> Value:
    """Return an attribute's value as Boolean, Integer or String (CESQL 3.2)."""
    if isinstance(value, str | bool):
        return value
    if isinstance(value, int):
        return value if SMALLEST <= value <= GREATEST else str(value)
    if isinstance(value, bytes):
        return canonical(value)
    if value is None:
        missing(name)
    return _json(value, name)


def _json(value: object, name: str) -> str:
    try:
        return msgspec.json.encode(value).decode()
    except (TypeError, ValueError, RecursionError) as exc:
        detail = f"attribute {name!r} has no text: {exc}"
        raise EvaluationError(ErrorKind.GENERIC, detail) from exc


def to_text(value: Value) -> str:
    """Cast to String."""
    return canonical(value)


def to_integer(value: Value) -> int:
    """Cast to Integer."""
    if not isinstance(value, str):
        return int(value)
    if len(value) < _DIGITS and value.isascii() and value.isdigit():
        return int(value)
    if _INTEGER.fullmatch(value):
        number = integer(value)
        if number is not None:
            return number
    return cast_failure(value, "an Integer")


def integer(text: str) -> int | None:
    """Return the number that an optional sign and digits write, if it fits 32 bits."""
    digits = text.lstrip("+-").lstrip("0")
    # Python refuses to read very many digits, and takes longer than linear time for many.
    if len(digits) > _DIGITS:
        return None
    number = int(f"-{digits}") if text[0] == "-" and digits else int(digits or "0")
    return number if SMALLEST <= number <= GREATEST else None


def to_boolean(value: Value) -> bool:
    """Cast to Boolean."""
    if not isinstance(value, str):
        return bool(value)
    # The Kelvin sign and its like lower to ASCII letters, but not to these.
    match value.lower():
        case "true":
            return True
        case "false":
            return False
    return cast_failure(value, "a Boolean")


CASTS: Mapping[Kind, Callable[[Value], Value]] = {
    bool: to_boolean,
    int: to_integer,
    str: to_text,
}


def cast(value: Value, kind: Kind | None) -> Value:
    """Return a value as the given type; None is any."""
    return value if kind is None or value.__class__ is kind else CASTS[kind](value)


def castable(value: Value, kind: Kind | None) -> Value | None:
    """Return a value as the given type, or None if it cannot be cast."""
    try:
        return cast(value, kind)
    except EvaluationError:
        return None
