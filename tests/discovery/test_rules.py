from __future__ import annotations

from collections.abc import Iterator, Mapping

import pytest

from penstock.discovery.rules import Record, Rule, array, present, table, text
from penstock.errors import Problem

SHORT = text(lambda found: "is too long" if len(found) > 3 else None, maxLength=3)


def paths(rule: Rule | Record, value: object) -> list[str]:
    return [problem.path for problem in rule.faults(value, "x")]


def test_text_must_be_one() -> None:
    assert paths(SHORT, "abc") == []
    assert paths(SHORT, "abcd") == ["x"]
    assert paths(SHORT, 5) == ["x"]


def test_entries_of_an_array_are_numbered() -> None:
    rule = array(SHORT)

    assert paths(rule, []) == []
    assert paths(rule, ["a", "long", 5]) == ["x[1]", "x[2]"]
    assert paths(rule, {}) == ["x"]


def test_array_may_have_to_have_entries() -> None:
    assert paths(array(SHORT, 1), []) == ["x"]


def test_values_of_a_table_are_named() -> None:
    rule = table(SHORT)

    assert paths(rule, {"a": "long", "b": "ok"}) == ["x.a"]
    assert paths(rule, {"": "ok"}) == ["x"]
    assert paths(rule, "a") == ["x"]


def together(found: Mapping[str, object], dot: str) -> Iterator[Problem]:
    if {"a", "b"} <= found.keys():
        yield Problem(f"{dot}b", "excludes a")


RECORD = Record({"a": SHORT, "b": SHORT}, ("a",), {"c": "does not belong here"}, together)


@pytest.mark.parametrize(
    ("value", "wrong"),
    [
        ({"a": "ok"}, []),
        ({"a": "ok", "other": object()}, []),
        ({}, ["x.a"]),
        ({"a": None}, ["x.a"]),
        ({"a": "ok", "c": None}, []),
        ({"a": "ok", "c": 1}, ["x.c"]),
        ({"a": "long", "b": "long"}, ["x.a", "x.b", "x.b"]),
        ([], ["x"]),
    ],
    ids=str,
)
def test_record_names_every_fault(value: object, wrong: list[str]) -> None:
    assert paths(RECORD, value) == wrong


def test_schema_says_the_same() -> None:
    assert RECORD.schema == {
        "type": "object",
        "properties": {
            "a": {"type": "string", "maxLength": 3},
            "b": {"type": "string", "maxLength": 3},
            "c": False,
        },
        "required": ["a"],
    }
    assert array(SHORT, 1).schema == {"type": "array", "items": SHORT.schema, "minItems": 1}


def test_null_counts_as_absent() -> None:
    assert present({"a": None, "b": 0}) == {"b": 0}
