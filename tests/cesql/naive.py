"""CESQL once more, as plainly as it can be said: what the compiled expressions are held against.

An expression is a nested tuple; nothing here uses the parser, the compiler or the casts of the
package.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable
from typing import Any

Tree = tuple[Any, ...]
Value = bool | int | str
SPACE = re.compile(r"[\t-\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]")
CORE = {"id", "source", "type", "specversion"}


class Fault(Exception):  # noqa: N818
    """An error of a kind, with the value given in spite of it."""

    def __init__(self, kind: str, value: Value | None = None) -> None:
        self.kind = kind
        self.value = value


def evaluate(tree: Tree, read: Callable[[str], object]) -> tuple[Value, str | None]:
    """Return the value and the kind of the error."""
    try:
        return value_of(tree, read), None
    except Fault as fault:
        # The part that failed gives its own value; everything around it gives a zero.
        own = fault.value if fault.value is not None and tree[0] == "call" else None
        failed_inside = any(fails(part, read) for part in parts(tree))
        return (zero(tree) if own is None or failed_inside else own), fault.kind


def parts(tree: Tree) -> list[Tree]:
    match tree:
        case ("call", _, arguments):
            return list(arguments)
        case _:
            return []


def fails(tree: Tree, read: Callable[[str], object]) -> bool:
    try:
        value_of(tree, read)
    except Fault:
        return True
    return False


def zero(tree: Tree) -> Value:
    match tree:
        case ("lit", int() | str() as value):
            return type(value)()
        case ("neg", _) | ("bin", "+" | "-" | "*" | "/" | "%", _, _):
            return 0
        case ("call", str() as name, arguments):
            return (returned(name, len(arguments)) or bool)()
    return False


def returned(name: str, count: int) -> type[Value] | None:
    fixed = {"CONCAT": 0, "CONCAT_WS": 1}
    if name in fixed:
        return str if count >= fixed[name] else None
    return RETURNS.get((name, count))


RETURNS: dict[tuple[str, int], type[Value]] = {
    ("LENGTH", 1): int,
    ("LOWER", 1): str,
    ("UPPER", 1): str,
    ("TRIM", 1): str,
    ("LEFT", 2): str,
    ("RIGHT", 2): str,
    ("SUBSTRING", 2): str,
    ("SUBSTRING", 3): str,
    ("ABS", 1): int,
    ("INT", 1): int,
    ("BOOL", 1): bool,
    ("STRING", 1): str,
}


def value_of(tree: Tree, read: Callable[[str], object]) -> Value:  # noqa: C901, PLR0911
    def of(part: Tree) -> Value:
        return value_of(part, read)

    match tree:
        case ("lit", bool() | int() | str() as value):
            return value
        case ("attr", name):
            return attribute(name, read)
        case ("exists", str() as name):
            return name in CORE or (name != "data" and read(name) is not None)
        case ("not", part):
            return not boolean(of(part))
        case ("neg", part):
            return fitting(-integer(of(part)))
        case ("bin", "AND", left, right):
            return boolean(of(right)) if boolean(of(left)) else False
        case ("bin", "OR", left, right):
            return True if boolean(of(left)) else boolean(of(right))
        case ("bin", operator, left, right):
            return binary(operator, of(left), of(right))
        case ("like", part, pattern, negated):
            return like(text(of(part)), pattern) is not negated
        case ("in", part, items, negated):
            wanted = of(part)
            found = any(cast(of(item), type(wanted)) == wanted for item in items)
            return found is not negated
        case ("call", name, arguments):
            return call(name, arguments, of)
    raise AssertionError(tree)


def attribute(name: str, read: Callable[[str], object]) -> Value:
    match None if name == "data" else read(name):
        case None:
            raise Fault("missingAttribute")
        case bool() | str() as value:
            return value
        case int() as number:
            return number if fits(number) else str(number)
        case bytes() as binary_:
            return base64.b64encode(binary_).decode()
        case other:
            return json.dumps(other, separators=(",", ":"), ensure_ascii=False)


def binary(operator: str, left: Value, right: Value) -> Value:
    if operator in ("=", "!=", "<>"):
        return (cast(left, type(right)) == right) == (operator == "=")
    if operator == "XOR":
        return boolean(left) + boolean(right) == 1
    x, y = integer(left), integer(right)
    if operator in ("/", "%"):
        if y == 0:
            raise Fault("math")
        quotient = abs(x) // abs(y) * (1 if x * y >= 0 else -1)
        return fitting(quotient) if operator == "/" else x - quotient * y
    results = {"+": x + y, "-": x - y, "*": x * y}
    if operator in results:
        return fitting(results[operator])
    return {"<": x < y, "<=": x <= y, ">": x > y, ">=": x >= y}[operator]


def fits(number: int) -> bool:
    return -2147483648 <= number <= 2147483647


def fitting(number: int) -> int:
    if not fits(number):
        raise Fault("math")
    return number


def cast(value: Value, kind: type) -> Value:
    if kind is bool:
        return boolean(value)
    return integer(value) if kind is int else text(value)


def boolean(value: Value) -> bool:
    if isinstance(value, str):
        if value.lower() not in ("true", "false"):
            raise Fault("cast")
        return value.lower() == "true"
    return value != 0


def integer(value: Value) -> int:
    if not isinstance(value, str):
        return int(value)
    if not re.fullmatch(r"[-+]?[0-9]{1,4000}", value) or not fits(int(value)):
        raise Fault("cast")
    return int(value)


def text(value: Value) -> str:
    if isinstance(value, str):
        return value
    return str(value).lower()


def like(value: str, pattern: str) -> bool:
    """Match by filling a table, one row per character of the pattern."""
    reached = {0}
    position = 0
    while position < len(pattern):
        character = pattern[position]
        if character == "\\" and pattern[position + 1 : position + 2] in ("%", "_"):
            position += 1
            reached = {at + 1 for at in reached if value[at : at + 1] == pattern[position]}
        elif character == "%":
            reached = set(range(min(reached), len(value) + 1)) if reached else set()
        elif character == "_":
            reached = {at + 1 for at in reached if at < len(value)}
        else:
            reached = {at + 1 for at in reached if value[at : at + 1] == character}
        position += 1
    return len(value) in reached


def call(name: str, arguments: list[Tree], of: Callable[[Tree], Value]) -> Value:
    if returned(name, len(arguments)) is None:
        raise Fault("missingFunction")
    values = [of(argument) for argument in arguments]
    if name in ("INT", "BOOL", "STRING"):
        return cast(values[0], RETURNS[name, 1])
    if name == "ABS":
        return absolute(integer(values[0]))
    if name in ("LEFT", "RIGHT", "SUBSTRING"):
        first, numbers = text(values[0]), [integer(value) for value in values[1:]]
        return substring(first, *numbers) if name == "SUBSTRING" else ends(name, first, numbers[0])
    texts = [text(value) for value in values]
    return simple(name, texts)


def simple(name: str, texts: list[str]) -> Value:
    match name:
        case "LENGTH":
            return len(texts[0])
        case "CONCAT":
            return "".join(texts)
        case "CONCAT_WS":
            return texts[0].join(texts[1:])
        case "LOWER":
            return texts[0].lower()
        case "UPPER":
            return texts[0].upper()
    start, end = 0, len(texts[0])
    while start < end and SPACE.match(texts[0][start]):
        start += 1
    while end > start and SPACE.match(texts[0][end - 1]):
        end -= 1
    return texts[0][start:end]


def absolute(number: int) -> int:
    if number == -2147483648:
        raise Fault("math", 2147483647)
    return abs(number)


def ends(name: str, value: str, count: int) -> str:
    if count < 0:
        raise Fault("functionEvaluation", value)
    return value[:count] if name == "LEFT" else value[max(0, len(value) - count) :]


def substring(value: str, position: int, count: int = 2**31) -> str:
    if count < 0 or not -len(value) <= position <= len(value):
        raise Fault("functionEvaluation", "")
    if position == 0:
        return ""
    start = position - 1 if position > 0 else len(value) + position
    return value[start:][:count]
