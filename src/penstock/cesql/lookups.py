"""Conditions that an index can look up, and how sets of them combine."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, NamedTuple, Protocol


class Texts(Protocol):
    """The canonical texts of one event's attributes."""

    def text(self, name: str) -> str | None:
        """Return the text of an attribute, or None when it is absent or a map."""
        ...


class Lookup(NamedTuple):
    """One condition on one attribute that an index can look up."""

    # A tuple, because its hash takes a tenth of the time of a dataclass's.
    kind: Literal["exact", "prefix", "suffix"]
    name: str
    text: str

    def holds(self, event: Texts) -> bool:
        """Tell whether an event fulfils this condition."""
        found = event.text(self.name)
        if found is None:
            return False
        if self.kind == "exact":
            return found == self.text
        return found.startswith(self.text) if self.kind == "prefix" else found.endswith(self.text)


Cover = frozenset[Lookup] | None
NEVER: Cover = frozenset()

_EXACT = 0.001
_SHARES = {"id": 0.0001, "specversion": 0.5, "datacontenttype": 0.3, "contenttype": 0.3}
_PER_CHARACTER = 0.75


def expected(cover: frozenset[Lookup]) -> float:
    """Estimate the share of events for which some lookup of a cover holds."""
    return sum(_share(lookup) for lookup in cover)


def _share(lookup: Lookup) -> float:
    exact = _SHARES.get(lookup.name, _EXACT)
    if lookup.kind == "exact":
        return exact
    # Only the order matters: one more character of a type or address tells a little more.
    return max(2 * exact, _PER_CHARACTER ** len(lookup.text))


def best(covers: Iterable[Cover]) -> Cover:
    """Return the most selective cover: any one of them covers a conjunction."""
    present = [cover for cover in covers if cover is not None]
    return min(present, key=lambda cover: (expected(cover), sorted(cover)), default=None)


def union(covers: Iterable[Cover]) -> Cover:
    """Return the cover of an alternative: all lookups, or None where one side has none."""
    together: set[Lookup] = set()
    for cover in covers:
        if cover is None:
            return None
        together |= cover
    return frozenset(together)
