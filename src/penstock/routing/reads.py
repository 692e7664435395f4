"""What a filter reads of an event: lookups that an index can answer, presence, or whole values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from penstock.filters import Everything, Filter, Lookup
from penstock.filters.all import All
from penstock.filters.any import Any
from penstock.filters.attributes import AttributeMap
from penstock.filters.base import Texts
from penstock.filters.not_ import Not
from penstock.filters.sql import Sql


class Reads(NamedTuple):
    """All that can influence a filter's answer."""

    lookups: frozenset[Lookup] = frozenset()
    presence: frozenset[str] = frozenset()
    """Attributes of which it matters whether they are there; of those of lookups it always does."""
    whole: frozenset[str] = frozenset()
    """Attributes of which more is read, so that every value, and its type, may matter."""


def reads(condition: Filter) -> Reads:
    """Return what a filter reads; a filter of an unknown kind reads whole values."""
    match condition:
        case Texts(texts):
            return Reads(frozenset(Lookup(condition.kind, *item) for item in texts.items()))
        case AttributeMap(texts):
            return _of_map(texts)
        case Sql():
            return Reads(*condition.expression.reads())
        case Not(inner):
            return reads(inner)
        case All(parts) | Any(parts):
            return _together([reads(part) for part in parts])
    return Reads(whole=condition.names())


def _of_map(texts: Mapping[str, str]) -> Reads:
    lookups = frozenset(Lookup("exact", *item) for item in texts.items() if item[1])
    return Reads(lookups, frozenset(name for name, text in texts.items() if not text))


def _together(parts: Sequence[Reads]) -> Reads:
    return Reads(
        frozenset().union(*(part.lookups for part in parts)),
        frozenset().union(*(part.presence for part in parts)),
        frozenset().union(*(part.whole for part in parts)),
    )


def decided(condition: Filter) -> bool:
    """Tell whether a filter matches exactly when some lookup of its cover holds."""
    match condition:
        case Everything():
            return True
        case Texts(texts):
            return len(texts) == 1
        case Any(parts):
            return all(decided(part) and not isinstance(part, Everything) for part in parts)
        case AttributeMap() | Sql():
            return _tried(condition, reads(condition))
    return False


def _tried(condition: Filter, read: Reads) -> bool:
    """Tell by trial what a filter answers where one of its lookups holds.

    One attribute, and of it only which lookup holds: so one value stands for all of its class.
    """
    names = read.presence | {lookup.name for lookup in read.lookups}
    alone = len(read.lookups) == 1 or all(lookup.kind == "exact" for lookup in read.lookups)
    if read.whole or len(names) != 1 or not alone or condition.cover() != read.lookups:
        return False
    return all(condition.matches(_Only(lookup.name, lookup.text)) for lookup in read.lookups)


@dataclass(frozen=True, slots=True)
class _Only:
    """An event of which only one attribute matters."""

    name: str
    held: str

    def text(self, name: str) -> str | None:
        return self.held if name == self.name else None

    def value(self, name: str) -> object | None:
        return self.text(name)
