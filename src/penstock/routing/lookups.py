"""Hash tables that answer which lookups a value fulfils."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from penstock.filters import Lookup

_NONE: frozenset[Lookup] = frozenset()


class Lookups:
    """The lookups on one attribute, each counted as often as it was added."""

    def __init__(self) -> None:
        self._counts: Counter[Lookup] = Counter()
        self._exact: dict[str, Lookup] = {}
        self._prefix: dict[int, dict[str, Lookup]] = {}
        self._suffix: dict[int, dict[str, Lookup]] = {}
        self._sets: dict[tuple[Lookup, ...], frozenset[Lookup]] = {(): _NONE}

    def __len__(self) -> int:
        return len(self._counts)

    def add(self, lookup: Lookup) -> None:
        self._counts[lookup] += 1
        if self._counts[lookup] == 1:
            self._table(lookup)[lookup.text] = lookup
            self._sets = {(): _NONE}

    def remove(self, lookup: Lookup) -> None:
        self._counts[lookup] -= 1
        if self._counts[lookup] == 0:
            del self._counts[lookup]
            del self._table(lookup)[lookup.text]
            self._sets = {(): _NONE}

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

    def _table(self, lookup: Lookup) -> dict[str, Lookup]:
        if lookup.kind == "exact":
            return self._exact
        family = self._prefix if lookup.kind == "prefix" else self._suffix
        return family.setdefault(len(lookup.text), {})
