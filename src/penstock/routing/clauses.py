"""Filters that are conjunctions of lookups: the index alone can judge them."""

from __future__ import annotations

from collections.abc import Iterable

from penstock.filters import Filter, Lookup
from penstock.filters.all import All
from penstock.filters.any import Any
from penstock.filters.attributes import AttributeMap
from penstock.filters.base import Texts
from penstock.filters.sql import Sql

Clauses = tuple[frozenset[Lookup], ...]


def clauses(condition: Filter) -> Clauses | None:
    """Return clauses: the filter matches exactly where of each some lookup holds.

    None where it is made of more. A lookup of an empty prefix asks for presence.
    """
    match condition:
        case Texts(texts):
            return tuple(frozenset({Lookup(condition.kind, *item)}) for item in texts.items())
        case AttributeMap(texts):
            return tuple(frozenset({_wanted(*item)}) for item in texts.items())
        case Sql():
            return condition.expression.conjunction()
        case All(parts):
            return _joined(map(clauses, parts))
        case Any(parts):
            return _alternative(map(clauses, parts))
    return None


def _wanted(name: str, text: str) -> Lookup:
    # Whatever is present starts with nothing.
    return Lookup("exact", name, text) if text else Lookup("prefix", name, "")


def _joined(parts: Iterable[Clauses | None]) -> Clauses | None:
    found: list[frozenset[Lookup]] = []
    for part in parts:
        if part is None:
            return None
        found += part
    return tuple(dict.fromkeys(found))


def _alternative(parts: Iterable[Clauses | None]) -> Clauses | None:
    found: frozenset[Lookup] = frozenset()
    for part in parts:
        if part is None or len(part) != 1:
            return None
        found |= part[0]
    return (found,)
