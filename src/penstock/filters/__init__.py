"""Filters: which events a subscriber wants, in the dialects of the Subscriptions API."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from functools import cache
from importlib.metadata import entry_points

from penstock.cesql.lookups import Cover, Lookup
from penstock.errors import ConflictError, Problem, ResourceError
from penstock.filters.all import All
from penstock.filters.base import (
    Attributes,
    Dialect,
    Everything,
    Filter,
    Place,
    read_filters,
)

__all__ = [
    "DEEPEST",
    "DIALECTS",
    "LARGEST",
    "Attributes",
    "Cover",
    "Dialect",
    "Everything",
    "Filter",
    "Lookup",
    "Place",
    "dialects",
    "documents",
    "parse",
    "parse_all",
    "trigger_attributes",
]

DIALECTS: Mapping[str, str] = {
    "all": "penstock.filters.all:All",
    "any": "penstock.filters.any:Any",
    "attributes": "penstock.filters.attributes:AttributeMap",
    "exact": "penstock.filters.exact:Exact",
    "not": "penstock.filters.not_:Not",
    "prefix": "penstock.filters.prefix:Prefix",
    "sql": "penstock.filters.sql:Sql",
    "suffix": "penstock.filters.suffix:Suffix",
}

DEEPEST = 32
LARGEST = 262_144


def parse(document: object, path: str = "filters") -> Filter:
    """Return the filter that a filter expression describes, or raise ResourceError."""
    _refuse_large(document, path)
    return _parse(document, Place(path, 1, _parse))


def parse_all(documents: object, path: str = "filters") -> Filter:
    """Return the one filter that a list of filter expressions means together."""
    if documents is None or documents in ([], ()):
        return Everything()
    _refuse_large(documents, path)
    filters = read_filters(documents, Place(path, 0, _parse))
    return filters[0] if len(filters) == 1 else All(filters)


def documents(filter_: Filter) -> list[Mapping[str, object]]:
    """Return the list of filter expressions that `parse_all` reads back as this filter."""
    if isinstance(filter_, Everything):
        return []
    return [filter_.document()]


def trigger_attributes(attributes: object, path: str = "spec.filter.attributes") -> Filter:
    """Return the filter of a Knative trigger's attribute map; absent or empty means everything."""
    if attributes is None or attributes == {}:
        return Everything()
    _refuse_large(attributes, path)
    return _load(DIALECTS["attributes"]).read(attributes, Place(path, 1, _parse))


@cache
def dialects() -> Mapping[str, str]:
    """Return every dialect, installed ones included, as `name → "module:Class"`."""
    found = dict(DIALECTS)
    for entry in entry_points(group="penstock.filters"):
        if entry.name in found:
            message = (
                f"two implementations of the filter dialect {entry.name!r}: "
                f"{found[entry.name]} and {entry.value}; uninstall one"
            )
            raise ConflictError(message, address=entry.name)
        found[entry.name] = entry.value
    return found


@cache
def _load(target: str) -> type[Dialect]:
    module, _, name = target.partition(":")
    loaded: type[Dialect] = getattr(importlib.import_module(module), name)
    return loaded


def _parse(document: object, at: Place) -> Filter:
    if at.depth > DEEPEST:
        raise at.refuse(f"filters are nested deeper than {DEEPEST} levels")
    if not isinstance(document, Mapping):
        raise at.refuse("must be an object with one dialect as its key")
    if len(document) != 1:
        found = ", ".join(map(repr, document)) or "none"
        raise at.refuse(f"must have exactly one dialect as its key, found {found}")
    ((name, value),) = document.items()
    below = at.step(f".{name}")
    if name not in dialects():
        raise below.refuse(f"unknown dialect; known are {', '.join(sorted(dialects()))}")
    return _load(dialects()[name]).read(value, below)


def _refuse_large(document: object, path: str) -> None:
    size = 0
    waiting = [document]
    while waiting:
        part = waiting.pop()
        size += len(part) if isinstance(part, str) else 1
        if isinstance(part, Mapping):
            waiting.extend(part)
            waiting.extend(part.values())
        elif isinstance(part, (list, tuple)):
            waiting.extend(part)
        if size > LARGEST:
            raise ResourceError([Problem(path, f"filters are larger than {LARGEST} characters")])
