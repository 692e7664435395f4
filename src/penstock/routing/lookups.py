"""Hash tables that answer which lookups a value fulfils."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from penstock.filters import Lookup
from penstock.routing.groups import Codes, Numbered, grouped

_NONE: frozenset[Lookup] = frozenset()
_MOST = 100_000


class Sorted(NamedTuple):
    """For every value the class it is in, and for every class the lookups that it fulfils."""

    codes: Codes
    fulfilled: Sequence[frozenset[Lookup]]


class Lookups:
    """The lookups on one attribute, each counted as often as it was added."""

    def __init__(self) -> None:
        self._counts: Counter[Lookup] = Counter()
        self._exact: dict[str, Lookup] = {}
        self._prefix: dict[int, dict[str, Lookup]] = {}
        self._suffix: dict[int, dict[str, Lookup]] = {}
        self._sets: dict[tuple[Lookup, ...], frozenset[Lookup]] = {(): _NONE}
        self._seen: dict[tuple[int, ...], frozenset[Lookup]] = {}

    def __len__(self) -> int:
        return len(self._counts)

    @property
    def ask_presence(self) -> bool:
        """Tell whether nothing but presence is asked for."""
        return all(lookup.kind == "prefix" and not lookup.text for lookup in self._counts)

    def add(self, lookup: Lookup) -> None:
        self._counts[lookup] += 1
        if self._counts[lookup] == 1:
            self._table(lookup)[lookup.text] = lookup
            self._forget()

    def remove(self, lookup: Lookup) -> None:
        self._counts[lookup] -= 1
        if self._counts[lookup] == 0:
            del self._counts[lookup]
            del self._table(lookup)[lookup.text]
            self._forget()

    def _forget(self) -> None:
        self._sets, self._seen = {(): _NONE}, {}

    def fulfilled(self, text: str | None) -> frozenset[Lookup]:
        """Return the lookups that a value fulfils; an absent attribute fulfils none."""
        return _NONE if text is None else self.fulfilled_by([text])[0]

    def fulfilled_by(self, texts: Sequence[str | None]) -> list[frozenset[Lookup]]:
        """Return for each value the lookups that it fulfils; equal sets are the same object."""
        exact, sets = self._exact.get, self._sets
        prefixes = [(length, table.get) for length, table in self._prefix.items() if table]
        suffixes = [(length, table.get) for length, table in self._suffix.items() if table]
        answers = []
        for text in texts:
            if text is None:
                answers.append(_NONE)
                continue
            # Prefixes and suffixes are kept by length: one slice and one hash for each length.
            found = [exact(text)]
            found += [get(text[:length]) for length, get in prefixes]
            found += [get(text[-length:]) for length, get in suffixes]
            hits = tuple(lookup for lookup in found if lookup is not None)
            answer = sets.get(hits)
            if answer is None:
                answer = sets[hits] = frozenset(hits)
            answers.append(answer)
        return answers

    def sorted(self, texts: pa.Array) -> Sorted:
        """Return many values, none of them absent, sorted into classes: as `fulfilled_by` does."""
        if len(self._seen) > _MOST:
            self._forget()
        hits = [(_hits(part, table), [*table.values(), None]) for part, table in self._parts(texts)]
        numbers = (Numbered(found, len(lookups)) for found, lookups in hits)
        groups = grouped(numbers)
        keys = zip(*(found[groups.firsts].tolist() for found, _ in hits), strict=True)
        tables = [lookups for _, lookups in hits]
        return Sorted(groups.codes, [self._set(key, tables) for key in keys])

    def _parts(self, texts: pa.Array) -> Iterator[tuple[pa.Array, Mapping[str, Lookup]]]:
        """Yield what of the values is looked up, with the lookups: one slice for each length."""
        yield texts, self._exact
        for length, table in self._prefix.items():
            if table:
                yield pc.utf8_slice_codeunits(texts, 0, length), table
        for length, table in self._suffix.items():
            if table:
                yield pc.utf8_slice_codeunits(texts, -length), table

    def _set(
        self, key: tuple[int, ...], tables: Sequence[Sequence[Lookup | None]]
    ) -> frozenset[Lookup]:
        """Return the set of the lookups at some places of the tables."""
        known = self._seen.get(key)
        if known is None:
            found = (table[number] for number, table in zip(key, tables, strict=True))
            hits = tuple(lookup for lookup in found if lookup is not None)
            known = self._seen[key] = self._sets.setdefault(hits, frozenset(hits))
        return known

    def _table(self, lookup: Lookup) -> dict[str, Lookup]:
        if lookup.kind == "exact":
            return self._exact
        family = self._prefix if lookup.kind == "prefix" else self._suffix
        return family.setdefault(len(lookup.text), {})


def _hits(texts: pa.Array, table: Mapping[str, Lookup]) -> Codes:
    """Return for every text its place in a table; those that are not there get the next number."""
    found = pc.index_in(texts, value_set=pa.array(list(table), pa.string()))
    return np.asarray(found.fill_null(len(table)).to_numpy(zero_copy_only=False), dtype=np.int64)
