from __future__ import annotations

import pytest

from penstock.cesql.lookups import Lookup, best, union
from penstock.events import CloudEvent

EVENT = CloudEvent(id="1", source="/s", type="a.b.c", extensions={"n": 5})

EXACT = frozenset({Lookup("exact", "type", "a")})
RARE = frozenset({Lookup("exact", "id", "1")})
COMMON = frozenset({Lookup("exact", "specversion", "1.0")})
LONG = frozenset({Lookup("prefix", "type", "com.example.")})
SHORT = frozenset({Lookup("suffix", "type", "ed")})


@pytest.mark.parametrize(
    "lookup",
    [
        Lookup("exact", "type", "a.b.c"),
        Lookup("prefix", "type", "a."),
        Lookup("suffix", "type", ".c"),
        Lookup("exact", "n", "5"),
    ],
)
def test_lookup_holds(lookup: Lookup) -> None:
    assert lookup.holds(EVENT)


@pytest.mark.parametrize(
    "lookup",
    [
        Lookup("exact", "type", "a.b"),
        Lookup("prefix", "type", "b"),
        Lookup("suffix", "type", "b"),
        Lookup("prefix", "subject", "x"),
        Lookup("suffix", "subject", "x"),
    ],
)
def test_lookup_does_not_hold(lookup: Lookup) -> None:
    assert not lookup.holds(EVENT)


@pytest.mark.parametrize(
    ("covers", "chosen"),
    [
        ([EXACT, LONG, SHORT], EXACT),
        ([SHORT, LONG], LONG),
        ([EXACT, RARE], RARE),
        ([COMMON, SHORT, EXACT], EXACT),
        ([None, SHORT], SHORT),
        ([EXACT | SHORT, LONG], LONG),
        ([EXACT, frozenset()], frozenset()),
    ],
)
def test_the_most_selective_cover_is_chosen(
    covers: list[frozenset[Lookup] | None], chosen: frozenset[Lookup]
) -> None:
    assert best(covers) == chosen


def test_nothing_to_choose_from_is_no_cover() -> None:
    assert best([None, None]) is None


def test_alternatives_are_covered_together_or_not_at_all() -> None:
    assert union([EXACT, LONG]) == EXACT | LONG
    assert union([EXACT, None]) is None
