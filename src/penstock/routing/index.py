"""The match index: which routes an event goes to, without ever looking at all routes.

Lookups (exact, prefix, suffix) that some filter makes are kept in hash tables. A batch is matched
in steps, none of which works row by row: every distinct value of an attribute becomes the class of
values that fulfil the same lookups; a class leads to routes that match for sure, to those that
match if other lookups hold as well, which the classes of the other columns tell, and to those whose
filter must be asked. It is asked once for every distinct combination of classes; only where it
reads whole values is a group of rows split by those.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple, TypeVar

import numpy as np
import pyarrow as pa

from penstock.events.event import CloudEvent
from penstock.filters import Lookup
from penstock.routing.answers import Answers, Heads
from penstock.routing.classes import Classes, Column, whole
from penstock.routing.groups import Codes, Groups, Numbered, codes, grouped, numbered, split
from penstock.routing.pairs import Pairs, Side, Truths, expanded
from penstock.routing.route import Route
from penstock.routing.slots import NOTHING, Found, Parts, Slot, judged, meaning, reads_whole, slot

T = TypeVar("T")
_MOST_REMEMBERED = 100_000
_Key = tuple[str, frozenset[Lookup] | None]
_Entries = dict[Lookup | None, dict[str, Slot]]


class Matches(NamedTuple):
    """Every pair of a row and a route that it goes to, in the order of the rows."""

    rows: Codes
    numbers: Codes
    """The number of the route."""
    routes: Mapping[int, Route]

    def each(self) -> Iterator[tuple[int, tuple[Route, ...]]]:
        """Yield the rows that go somewhere, each with its routes."""
        rows, starts = np.unique(self.rows, return_index=True)
        found = [self.routes[number] for number in self.numbers.tolist()]
        bounds = pairwise([*starts.tolist(), len(found)])
        for row, (start, end) in zip(rows.tolist(), bounds, strict=True):
            yield row, tuple(found[start:end])


class Index:
    """The routes of one version of the routing table, ready to match."""

    def __init__(self, routes: Iterable[Route] = ()) -> None:
        self._slots: dict[str, Slot] = {}
        self._streams: dict[str, _Entries] = {}
        self._classes = Classes()
        self._remembered: dict[_Key, Found] = {}
        self._answers = Answers()
        self._scattered = 0
        self._numbered: dict[int, Slot] = {}
        self._last = 0
        for route in routes:
            self.put(route)

    def __len__(self) -> int:
        return len(self._slots)

    def put(self, route: Route) -> None:
        """Add a route, or replace the one of the same id."""
        self.drop(route.id)
        if route.stopped or route.paused or route.held:
            return
        self._last += 1
        made = self._numbered[self._last] = slot(self._last, route)
        self._slots[route.id] = made
        self._scattered += made.is_scattered
        self._classes.add(made.reads)
        entries = self._streams.setdefault(route.stream, {})
        for key in made.entries():
            entries.setdefault(key, {})[route.id] = made
        self._forget()

    def drop(self, key: str) -> None:
        """Forget a route; one that is not there is fine."""
        gone = self._slots.pop(key, None)
        if gone is None:
            return
        del self._numbered[gone.number]
        self._scattered -= gone.is_scattered
        self._classes.remove(gone.reads)
        entries = self._streams[gone.route.stream]
        for entry in gone.entries():
            del entries[entry][key]
            if not entries[entry]:
                del entries[entry]
        self._forget()

    def _forget(self) -> None:
        self._remembered.clear()
        self._answers.clear()

    def matches(self, stream: str, event: CloudEvent) -> tuple[Route, ...]:
        """Return the routes of a stream that one event goes to."""
        parts = [self._find(stream, None)]
        for name in self._classes.names():
            fulfilled = self._classes.fulfilled(name, event.text(name))
            if fulfilled:
                parts.append(self._find(stream, fulfilled))
        maybe = [Found(open=part.joint + part.open) for part in parts]
        slots = [*(slot for part in parts for slot in part.sure), *judged(maybe, event)]
        return tuple({slot.route.id: slot.route for slot in slots}.values())

    def match(self, batch: pa.RecordBatch) -> Matches:
        """Return the routes of every row of a batch of events."""
        columns = list(self._classes.columns(batch))
        sides = self._sides(batch.column("stream"), columns)
        found = _present(side.pairs(lambda one: one.sure) for side in sides)
        maybe = _present(side.pairs(lambda one: one.joint) for side in sides)
        if maybe:
            found.append(Truths(columns).joint(Pairs.of(maybe), self._numbered))
        asked = _rows_to_ask(sides)
        if asked is not None:
            some = batch.take(pa.array(asked)), [column.of(asked) for column in columns]
            for pairs in self._asked(*some):
                found.append(Pairs(asked[pairs.rows], pairs.slots))
        pairs = Pairs.of(found).sorted(once=bool(self._scattered))
        met = np.unique(pairs.slots).tolist()
        return Matches(*pairs, {number: self._numbered[number].route for number in met})

    def _sides(self, streams: pa.Array, columns: Sequence[Column]) -> list[Side]:
        """Return what the streams of rows, and the classes of their values, lead to."""
        encoded = streams.dictionary_encode()
        numbers, names = codes(encoded), encoded.dictionary.to_pylist()
        sides = [Side(numbers, [self._find(name, None) for name in names])]
        for column in columns:
            width = len(column.fulfilled)
            together, distinct = _distinct(numbers * width + column.codes)
            places = (divmod(number, width) for number in distinct)
            found = [
                self._find(names[stream], column.fulfilled[number]) for stream, number in places
            ]
            sides.append(Side(together, found))
        return [side for side in sides if any(one is not NOTHING for one in side.found)]

    def _asked(self, batch: pa.RecordBatch, columns: Sequence[Column]) -> list[Pairs]:
        """Return the pairs of rows and slots whose filter says yes, asked once for all alike."""
        groups = _groups(batch, columns)
        heads = [column.of(groups.firsts) for column in columns]
        streams = batch.column("stream").take(pa.array(groups.firsts))
        sides = self._sides(streams, heads)
        found = [[side.found[code] for code in side.codes.tolist()] for side in sides]
        parts: Sequence[Parts] = list(zip(*found, strict=True))
        if self._classes.wholes:
            groups, parts = _split(batch, groups, parts)
        answers = self._answers.of(Heads(batch, groups.firsts, columns), parts)
        return _present([expanded(groups.codes, answers)])

    def _find(self, stream: str, fulfilled: frozenset[Lookup] | None) -> Found:
        """Return what fulfilled lookups lead to; None stands for what is always looked at."""
        key = stream, fulfilled
        known = self._remembered.get(key)
        if known is None:
            if len(self._remembered) > _MOST_REMEMBERED:
                self._remembered.clear()
            entries = self._streams.get(stream, {})
            slots: dict[str, Slot] = {}
            for lookup in (None,) if fulfilled is None else fulfilled:
                slots.update(entries.get(lookup, ()))
            found = meaning(slots.values()) if slots else NOTHING
            known = self._remembered[key] = found
        return known


def _rows_to_ask(sides: Iterable[Side]) -> Codes | None:
    flags = _present(side.has_open() for side in sides)
    return np.flatnonzero(np.logical_or.reduce(flags)) if flags else None


def _present(some: Iterable[T | None]) -> list[T]:
    return [one for one in some if one is not None]


def _distinct(values: Codes) -> tuple[Codes, list[int]]:
    """Return for every value its number, and the values by number."""
    encoded = pa.array(values).dictionary_encode()
    return codes(encoded), encoded.dictionary.to_pylist()


def _groups(batch: pa.RecordBatch, columns: Iterable[Column]) -> Groups:
    always = numbered(batch.column("stream")), numbered(batch.column("specversion"))
    classes = (Numbered(column.codes, len(column.fulfilled)) for column in columns)
    return grouped([*always, *classes])


def _split(
    batch: pa.RecordBatch, groups: Groups, parts: Sequence[Parts]
) -> tuple[Groups, Sequence[Parts]]:
    """Split the groups in which whole values matter, and only those."""
    coarse = np.array(list(map(reads_whole, parts)), dtype=np.bool_)
    if not coarse.any():
        return groups, parts
    rows = np.flatnonzero(coarse[groups.codes])
    names = {name for group in parts for part in group for name in part.whole}
    finer = split(groups, rows, whole(batch.take(pa.array(rows)), names))
    kept = [() if one else group for group, one in zip(parts, coarse.tolist(), strict=True)]
    parents = groups.codes[finer.firsts[len(parts) :]].tolist()
    return finer, [*kept, *(parts[parent] for parent in parents)]
