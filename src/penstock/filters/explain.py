"""Filters for people: what one means, how an index finds it, why it said yes or no."""

from __future__ import annotations

from collections.abc import Iterator

from penstock.filters import words
from penstock.filters.all import All
from penstock.filters.any import Any
from penstock.filters.base import Filter
from penstock.filters.not_ import Not
from penstock.filters.trace import Trace, trace

__all__ = ["Trace", "explain", "indexed", "trace"]


def explain(filter_: Filter) -> str:
    """Return what a filter means, in words, one condition per line."""
    return "\n".join(_lines(filter_))


def indexed(filter_: Filter) -> str:
    """Return how an index finds the filter for an event, in words."""
    cover = filter_.cover()
    if cover is None:
        return "not indexed: it is tried on every event"
    if not cover:
        return "no event can pass"
    return f"indexed: tried only where {' or '.join(map(words.lookup, sorted(cover)))}"


def _lines(filter_: Filter) -> Iterator[str]:
    match filter_:
        case All(filters):
            yield "all of:"
            yield from _listed(filters)
        case Any(filters):
            yield "any of:"
            yield from _listed(filters)
        case Not(inner):
            yield "not:"
            yield from _listed((inner,))
        case _:
            yield words.condition(filter_)


def _listed(filters: tuple[Filter, ...]) -> Iterator[str]:
    for part in filters:
        first, *rest = _lines(part)
        yield f"- {first}"
        yield from (f"  {line}" for line in rest)
