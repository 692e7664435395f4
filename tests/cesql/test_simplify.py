from __future__ import annotations

import pytest

from penstock import cesql
from penstock.cesql import BUILT_IN, Function
from penstock.cesql.tree import Literal, children


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("2 * 60 * 60", 7200),
        ("NOT 'false'", True),
        ("--'5'", 5),
        ("EXISTS id AND EXISTS specversion", True),
        ("EXISTS data", False),
        ("FALSE AND x", False),
        ("'TRUE' OR 1 / 0 = 1", True),
        ("'abc' LIKE '_b%'", True),
        ("5 IN ('05', 'x')", True),
        ("CONCAT('a', LENGTH('bc'))", "a2"),
        ("TRUE XOR 0", True),
    ],
)
def test_part_without_attributes_is_worked_out(text: str, value: object) -> None:
    assert cesql.parse(text).simplified == Literal(value)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "text",
    [
        "1 / 0",
        "'x' + 1",
        "NOT 'x'",
        "LEFT('a', -1)",
        "1 IN ('x')",
        "NOSUCH(1)",
        "x AND FALSE",
        "TRUE AND x",
    ],
)
def test_what_is_an_error_or_depends_on_the_event_stays(text: str) -> None:
    expression = cesql.parse(text)

    assert expression.simplified == expression.tree


def test_parts_keep_their_places() -> None:
    text = "type = CONCAT('a', 'b')"

    (_, right) = children(cesql.parse(text).simplified)

    assert right == Literal("ab")
    assert text[right.start : right.end] == "CONCAT('a', 'b')"


def test_function_of_a_user_is_not_called_without_an_event() -> None:
    calls: list[int] = []

    def note() -> bool:
        calls.append(1)
        return True

    functions = BUILT_IN.register(Function("NOTE", (), bool, note))

    expression = cesql.parse("NOTE()", functions)

    assert expression.simplified == expression.tree
    assert not calls
