from __future__ import annotations

import pytest

from penstock.cesql.operations import binary, equal, member
from penstock.cesql.values import EvaluationError, Value


@pytest.mark.parametrize(
    ("left", "operator", "right", "result"),
    [
        (5, "/", 3, 1),
        (-5, "/", 3, -1),
        (5, "/", -3, -1),
        (-5, "/", -3, 1),
        (-5, "%", 2, -1),
        (5, "%", -2, 1),
        (-6, "%", 2, 0),
        ("5", "+", True, 6),
        (2147483647, "+", -1, 2147483646),
        ("5", "<", "10", True),
        (2, ">=", 2, True),
        (True, "XOR", "false", True),
        (True, "AND", "x", None),
        (False, "AND", "x", False),
        (True, "OR", "x", True),
        ("TRUE", "=", True, True),
        (True, "=", "TRUE", False),
        (True, "=", "true", True),
        ("05", "!=", 5, False),
    ],
)
def test_operator_casts_its_sides(
    left: Value, operator: str, right: Value, result: Value | None
) -> None:
    if result is None:
        with pytest.raises(EvaluationError):
            binary(operator, left, right)
    else:
        assert binary(operator, left, right) == result


@pytest.mark.parametrize(
    ("left", "operator", "right"),
    [
        (5, "/", 0),
        (5, "%", 0),
        (2147483647, "+", 1),
        (-2147483648, "-", 1),
        (65536, "*", 65536),
        (-2147483648, "/", -1),
    ],
)
def test_what_has_no_32_bit_result_is_a_math_error(left: int, operator: str, right: int) -> None:
    with pytest.raises(EvaluationError) as caught:
        binary(operator, left, right)

    assert caught.value.kind == "math"


def test_equality_takes_the_type_of_the_right_side() -> None:
    assert equal("05", 5)
    assert not equal(5, "05")


def test_membership_takes_the_type_of_the_left_side() -> None:
    assert member("1", [2, 1])
    assert member(5, ["05"])
    assert not member("5", ["05"])
    assert not member("TRUE", [True])


def test_a_match_before_an_item_that_cannot_be_cast_counts() -> None:
    assert member(1, [1, "x"])
    with pytest.raises(EvaluationError):
        member(1, ["x", 1])
