from __future__ import annotations

from typing import Any

import pytest

from penstock import filters
from penstock.filters import Everything, Lookup
from penstock.routing.reads import Reads, decided, reads

EXACT = {"exact": {"type": "t"}}
SQL = {"sql": "subject = 'x' AND EXISTS y"}


def test_everything_reads_nothing() -> None:
    assert reads(Everything()) == (frozenset(), frozenset(), frozenset())
    assert decided(Everything())


def test_texts_are_read_by_lookups() -> None:
    found = reads(filters.parse({"prefix": {"type": "t", "subject": "s"}}))

    assert found.lookups == {Lookup("prefix", "type", "t"), Lookup("prefix", "subject", "s")}
    assert not found.whole


def test_combined_filters_read_what_their_parts_read() -> None:
    found = reads(filters.parse({"not": {"any": [EXACT, {"all": [SQL, EXACT]}]}}))

    assert found.lookups == {Lookup("exact", "type", "t"), Lookup("exact", "subject", "x")}
    assert found.presence == {"subject", "y"}
    assert not found.whole


def test_attributes_are_read_by_lookups_and_by_presence() -> None:
    found = reads(filters.parse({"attributes": {"type": "t", "x": ""}}))

    assert found == Reads(frozenset({Lookup("exact", "type", "t")}), frozenset({"x"}))


def test_filter_of_a_stranger_reads_whole_values() -> None:
    class Even(Everything):
        def names(self) -> frozenset[str]:
            return frozenset({"x"})

    assert reads(Even()).whole == {"x"}


@pytest.mark.parametrize("text", ["LENGTH(x) = 3", "x = 5", "x LIKE '%a%'", "'a' = x"])
def test_expression_reads_whole_what_no_lookup_tells(text: str) -> None:
    assert reads(filters.parse({"sql": text})).whole == {"x"}


@pytest.mark.parametrize(
    ("document", "sure"),
    [
        (EXACT, True),
        ({"suffix": {"type": "t"}}, True),
        ({"any": [EXACT, {"prefix": {"x": "a"}}]}, True),
        ({"exact": {"type": "t", "x": "a"}}, False),
        ({"all": [EXACT, EXACT]}, False),
        ({"not": EXACT}, False),
        ({"any": [EXACT, {"not": EXACT}]}, False),
        ({"any": [EXACT, SQL]}, False),
        (SQL, False),
        ({"attributes": {"type": "t"}}, True),
        ({"attributes": {"type": "t", "x": "a"}}, False),
        ({"attributes": {"x": ""}}, False),
        ({"sql": "type = 't'"}, True),
        ({"sql": "type LIKE 't%'"}, True),
        ({"sql": "type IN ('t', 'u')"}, True),
        ({"sql": "x = 't' OR x = 'u'"}, True),
        ({"sql": "NOT (x != 't')"}, True),
        ({"any": [{"sql": "type = 't'"}, EXACT]}, True),
        ({"sql": "type = 't' AND source = 's'"}, False),
        ({"sql": "type = 't' OR source = 's'"}, False),
        ({"sql": "x = 't' AND NOT EXISTS x"}, False),
        ({"sql": "type LIKE 't%' OR type = 'u'"}, False),
        ({"sql": "type = 't' AND type LIKE 't%'"}, False),
        ({"sql": "type != 't'"}, False),
        ({"sql": "EXISTS x"}, False),
        ({"sql": "x = 5"}, False),
    ],
)
def test_lookups_decide_some_filters_alone(document: dict[str, Any], *, sure: bool) -> None:
    assert decided(filters.parse(document)) is sure
