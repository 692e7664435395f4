from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from penstock import filters
from penstock.events import CloudEvent
from penstock.filters.trace import trace
from tests.cesql.strategies import examples
from tests.filters.support import Shape, an_event, document, meetings

EVENT = an_event(type="a", n=5, flag=True)


def lines(expression: dict[str, Any], event: CloudEvent = EVENT) -> list[str]:
    return list(trace(filters.parse(expression), event).lines())


def test_single_condition_shows_what_was_found() -> None:
    assert lines({"exact": {"n": "6"}}) == ["no  n is '6'  (n is 5)"]
    assert lines({"prefix": {"subject": "x"}}) == [
        "no  subject starts with 'x'  (subject is absent)"
    ]


def test_conditions_after_the_decision_are_not_asked() -> None:
    assert lines({"exact": {"type": "b", "n": "5"}}) == [
        "no  all of",
        "    no  type is 'b'  (type is 'a')",
        "    -   n is '5'",
    ]


def test_nested_filters_are_shown_below_their_whole() -> None:
    expression = {
        "any": [
            {"not": {"exact": {"type": "a"}}},
            {"suffix": {"id": "1"}},
            {"all": [{"sql": "TRUE"}]},
        ]
    }

    assert lines(expression) == [
        "yes any of",
        "    no  not",
        "        yes type is 'a'  (type is 'a')",
        "    yes id ends with '1'  (id is '1')",
        '    -   {"all":[{"sql":"TRUE"}]}',
    ]


def test_expression_is_traced_clause_by_clause() -> None:
    assert lines({"sql": "type = 'a' AND (n > 6 OR EXISTS subject) AND flag"}) == [
        "no  all of",
        "    yes type is 'a'  (type is 'a')",
        "    no  any of",
        "        no  n is greater than 6  (n is 5)",
        "        no  subject is present  (subject is absent)",
        "    -   flag",
    ]


def test_mixed_operators_go_from_left_to_right() -> None:
    assert lines({"sql": "n = 6 AND n OR flag XOR NOT (flag AND n = 5)"}) == [
        "yes from left to right",
        "    no  n is 6  (n is 5)",
        "    -   AND n",
        "    yes OR flag  (flag is TRUE)",
        "    no  XOR not",
        "        yes all of",
        "            yes flag  (flag is TRUE)",
        "            yes n is 5  (n is 5)",
    ]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("missing = 1", ["err missing is 1  (the event has no attribute 'missing')"]),
        (
            "type AND flag",
            ["err all of", "    err type  ('a' is not a Boolean)", "    -   flag"],
        ),
        ("n", ["no  n  (gives 5, which is not a Boolean)"]),
        ("type", ["no  type  (gives 'a', which is not a Boolean)"]),
        (
            "NOT (1 / 0 = 1 OR flag)",
            [
                "err not",
                "    err any of",
                "        err 1 divided by 0 is 1  (division by zero)",
                "        -   flag",
            ],
        ),
    ],
)
def test_error_is_named(text: str, shown: list[str]) -> None:
    assert lines({"sql": text}) == shown


def test_attribute_that_is_a_map_is_shown_as_json() -> None:
    event = an_event(specversion="0.2", ext={"a": 1})

    assert lines({"exact": {"ext": "x"}}, event) == ["no  ext is 'x'  (ext is '{\"a\":1}')"]


def test_deep_and_long_expressions_are_traced() -> None:
    deep = "flag AND (" * 199 + "flag" + ")" * 199
    long = " AND ".join(["flag"] * 500)

    assert trace(filters.parse({"sql": deep}), EVENT).matched
    assert len(trace(filters.parse({"sql": long}), EVENT).parts) == 500


@settings(max_examples=examples(150), suppress_health_check=[HealthCheck.too_slow])
@given(meetings)
def test_trace_comes_to_the_answer_of_the_filter(meeting: tuple[Shape, CloudEvent]) -> None:
    shape, event = meeting
    filter_ = filters.parse(document(shape))

    assert trace(filter_, event).matched is filter_.matches(event)
