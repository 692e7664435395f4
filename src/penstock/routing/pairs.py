"""Pairs of rows and slots, held as arrays: no work is done in Python row by row."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from penstock.filters import Lookup
from penstock.routing.classes import Column
from penstock.routing.groups import Codes
from penstock.routing.slots import Found, Slot

Flags = npt.NDArray[np.bool_]


class Pairs(NamedTuple):
    """Rows, each with the number of a slot it belongs to."""

    rows: Codes
    slots: Codes

    @classmethod
    def of(cls, parts: Sequence[Pairs]) -> Pairs:
        """Return all pairs of some parts."""
        if not parts:
            nothing = np.empty(0, dtype=np.int64)
            return cls(nothing, nothing)
        return cls(*(np.concatenate(side) for side in zip(*parts, strict=True)))

    def sorted(self, *, once: bool) -> Pairs:
        """Return them in the order of the rows, where asked for each only once."""
        if once and len(self.slots):
            width = int(self.slots.max()) + 1
            return Pairs(*np.divmod(np.unique(self.rows * width + self.slots), width))
        order = np.argsort(self.rows, kind="stable")
        return Pairs(self.rows[order], self.slots[order])


class Side(NamedTuple):
    """For every row a number, and for every number what was found."""

    codes: Codes
    found: Sequence[Found]

    def pairs(self, which: Callable[[Found], Sequence[Slot]]) -> Pairs | None:
        """Return every row with each of its slots of one kind."""
        return expanded(self.codes, [which(one) for one in self.found])

    def has_open(self) -> Flags | None:
        """Return for every row whether a filter must be asked; None where none must."""
        flags = [bool(one.open) for one in self.found]
        return np.array(flags, dtype=np.bool_)[self.codes] if any(flags) else None


def expanded(codes: Codes, lists: Sequence[Sequence[Slot]]) -> Pairs | None:
    """Return every row with each slot of the list that its code stands for."""
    widths = np.array([len(one) for one in lists], dtype=np.int64)
    if not widths.any():
        return None
    flat = np.array([slot.number for one in lists for slot in one], dtype=np.int64)
    starts = np.cumsum(widths) - widths
    counts = widths[codes]
    rows = np.repeat(np.arange(len(codes)), counts)
    within = np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts)
    return Pairs(rows, flat[starts[codes[rows]] + within])


class Truths:
    """Of which rows of a batch a lookup holds."""

    def __init__(self, columns: Sequence[Column]) -> None:
        self._columns = columns
        self._places: dict[str, list[int]] = {}
        for place, column in enumerate(columns):
            for name in column.names:
                self._places.setdefault(name, []).append(place)
        self._classes: dict[int, dict[Lookup, list[int]]] = {}

    def joint(self, pairs: Pairs, slots: Mapping[int, Slot]) -> Pairs:
        """Return the pairs of which all clauses of the slot hold."""
        numbers, places = np.unique(pairs.slots, return_inverse=True)
        several = [slots[number].more or () for number in numbers.tolist()]
        rows = pairs.rows
        for depth in range(max(map(len, several), default=0)):
            clauses = [more[depth] if depth < len(more) else None for more in several]
            holds = self._holding(rows, places, clauses)
            rows, places = rows[holds], places[holds]
        return Pairs(rows, numbers[places])

    def _holding(
        self, rows: Codes, places: Codes, clauses: Sequence[frozenset[Lookup] | None]
    ) -> Flags:
        """Tell for every row whether the clause at its place holds; None always does."""
        distinct: dict[frozenset[Lookup] | None, int] = {None: 0}
        numbers = [distinct.setdefault(clause, len(distinct)) for clause in clauses]
        wanted = np.array(numbers, dtype=np.int64)[places]
        holds: Flags = wanted == 0
        for column, lookups in self._asked(distinct):
            # Which class fulfils which clause: few of all that could be, so kept as sorted numbers.
            known = np.array(sorted(lookups), dtype=np.int64)
            keys = column.codes[rows] * len(distinct) + wanted
            spots = np.minimum(np.searchsorted(known, keys), len(known) - 1)
            holds |= known[spots] == keys
        return holds

    def _asked(
        self, clauses: Mapping[frozenset[Lookup] | None, int]
    ) -> Iterator[tuple[Column, set[int]]]:
        """Yield the columns with, as one number, each class and each clause that it fulfils."""
        found: dict[int, set[int]] = {}
        for clause, number in clauses.items():
            for lookup in clause or ():
                for place in self._places[lookup.name]:
                    classes = self._inverse(place).get(lookup, ())
                    found.setdefault(place, set()).update(
                        one * len(clauses) + number for one in classes
                    )
        for place, keys in found.items():
            if keys:
                yield self._columns[place], keys

    def _inverse(self, place: int) -> Mapping[Lookup, list[int]]:
        """Return for every lookup the classes of a column that fulfil it."""
        known = self._classes.get(place)
        if known is None:
            known = self._classes[place] = {}
            for number, fulfilled in enumerate(self._columns[place].fulfilled):
                for lookup in fulfilled:
                    known.setdefault(lookup, []).append(number)
        return known
