from __future__ import annotations

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from penstock import cesql
from penstock.cesql import Lookup
from penstock.events import CloudEvent
from tests.cesql.strategies import TEXTS, events, examples


def holds(lookup: Lookup, event: CloudEvent) -> bool:
    if lookup.kind == "prefix" and not lookup.text:
        return event.value(lookup.name) is not None
    return lookup.holds(event)


names = st.sampled_from(["id", "source", "type", "subject", "x", "y", "flag"])
values = st.sampled_from([text for text in TEXTS if "'" not in text and "\\" not in text])
forms = st.sampled_from(
    [
        *("{0} = '{1}'", "{0} LIKE '{1}%'", "{0} LIKE '%{1}'", "{0} LIKE '{1}'", "EXISTS {0}"),
        *("{0} IN ('{1}', 'a')", "{0} LIKE '%'", "{0} = '{1}'"),
    ]
)
parts = st.builds(str.format, forms, names, values)


@settings(max_examples=examples(300))
@given(st.lists(parts, min_size=1, max_size=3), st.lists(events(), min_size=5, max_size=8))
def test_conjunction_passes_exactly_where_its_lookups_hold(
    some: list[str], several: list[CloudEvent]
) -> None:
    expression = cesql.parse(" AND ".join(some))
    clauses = expression.conjunction()
    assume(clauses is not None)

    for event in several:
        expected = all(any(holds(one, event) for one in clause) for clause in clauses or ())
        assert expression.passes(event) is expected


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("type = 'a'", 1),
        ("type = 'a' AND source LIKE '/b/%' AND EXISTS subject", 3),
        ("type IN ('a', 'b') AND x LIKE '%c'", 2),
        (" AND ".join(["type = 'a'"] * 16), 16),
    ],
)
def test_conjunction_has_a_clause_for_each_condition(text: str, count: int) -> None:
    clauses = cesql.parse(text).conjunction()

    assert clauses is not None
    assert len(clauses) == count


@pytest.mark.parametrize(
    "text",
    [
        "type != 'a'",
        "NOT type = 'a'",
        "type = 'a' OR x = 'b'",
        "type NOT LIKE 'a%'",
        "type NOT IN ('a')",
        "x = 5",
        "x = '{a'",
        "TRUE",
        "LENGTH(type) = 1 AND type = 'a'",
        "type = 'a' AND data = 'b'",
        " AND ".join(["type = 'a'"] * 20),
    ],
)
def test_what_is_more_than_a_conjunction_is_none(text: str) -> None:
    assert cesql.parse(text).conjunction() is None
