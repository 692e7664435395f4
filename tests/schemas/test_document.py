"""JSON documents are read strictly, with the place of each fault."""

from __future__ import annotations

from types import MappingProxyType
from typing import Any

import pytest

from penstock.errors import ResourceError
from penstock.schemas.document import pointer, read_data, read_document


def refused(document: object) -> list[str]:
    with pytest.raises(ResourceError) as caught:
        read_document(document)
    return [str(problem) for problem in caught.value.problems]


@pytest.mark.parametrize(
    ("document", "problem"),
    [
        (b'{"a": 1,}', "line 1, column 9: the schema is not JSON"),
        ('{"a": 1, "a": 2}', "the key 'a' appears twice in one object"),
        ('{"a": NaN}', "NaN is not a JSON number"),
        ('{"a": "\\ud800"}', "/a: the text has a lone surrogate"),
        ({"a": [1, float("inf")]}, "/a/1: the number is not finite"),
        ({"a": 10**2000}, "/a: the number is too large"),
        ({1: 2}, "the key 1 is not a string"),
        ({"a/b": object()}, "/a~1b: object is not a JSON value"),
        ("[" * 250 + "]" * 250, "the schema is nested deeper than 200 levels"),
        (b"\xff", "the schema is not UTF-8 text"),
    ],
)
def test_fault_is_refused_with_its_place(document: object, problem: str) -> None:
    (found,) = refused(document)

    assert found.startswith(problem)


def test_all_faults_are_reported_at_once() -> None:
    assert len(refused({"a": float("nan"), "b": [object()], "c": {2: 3}})) == 3


def test_frozen_values_become_plain() -> None:
    document: Any = MappingProxyType({"a": (1, MappingProxyType({"b": None}))})

    assert read_document(document) == {"a": [1, {"b": None}]}


def test_pointer_escapes_its_tokens() -> None:
    assert pointer(["a/b", 0, "c~d"]) == "/a~1b/0/c~0d"
    assert pointer([]) == ""


def test_data_is_read_as_json() -> None:
    assert read_data(b'{"a": [1, 2.5, null]}') == {"a": [1, 2.5, None]}
    with pytest.raises(ResourceError, match="not JSON"):
        read_data(b"{")
