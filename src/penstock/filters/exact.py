"""The dialect `exact`: attributes equal the given texts."""

from __future__ import annotations

from dataclasses import dataclass

from penstock.filters.base import Attributes, Texts


@dataclass(frozen=True, slots=True, eq=False)
class Exact(Texts):
    """Matches events whose attributes all equal the given texts."""

    kind = "exact"

    def matches(self, event: Attributes) -> bool:
        # A loop takes half the time of all() over a generator, and this runs per event.
        for name, text in self.texts.items():  # noqa: SIM110
            if event.text(name) != text:
                return False
        return True
