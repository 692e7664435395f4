"""Routes as the index keeps them, and what is left to judge when some were found."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from penstock.events.event import CloudEvent
from penstock.filters import Filter, Lookup
from penstock.routing.classes import RENAMED
from penstock.routing.clauses import Clauses, clauses
from penstock.routing.reads import Reads, decided, reads
from penstock.routing.route import Route

_AMBIGUOUS = frozenset(RENAMED) | frozenset(RENAMED.values())
_NO_NAMES: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Slot:
    """A route with its filter, and what that filter reads."""

    number: int
    route: Route
    condition: Filter
    cover: frozenset[Lookup] | None
    reads: Reads
    clauses: Clauses | None

    def entries(self) -> Iterable[Lookup | None]:
        """Return the lookups that lead to the route; None stands for every event."""
        return (None,) if self.cover is None else self.cover

    @property
    def is_scattered(self) -> bool:
        """Tell whether an event may lead to the route in more than one way."""
        return self.cover is not None and len({lookup.name for lookup in self.cover}) > 1

    @cached_property
    def decided(self) -> bool:
        """Tell whether the route matches wherever it is found; asked when it first is found."""
        # An attribute with two names may lie in two columns; only the filter knows which counts.
        return decided(self.condition) and not self.condition.names() & _AMBIGUOUS

    @cached_property
    def more(self) -> Clauses | None:
        """Return the clauses that must hold besides where it is found; None: they do not tell."""
        if self.clauses is None or self.cover is None:
            return self.clauses
        # Found by the one lookup of a clause means that this clause holds.
        rest = tuple(clause for clause in self.clauses if clause != self.cover)
        return rest if len(rest) < len(self.clauses) else None


def slot(number: int, route: Route) -> Slot:
    """Return the slot of a route under a number of its own."""
    condition = route.condition()
    cover, read = condition.cover(), reads(condition)
    ambiguous = condition.names() & _AMBIGUOUS
    joined = None if ambiguous or read.whole else clauses(condition)
    seen = read.lookups.union(cover or (), *(joined or ()))
    return Slot(number, route, condition, cover, read._replace(lookups=seen), joined)


class Found(NamedTuple):
    """What fulfilled lookups lead to."""

    sure: tuple[Slot, ...] = ()
    """Those that match."""
    joint: tuple[Slot, ...] = ()
    """Those that match if other lookups hold as well."""
    open: tuple[Slot, ...] = ()
    """Those whose filter must be asked."""
    whole: frozenset[str] = _NO_NAMES
    """The attributes whose values must be known to ask it."""


NOTHING = Found()
Parts = Sequence[Found]


def meaning(slots: Collection[Slot]) -> Found:
    """Return what slots that were found mean."""
    sure = tuple(slot for slot in slots if slot.decided)
    rest = [slot for slot in slots if not slot.decided]
    joint = tuple(slot for slot in rest if slot.more is not None)
    unsure = tuple(slot for slot in rest if slot.more is None)
    return Found(sure, joint, unsure, _NO_NAMES.union(*(slot.reads.whole for slot in unsure)))


def reads_whole(parts: Parts) -> bool:
    """Tell whether whole values must be known to judge it."""
    for part in parts:  # noqa: SIM110
        if part.whole:
            return True
    return False


def judged(parts: Parts, event: CloudEvent) -> tuple[Slot, ...]:
    """Return the open slots whose filter an event passes, each once."""
    passed: dict[str, Slot] = {}
    for part in parts:
        for slot in part.open:
            if slot.route.id not in passed and slot.condition.matches(event):
                passed[slot.route.id] = slot
    return tuple(passed.values())
