"""Routes as the index keeps them, and what is left to judge when some were found."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from penstock.events.event import CloudEvent
from penstock.filters import Filter, Lookup
from penstock.routing.classes import RENAMED
from penstock.routing.reads import Reads, decided, reads
from penstock.routing.route import Route

_AMBIGUOUS = frozenset(RENAMED) | frozenset(RENAMED.values())
_NO_NAMES: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Slot:
    """A route with its filter, and what that filter reads."""

    route: Route
    condition: Filter
    cover: frozenset[Lookup] | None
    reads: Reads

    def entries(self) -> Iterable[Lookup | None]:
        """Return the lookups that lead to the route; None stands for every event."""
        return (None,) if self.cover is None else self.cover

    @cached_property
    def decided(self) -> bool:
        """Tell whether the route matches wherever it is found; asked when it first is found."""
        # An attribute with two names may lie in two columns; only the filter knows which counts.
        return decided(self.condition) and not self.condition.names() & _AMBIGUOUS


def slot(route: Route) -> Slot:
    """Return the slot of a route."""
    condition = route.condition()
    cover, read = condition.cover(), reads(condition)
    return Slot(route, condition, cover, read._replace(lookups=read.lookups | (cover or set())))


class Found(NamedTuple):
    """What fulfilled lookups lead to: routes that match for sure, and slots to be judged."""

    sure: tuple[Route, ...] = ()
    open: tuple[Slot, ...] = ()
    whole: frozenset[str] = _NO_NAMES
    """The attributes whose values must be known to judge them."""


NOTHING = Found()
Parts = Sequence[Found]


def meaning(slots: Collection[Slot]) -> Found:
    """Return what slots that were found mean."""
    unsure = tuple(slot for slot in slots if not slot.decided)
    return Found(
        tuple(slot.route for slot in slots if slot.decided),
        unsure,
        _NO_NAMES.union(*(slot.reads.whole for slot in unsure)),
    )


def sure(parts: Parts) -> tuple[Route, ...]:
    """Return the routes that match for sure."""
    several = [part.sure for part in parts if part.sure]
    if len(several) <= 1:
        return several[0] if several else ()
    # A route whose filter is an alternative may be found through two attributes.
    return tuple({route.id: route for routes in several for route in routes}.values())


def judged(parts: Parts, event: CloudEvent) -> tuple[Route, ...]:
    """Return the routes that match an event, those for sure and those whose filter says so."""
    matched = {route.id: route for part in parts for route in part.sure}
    for part in parts:
        for slot in part.open:
            if slot.route.id not in matched and slot.condition.matches(event):
                matched[slot.route.id] = slot.route
    return tuple(matched.values())
