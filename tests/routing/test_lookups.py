from __future__ import annotations

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from penstock.filters import Lookup
from penstock.routing.lookups import Lookups

texts = st.text("abé𝄞", min_size=1, max_size=3)
lookups = st.builds(Lookup, st.sampled_from(["exact", "prefix", "suffix"]), st.just("x"), texts)


def holds(lookup: Lookup, text: str) -> bool:
    if lookup.kind == "exact":
        return text == lookup.text
    return text.startswith(lookup.text) if lookup.kind == "prefix" else text.endswith(lookup.text)


@given(st.lists(lookups), st.lists(lookups), st.text("ab", max_size=4))
def test_fulfilled_lookups_are_those_that_hold(
    added: list[Lookup], removed: list[Lookup], text: str
) -> None:
    table, counts = Lookups(), [*added]
    for lookup in added:
        table.add(lookup)
    for lookup in removed:
        if lookup in counts:
            counts.remove(lookup)
            table.fulfilled(text)
            table.remove(lookup)

    assert table.fulfilled(text) == {lookup for lookup in counts if holds(lookup, text)}
    assert len(table) == len(set(counts))


@given(st.lists(lookups), st.lists(st.text("abé𝄞", max_size=4)))
def test_many_values_fulfil_what_each_alone_does(added: list[Lookup], values: list[str]) -> None:
    table = Lookups()
    for lookup in [*added, Lookup("prefix", "x", "")]:
        table.add(lookup)

    found = table.sorted(pa.array(values, pa.string()))

    assert [found.fulfilled[code] for code in found.codes] == table.fulfilled_by(values)
    assert len(set(found.fulfilled)) == len(found.fulfilled)


def test_absent_attribute_fulfils_nothing() -> None:
    table = Lookups()
    table.add(Lookup("exact", "x", "a"))

    assert table.fulfilled(None) == frozenset()


def test_empty_value_fulfils_only_what_is_exactly_empty() -> None:
    table = Lookups()
    empty = Lookup("exact", "x", "")
    for lookup in (empty, Lookup("prefix", "x", "a"), Lookup("suffix", "x", "a")):
        table.add(lookup)

    assert table.fulfilled("") == {empty}
