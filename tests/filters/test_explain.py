from __future__ import annotations

from typing import Any

import pytest

from penstock import filters
from penstock.filters.explain import explain, indexed
from tests.filters.test_filters import Even

FILTERS: list[dict[str, Any]] = [
    {
        "any": [
            {"exact": {"type": "a", "id": "7"}},
            {"not": {"suffix": {"type": ".b"}}},
            {"sql": "EXISTS subject AND n IN (1, 2)"},
        ]
    },
    {"attributes": {"type": "a", "subject": ""}},
]


def test_filter_is_explained_condition_by_condition() -> None:
    assert explain(filters.parse_all(FILTERS)).splitlines() == [
        "all of:",
        "- any of:",
        "  - type is 'a' and id is '7'",
        "  - not:",
        "    - type ends with '.b'",
        "  - subject is present and n is one of 1, 2",
        "- type is 'a' and subject is present",
    ]


def test_no_filter_is_explained() -> None:
    assert explain(filters.parse_all([])) == "every event"


def test_dialect_of_strangers_is_shown_as_document() -> None:
    assert explain(Even("n")) == '{"https://example.com/even":"n"}'


@pytest.mark.parametrize(
    ("document", "answer"),
    [
        ({"exact": {"type": "a"}}, "indexed: tried only where type is 'a'"),
        (
            {"sql": "type = 'a' OR source LIKE '/b%'"},
            "indexed: tried only where type is 'a' or source starts with '/b'",
        ),
        ({"sql": "EXISTS subject"}, "not indexed: it is tried on every event"),
        ({"sql": "FALSE"}, "no event can pass"),
    ],
)
def test_index_use_is_explained(document: object, answer: str) -> None:
    assert indexed(filters.parse(document)) == answer
