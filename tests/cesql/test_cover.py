from __future__ import annotations

import pytest
from hypothesis import assume, given, settings

from penstock import cesql
from penstock.cesql import Lookup
from penstock.events import CloudEvent
from tests.cesql.naive import Tree
from tests.cesql.strategies import (
    conditions,
    events,
    examples,
    is_writable,
    meetings,
    trees,
    written,
)


def exact(name: str, text: str) -> Lookup:
    return Lookup("exact", name, text)


@settings(max_examples=examples(300))
@given(meetings)
def test_some_lookup_holds_wherever_the_expression_passes(
    meeting: tuple[Tree, CloudEvent],
) -> None:
    tree, event = meeting
    assume(is_writable(tree))
    expression = cesql.parse(written(tree))
    cover = expression.cover()

    covered = cover is None or any(lookup.holds(event) for lookup in cover)

    assert covered or not expression.passes(event)


@settings(max_examples=examples(150))
@given(conditions | trees, events())
def test_no_other_attribute_changes_the_answer(tree: Tree, event: CloudEvent) -> None:
    assume(is_writable(tree))
    expression = cesql.parse(written(tree))
    names = expression.names()

    class Narrow:
        def value(self, name: str) -> object | None:
            return event.value(name) if name in names else None

    assert expression.evaluate(Narrow()) == expression.evaluate(event)


@pytest.mark.parametrize(
    ("text", "cover"),
    [
        ("type = 'a'", {exact("type", "a")}),
        ("'a' = type", {exact("type", "a")}),
        ("type LIKE 'a%'", {Lookup("prefix", "type", "a")}),
        ("type LIKE '%a'", {Lookup("suffix", "type", "a")}),
        ("type LIKE 'com.%.x'", {Lookup("prefix", "type", "com.")}),
        ("type LIKE 'a_c%de'", {Lookup("suffix", "type", "de")}),
        ("type LIKE 'a\\%'", {exact("type", "a%")}),
        ("type IN ('a', 'b')", {exact("type", "a"), exact("type", "b")}),
        ("type = CONCAT('a', 1 + 1)", {exact("type", "a2")}),
        ("type = 'a' OR source = 'b'", {exact("type", "a"), exact("source", "b")}),
        ("EXISTS ext AND type = 'a'", {exact("type", "a")}),
        ("type LIKE 'abc%' AND id = '7'", {exact("id", "7")}),
        ("type = 'a' AND TRUE", {exact("type", "a")}),
        ("NOT (type != 'a')", {exact("type", "a")}),
        ("NOT (type <> 'a' OR ext = 'b')", {exact("type", "a")}),
        (
            "NOT (type NOT IN ('a') AND type NOT LIKE 'b%')",
            {exact("type", "a"), Lookup("prefix", "type", "b")},
        ),
        ("ext IN ('x')", {exact("ext", "x")}),
        ("ext IN ('05')", {exact("ext", "05"), exact("ext", "5")}),
        ("ext IN (1)", {exact("ext", "1"), exact("ext", "true")}),
        ("'05' = ext", {exact("ext", "05"), exact("ext", "5")}),
        ("ext = 57", {Lookup("suffix", "ext", "7")}),
        ("ext = 0", {Lookup("suffix", "ext", "0"), exact("ext", "false")}),
        ("ext", {exact("ext", "true")}),
        ("FALSE", set()),
        ("'true'", set()),
        ("type = 'a' AND FALSE", set()),
        ("LENGTH(type)", set()),
        ("NOSUCH(type)", set()),
    ],
)
def test_conditions_that_can_be_looked_up_are_found(text: str, cover: set[Lookup]) -> None:
    found = cesql.parse(text).cover()

    assert found == frozenset(cover)


@pytest.mark.parametrize(
    "text",
    [
        "TRUE",
        "EXISTS ext",
        "type != 'a'",
        "NOT (type = 'a')",
        "type LIKE '%'",
        "type LIKE '%a%'",
        "type LIKE '_a_'",
        "type = 'a' OR ext > 5",
        "type = source",
        "type IN ('a', source)",
        "ext = TRUE",
        "LOWER(type) = 'a'",
        "type = 'a' XOR type = 'b'",
        # A map of an old event is compared as JSON text, but cannot be looked up.
        "ext = '{\"a\":1}'",
        "ext LIKE '[%'",
        "ext LIKE '%}'",
    ],
)
def test_what_cannot_be_looked_up_has_no_cover(text: str) -> None:
    assert cesql.parse(text).cover() is None


def test_cover_of_a_long_chain_is_found_at_once() -> None:
    text = " OR ".join(f"id='{number}'" for number in range(5000))

    cover = cesql.parse(text).cover()

    assert cover is not None
    assert len(cover) == 5000
