from __future__ import annotations

import pytest

from penstock.cesql.values import (
    EvaluationError,
    Kind,
    Value,
    cast,
    castable,
    primitive,
    printed,
)


@pytest.mark.parametrize(
    ("value", "kind", "result"),
    [
        (-7, str, "-7"),
        (True, str, "true"),
        (False, str, "false"),
        (0, bool, False),
        (-50, bool, True),
        ("TRUE", bool, True),
        ("fAlSe", bool, False),
        (True, int, 1),
        (False, int, 0),
        ("-1", int, -1),
        ("+05", int, 5),
        ("-0", int, 0),
        ("2147483647", int, 2147483647),
        ("-2147483648", int, -2147483648),
        ("0" * 5000 + "1", int, 1),
        ("x", str, "x"),
    ],
)
def test_value_is_cast(value: Value, kind: Kind, result: Value) -> None:
    found = cast(value, kind)

    assert found == result
    assert type(found) is type(result)


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ("ABC", int),
        ("", int),
        ("+", int),
        (" 1", int),
        ("1 ", int),
        ("1_0", int),
        ("٣", int),
        ("1.0", int),
        ("2147483648", int),
        ("9" * 5000, int),
        ("--1", int),
        ("1\n", int),
        ("1", bool),
        ("", bool),
        ("yes", bool),
    ],
)
def test_cast_that_has_no_value_is_an_error(value: Value, kind: Kind) -> None:
    with pytest.raises(EvaluationError) as caught:
        cast(value, kind)

    assert caught.value.kind == "cast"
    assert castable(value, kind) is None


@pytest.mark.parametrize(
    ("value", "result"),
    [
        ("x", "x"),
        (5, 5),
        (True, True),
        (b"ab", "YWI="),
        (2**31, "2147483648"),
        (1.5, "1.5"),
        ({"a": [1, None]}, '{"a":[1,null]}'),
        (["é"], '["é"]'),
    ],
)
def test_attribute_of_another_type_is_a_string(value: object, result: Value) -> None:
    assert primitive(value, "ext") == result


def test_absent_attribute_is_named() -> None:
    with pytest.raises(EvaluationError, match="'ext'") as caught:
        primitive(None, "ext")

    assert caught.value.kind == "missingAttribute"


def test_attribute_without_any_text_is_a_generic_error() -> None:
    with pytest.raises(EvaluationError) as caught:
        primitive(object(), "ext")

    assert caught.value.kind == "generic"


@pytest.mark.parametrize(
    ("value", "text"),
    [(True, "TRUE"), (-5, "-5"), ("it's", r"'it\'s'"), ("x" * 100, f"'{'x' * 60}…'")],
)
def test_value_is_printed_as_it_is_written(value: Value, text: str) -> None:
    assert printed(value) == text
