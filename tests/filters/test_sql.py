from __future__ import annotations

import pickle

import pytest

from penstock.cesql import Lookup
from penstock.errors import ExpressionError
from penstock.filters.sql import Sql
from tests.filters.support import an_event, refusal

EVENT = an_event(type="a", n=5, flag=True)


@pytest.mark.parametrize("text", ["TRUE", "type = 'a'", "n = '5' AND EXISTS id", "flag"])
def test_true_expression_matches(text: str) -> None:
    assert Sql(text).matches(EVENT)


@pytest.mark.parametrize(
    "text",
    [
        "FALSE",
        "1",
        "'true'",
        "n",
        "missing = 1",
        "missing = 1 OR TRUE",
        "missing",
        "n = 'x' OR 1 / 0 = 0",
    ],
)
def test_anything_else_does_not_match(text: str) -> None:
    assert not Sql(text).matches(EVENT)


@pytest.mark.parametrize("value", [5, {}, [], None, True])
def test_value_must_be_a_string(value: object) -> None:
    assert list(refusal({"sql": value})) == ["f.sql"]


def test_fault_is_underlined_in_the_problem() -> None:
    (message,) = refusal({"sql": "type = 'a' AND\nsource LIKE 5 AND TRUE"}).values()

    assert message.splitlines() == [
        "expected a string after LIKE, found 5 (character 28)",
        "  source LIKE 5 AND TRUE",
        "              ^",
    ]


def test_fault_in_a_long_line_is_shown_with_a_little_around_it() -> None:
    (message,) = refusal({"sql": f"{'x' * 500} ! {'y' * 500}"}).values()

    assert len(message) < 200
    line, mark = message.splitlines()[1:]
    assert line[mark.index("^")] == "!"


@pytest.mark.parametrize(("text", "character"), [("NOSUCH(1)", 1), ("TRUE OR LENGTH()", 9)])
def test_call_that_fits_no_function_is_refused(text: str, character: int) -> None:
    (message,) = refusal({"sql": text}).values()

    assert f"(character {character})" in message
    assert "there is no function" in message


def test_wrong_text_is_refused_when_the_filter_is_made() -> None:
    with pytest.raises(ExpressionError):
        Sql("type = ")


def test_names_and_cover_are_those_of_the_expression() -> None:
    filter_ = Sql("type LIKE 'com.%' AND EXISTS n")

    assert filter_.names() == {"type", "n"}
    assert filter_.cover() == frozenset({Lookup("prefix", "type", "com.")})


def test_filter_survives_pickling() -> None:
    copy = pickle.loads(pickle.dumps(Sql("type = 'a'")))  # noqa: S301

    assert copy == Sql("type = 'a'")
    assert hash(copy) == hash(Sql("type = 'a'"))
    assert copy.matches(EVENT)
