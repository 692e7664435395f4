from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from penstock import cesql
from penstock.cesql import Lookup, Reads
from penstock.events import CloudEvent
from tests.cesql.naive import Tree
from tests.cesql.strategies import conditions, events, examples, is_writable, trees, written


def seen(reads: Reads, event: CloudEvent) -> object:
    """All that an index would keep of an event."""
    whole = [event.value(name) for name in sorted(reads.whole)]
    return (
        {lookup for lookup in reads.lookups if lookup.holds(event)},
        {name for name in reads.presence if event.value(name) is not None},
        [(type(value), value) for value in whole],
    )


@settings(max_examples=examples(80))
@given(conditions | trees, st.lists(events(), min_size=3, max_size=5))
def test_events_that_look_the_same_get_the_same_answer(
    tree: Tree, several: list[CloudEvent]
) -> None:
    assume(is_writable(tree))
    expression = cesql.parse(written(tree))
    reads = expression.reads()

    for one, other in combinations(several, 2):
        if seen(reads, one) == seen(reads, other):
            assert expression.passes(one) is expression.passes(other)


def reads(lookups: set[tuple[str, str, str]], presence: str = "", whole: str = "") -> Reads:
    found = frozenset(Lookup(*lookup) for lookup in lookups)  # type: ignore[arg-type]
    return Reads(found, frozenset(presence.split()), frozenset(whole.split()))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "type = 'a' AND source LIKE '/s/%' AND EXISTS subject",
            reads({("exact", "type", "a"), ("prefix", "source", "/s/")}, "type source subject"),
        ),
        (
            "NOT (ext != 'x' OR ext LIKE '%y')",
            reads({("exact", "ext", "x"), ("suffix", "ext", "y")}, "ext"),
        ),
        ("type IN ('a', 5)", reads({("exact", "type", "a"), ("exact", "type", "5")}, "type")),
        ("ext LIKE '%'", reads(set(), "ext")),
        ("ext IN ('a')", reads(set(), whole="ext")),
        ("'a' = ext", reads(set(), whole="ext")),
        ("ext = 5", reads(set(), whole="ext")),
        ("ext = '{}'", reads(set(), whole="ext")),
        ("ext LIKE 'a%b'", reads(set(), whole="ext")),
        ("ext LIKE '%a%'", reads(set(), whole="ext")),
        ("LENGTH(type) = n", reads(set(), whole="type n")),
        ("EXISTS id AND data = 'x'", reads(set())),
        ("type IN ('a', source)", reads(set(), whole="type source")),
    ],
)
def test_conditions_on_texts_are_read_as_lookups(text: str, expected: Reads) -> None:
    assert cesql.parse(text).reads() == expected
