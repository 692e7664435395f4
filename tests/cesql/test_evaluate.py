from __future__ import annotations

import pickle

import msgspec
import pytest

from penstock import cesql
from penstock.cesql import BUILT_IN, ErrorKind, Function, Result
from penstock.errors import ExpressionError
from penstock.events import CloudEvent

EVENT = CloudEvent(id="1", source="/s", type="t", extensions={"n": 5})


def test_mapping_of_attributes_stands_for_an_event() -> None:
    assert cesql.evaluate("n + 1", {"n": 5}) == Result(6)


def test_mapping_knows_the_names_of_both_versions() -> None:
    assert cesql.evaluate("datacontenttype", {"contenttype": "a/b"}).value == "a/b"
    assert cesql.evaluate("schemaurl", {"dataschema": "/x"}).value == "/x"


def test_text_that_cannot_be_read_is_a_result() -> None:
    result = cesql.evaluate("n = ", EVENT)

    assert (result.value, result.error) == (False, ErrorKind.PARSE)
    assert "^" in result.detail


def test_parse_refuses_with_an_underlined_fault() -> None:
    with pytest.raises(ExpressionError) as caught:
        cesql.parse("n = ")

    assert caught.value.offset == 4


@pytest.mark.parametrize(
    ("text", "detail"),
    [
        ("missing = 1", "the event has no attribute 'missing'"),
        ("'x' + 1", "'x' is not an Integer"),
        ("NOT 'x'", "'x' is not a Boolean"),
        ("1 / 0", "division by zero"),
        ("2147483647 + 1", "2147483648 does not fit 32 bits"),
        ("F(1, 2)", "there is no function F that takes 2 arguments"),
        ("LEFT('a', -1)", "-1 characters cannot be taken"),
    ],
)
def test_error_says_what_went_wrong(text: str, detail: str) -> None:
    assert cesql.evaluate(text, EVENT).detail == detail


def test_error_kind_is_its_text() -> None:
    assert cesql.evaluate("1 / 0", EVENT).error == "math"


def test_calls_that_fit_no_function_are_listed_in_order() -> None:
    expression = cesql.parse("B(A(1)) AND LENGTH() = 1")

    assert expression.missing_functions() == (("B", 1, 0), ("A", 1, 2), ("LENGTH", 0, 12))


def test_names_are_those_that_matter() -> None:
    expression = cesql.parse("EXISTS a AND b = 1 AND EXISTS id AND data = 1 AND F(c) AND B")

    assert expression.names() == {"a", "b", "c"}


def test_expressions_with_the_same_text_are_equal() -> None:
    one, other = cesql.parse("n = 1"), cesql.parse("n = 1")
    functions = BUILT_IN.register(Function("F", (), bool, bool))

    assert one == other
    assert len({one, other}) == 1
    assert one != cesql.parse("n = 1", functions)


def test_expression_survives_pickling() -> None:
    expression = cesql.parse("n = 5")
    assert expression.passes(EVENT)

    copy = pickle.loads(pickle.dumps(expression))  # noqa: S301

    assert copy == expression
    assert copy.passes(EVENT)


def test_evaluation_leaves_the_event_as_it_is() -> None:
    event = CloudEvent(id="1", source="/s", type="t", extensions={"m": {"a": [1]}, "b": b"x"})
    before = msgspec.json.encode(event)

    cesql.evaluate("CONCAT(m, b, UPPER(id)) = 'x' OR NOT m", event)

    assert msgspec.json.encode(event) == before
