from __future__ import annotations

from typing import Any

import pytest

from penstock.discovery.types import TYPE, config_faults, proper

ALLOWED = {
    "interval": "Integer",
    "deep": "Boolean",
    "name": "String",
    "place": "URI",
    "since": "Timestamp",
    "more": "Map",
    "rest": "Any",
    "key": "Binary",
}


@pytest.mark.parametrize(
    ("given", "name"), [("INTEGER", "Integer"), ("uri-reference", "URI-reference"), ("Map", "Map")]
)
def test_case_of_a_type_does_not_matter(given: str, name: str) -> None:
    assert list(TYPE.faults(given, "x")) == []
    assert proper(given) == name


@pytest.mark.parametrize("given", ["Float", "", "media type", "Integer ", 5])
def test_other_names_are_no_types(given: object) -> None:
    (problem,) = TYPE.faults(given, "x")

    assert problem.path == "x"


@pytest.mark.parametrize(
    "config",
    [
        {},
        {"interval": 5, "deep": True, "name": "x"},
        {"interval": "5", "deep": "true"},
        {"place": "http://x/", "since": "2018-04-05T17:31:00Z", "key": "YQ=="},
        {"more": {"a": [1]}, "rest": [None, 1.5]},
    ],
    ids=str,
)
def test_values_may_be_native_or_text(config: dict[str, Any]) -> None:
    assert list(config_faults(config, ALLOWED)) == []


def test_every_wrong_key_and_value_is_named() -> None:
    config = {"intervall": 5, "interval": "soon", "deep": 1, "more": "x", "place": "x", "name": 5}

    paths = [problem.path for problem in config_faults(config, ALLOWED)]

    assert paths == [f"config.{name}" for name in config]
