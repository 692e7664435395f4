"""The functions of CESQL: the built-in ones, and tables to which users add their own."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import entry_points

from penstock.cesql.values import (
    GREATEST,
    SMALLEST,
    ZEROS,
    ErrorKind,
    EvaluationError,
    Kind,
    Value,
    to_boolean,
    to_integer,
    to_text,
)
from penstock.errors import ConflictError, Problem, ResourceError

# `object` takes a value of any type as it is.
_KINDS: Mapping[type[object], Kind | None] = {bool: bool, int: int, str: str, object: None}

LONGEST_TEXT = 1_048_576


@dataclass(frozen=True, slots=True)
class Function:
    """A function: its name, the types of its parameters, its result, and its Python body.

    With `rest`, any number of further arguments of that type may follow.
    The body gets arguments of the declared types and returns a value of the declared type;
    it reports an error by raising EvaluationError, with a value if it has one.
    """

    name: str
    parameters: tuple[type[object], ...]
    returns: Kind
    body: Callable[..., Value]
    rest: type[object] | None = None

    def __post_init__(self) -> None:
        if not re.fullmatch("[A-Za-z][A-Za-z_]*", self.name):
            raise ResourceError([Problem("name", f"{self.name!r} is not letters and _ only")])
        if not {*self.parameters, self.rest or object} <= set(_KINDS) or self.returns not in ZEROS:
            raise ResourceError([Problem("parameters", "types are bool, int, str and object")])
        object.__setattr__(self, "name", self.name.upper())

    def wanted(self, count: int) -> tuple[Kind | None, ...]:
        """Return the types of so many arguments, None for any."""
        rest = [self.rest or object] * (count - len(self.parameters))
        return tuple(_KINDS[kind] for kind in (*self.parameters, *rest))

    def __str__(self) -> str:
        dots = ["..."] if self.rest else []
        return f"{self.name}({', '.join([kind.__name__ for kind in self.parameters] + dots)})"


@dataclass(frozen=True, slots=True)
class Functions:
    """The functions that an expression may call; `register` returns a larger table."""

    fixed: Mapping[tuple[str, int], Function] = field(default_factory=dict)
    variadic: Mapping[str, Function] = field(default_factory=dict)

    def __hash__(self) -> int:
        return hash((frozenset(self.fixed), frozenset(self.variadic)))

    def register(self, *functions: Function) -> Functions:
        """Return this table and more functions, or raise ConflictError (CESQL 3.5)."""
        fixed, variadic = dict(self.fixed), dict(self.variadic)
        for function in functions:
            table = Functions(fixed, variadic)
            if function.rest is None:
                table.refuse_fixed(function)
                fixed[function.name, len(function.parameters)] = function
            else:
                table.refuse_variadic(function)
                variadic[function.name] = function
        return Functions(fixed, variadic)

    def find(self, name: str, count: int) -> Function | None:
        """Return the function that a call with so many arguments means."""
        found = self.fixed.get((name, count)) or self.variadic.get(name)
        return found if found and count >= len(found.parameters) else None

    def like(self, name: str) -> list[Function]:
        """Return every overload of a name."""
        return [one for one in (*self.fixed.values(), *self.variadic.values()) if one.name == name]

    def refuse_fixed(self, function: Function) -> None:
        """Raise ConflictError if a call of this function could mean another one."""
        if self.find(function.name, len(function.parameters)):
            raise _ambiguous(function)

    def refuse_variadic(self, function: Function) -> None:
        """Raise ConflictError if a call of this variadic function could mean another one."""
        counts = [len(other.parameters) for other in self.like(function.name)]
        if function.name in self.variadic or len(function.parameters) <= max(counts, default=-1):
            raise _ambiguous(function)


def _ambiguous(function: Function) -> ConflictError:
    message = f"{function} cannot be told from a function that is already there"
    return ConflictError(message, address=str(function))


def call(function: Function, *arguments: Value) -> Value:
    """Invoke a function; whatever goes wrong in it is an EvaluationError (CESQL 3.5.3)."""
    try:
        result = function.body(*arguments)
    except EvaluationError as error:
        if error.value is None or _is_valid(error.value, function.returns):
            raise
        detail = f"{function} gave an error without a valid value: {error.detail}"
        raise EvaluationError(ErrorKind.FUNCTION_EVALUATION, detail) from error
    except Exception as exc:
        detail = f"{function} failed: {exc}"
        raise EvaluationError(ErrorKind.FUNCTION_EVALUATION, detail) from exc
    if _is_valid(result, function.returns):
        return result
    detail = f"{function} returned no valid {function.returns.__name__}"
    raise EvaluationError(ErrorKind.FUNCTION_EVALUATION, detail)


def _is_valid(value: Value, kind: Kind) -> bool:
    if value.__class__ is not kind:
        return False
    return kind is not int or SMALLEST <= value <= GREATEST  # type: ignore[operator]


# The white space of Unicode; Python's own strip() takes four control characters as well.
_SPACE = (
    "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
)


def _concat(*texts: str) -> str:
    return _concat_ws("", *texts)


def _concat_ws(delimiter: str, *texts: str) -> str:
    # A short expression could otherwise build a text that fills the memory.
    if sum(map(len, texts)) + len(delimiter) * len(texts) > LONGEST_TEXT:
        detail = f"the text would be longer than {LONGEST_TEXT} characters"
        raise EvaluationError(ErrorKind.FUNCTION_EVALUATION, detail)
    return delimiter.join(texts)


def _left(text: str, count: int) -> str:
    _refuse_negative(count, text)
    return text[:count]


def _right(text: str, count: int) -> str:
    _refuse_negative(count, text)
    return text[-count:] if count else ""


def _refuse_negative(count: int, value: str) -> None:
    if count < 0:
        detail = f"{count} characters cannot be taken"
        raise EvaluationError(ErrorKind.FUNCTION_EVALUATION, detail, value)


def _substring(text: str, position: int, count: int = GREATEST) -> str:
    if abs(position) > len(text):
        detail = f"position {position} is outside of a text of {len(text)} characters"
        raise EvaluationError(ErrorKind.FUNCTION_EVALUATION, detail, "")
    _refuse_negative(count, "")
    if position == 0:
        return ""
    start = position - 1 if position > 0 else len(text) + position
    return text[start : start + count]


def _abs(number: int) -> int:
    if number == SMALLEST:
        detail = f"the absolute value of {number} does not fit 32 bits"
        raise EvaluationError(ErrorKind.MATH, detail, GREATEST)
    return abs(number)


def _trim(text: str) -> str:
    return text.strip(_SPACE)


BUILT_IN = Functions().register(
    Function("LENGTH", (str,), int, len),
    Function("CONCAT", (), str, _concat, rest=str),
    Function("CONCAT_WS", (str,), str, _concat_ws, rest=str),
    Function("LOWER", (str,), str, str.lower),
    Function("UPPER", (str,), str, str.upper),
    Function("TRIM", (str,), str, _trim),
    Function("LEFT", (str, int), str, _left),
    Function("RIGHT", (str, int), str, _right),
    Function("SUBSTRING", (str, int), str, _substring),
    Function("SUBSTRING", (str, int, int), str, _substring),
    Function("ABS", (int,), int, _abs),
    Function("INT", (object,), int, to_integer),
    Function("BOOL", (object,), bool, to_boolean),
    Function("STRING", (object,), str, to_text),
)


@cache
def installed() -> Functions:
    """Return the built-in functions and those of the entry point group `penstock.cesql`."""
    return BUILT_IN.register(*(entry.load() for entry in entry_points(group="penstock.cesql")))
