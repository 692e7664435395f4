"""Hash tables that answer which lookups a value fulfils."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from penstock.filters import Lookup

_NONE: frozenset[Lookup] = frozenset()
_MOST_REMEMBERED = 200_000


class Lookups:
    """The lookups on one attribute, each counted as often as it was added."""

    def __init__(self) -> None:
        self._counts: Counter[Lookup] = Counter()
        self._exact: dict[str, Lookup] = {}
        self._prefix: dict[int, dict[str, Lookup]] = {}
        self._suffix: dict[int, dict[str, Lookup]] = {}
        self._fulfilled: dict[str, frozenset[Lookup]] = {}

    def __len__(self) -> int:
        return len(self._counts)

    def add(self, lookup: Lookup) -> None:
        self._counts[lookup] += 1
        if self._counts[lookup] == 1:
            self._table(lookup)[lookup.text] = lookup
            self._fulfilled = {}

    def remove(self, lookup: Lookup) -> None:
        self._counts[lookup] -= 1
        if self._counts[lookup] == 0:
            del self._counts[lookup]
            del self._table(lookup)[lookup.text]
            self._fulfilled = {}

    def fulfilled(self, text: str | None) -> frozenset[Lookup]:
        """Return the lookups that a value fulfils; an absent attribute fulfils none."""
        if text is None:
            return _NONE
        found = self._fulfilled.get(text)
        if found is None:
            if len(self._fulfilled) >= _MOST_REMEMBERED:
                self._fulfilled = {}
            found = self._fulfilled[text] = frozenset(self._search(text)) or _NONE
        return found

    def _search(self, text: str) -> Iterable[Lookup]:
        exact = self._exact.get(text)
        if exact is not None:
            yield exact
        # Prefixes and suffixes are kept by length, so one slice and one hash per length suffice.
        for length, table in self._prefix.items():
            found = table.get(text[:length])
            if found is not None:
                yield found
        for length, table in self._suffix.items():
            found = table.get(text[-length:])
            if found is not None:
                yield found

    def _table(self, lookup: Lookup) -> dict[str, Lookup]:
        if lookup.kind == "exact":
            return self._exact
        family = self._prefix if lookup.kind == "prefix" else self._suffix
        return family.setdefault(len(lookup.text), {})
