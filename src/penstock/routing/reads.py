"""What a filter reads of an event: lookups that an index can answer, or whole values."""

from __future__ import annotations

from typing import NamedTuple

from penstock.filters import Everything, Filter, Lookup
from penstock.filters.all import All
from penstock.filters.any import Any
from penstock.filters.base import Texts
from penstock.filters.not_ import Not


class Reads(NamedTuple):
    """All that can influence a filter's answer."""

    lookups: frozenset[Lookup] = frozenset()
    whole: frozenset[str] = frozenset()
    """Attributes of which more than a lookup is read, so that every value may matter."""


def reads(condition: Filter) -> Reads:
    """Return what a filter reads; a filter of an unknown kind reads whole values."""
    match condition:
        case Everything():
            return Reads()
        case Texts():
            return Reads(
                frozenset(Lookup(condition.kind, *item) for item in condition.texts.items())
            )
        case Not():
            return reads(condition.filter)
        case All() | Any():
            parts = [reads(part) for part in condition.filters]
            return Reads(
                frozenset().union(*(part.lookups for part in parts)),
                frozenset().union(*(part.whole for part in parts)),
            )
    return Reads(whole=condition.names())


def decided(condition: Filter) -> bool:
    """Tell whether a filter matches exactly when some lookup of its cover holds."""
    match condition:
        case Everything():
            return True
        case Texts():
            return len(condition.texts) == 1
        case Any():
            return all(
                decided(part) and not isinstance(part, Everything) for part in condition.filters
            )
    return False
