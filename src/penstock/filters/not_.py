"""The dialect `not`: the nested filter does not match."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

from penstock.cesql.lookups import NEVER, Cover, best, union
from penstock.filters.all import All
from penstock.filters.any import Any
from penstock.filters.base import Attributes, Everything, Filter, Place


@dataclass(frozen=True, slots=True)
class Not:
    """Matches events that the nested filter does not match."""

    filter: Filter

    @classmethod
    def read(cls, value: object, at: Place) -> Self:
        """Return the filter for exactly one nested filter expression."""
        return cls(at.nested(value))

    def matches(self, event: Attributes) -> bool:
        return not self.filter.matches(event)

    def names(self) -> frozenset[str]:
        return self.filter.names()

    def cover(self) -> Cover:
        match self.filter:
            case Not(inner):
                return inner.cover()
            case Any(parts):
                return best(Not(part).cover() for part in parts)
            case All(parts):
                return union(Not(part).cover() for part in parts)
            case Everything():
                return NEVER
        return None

    def document(self) -> Mapping[str, object]:
        return {"not": self.filter.document()}
