"""The match index: which routes an event goes to, without ever looking at all routes.

Lookups (exact, prefix, suffix) that some filter makes are kept in hash tables. A batch is matched
in three steps: every distinct value of an attribute becomes the class of values that fulfil the same
lookups; every distinct combination of classes becomes one group of rows; each group is judged once.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import repeat
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from penstock.events.event import CloudEvent
from penstock.filters import Filter, Lookup
from penstock.formats import arrow
from penstock.routing.classes import RENAMED, Classes, Codes, Column, codes
from penstock.routing.reads import Reads, decided, reads
from penstock.routing.route import Route

_HUGE = 1 << 62
_MOST_REMEMBERED = 100_000
_AMBIGUOUS = frozenset(RENAMED) | frozenset(RENAMED.values())


class Matches(NamedTuple):
    """For every row its group, and for every group the routes it goes to."""

    groups: Codes
    routes: Sequence[tuple[Route, ...]]


class _Slot(NamedTuple):
    route: Route
    condition: Filter
    cover: frozenset[Lookup] | None
    decided: bool
    reads: Reads


class _Found(NamedTuple):
    """What fulfilled lookups lead to: routes that match for sure, and slots to be judged."""

    sure: tuple[Route, ...]
    open: tuple[_Slot, ...]


_NOTHING = _Found((), ())
_Entries = dict[Lookup | None, dict[str, _Slot]]


class Index:
    """The routes of one version of the routing table, ready to match."""

    def __init__(self, routes: Iterable[Route] = ()) -> None:
        self._slots: dict[str, _Slot] = {}
        self._streams: dict[str, _Entries] = {}
        self._classes = Classes()
        self._remembered: dict[tuple[str, frozenset[Lookup] | None], _Found] = {}
        for route in routes:
            self.put(route)

    def __len__(self) -> int:
        return len(self._slots)

    def put(self, route: Route) -> None:
        """Add a route, or replace the one of the same id."""
        self.drop(route.id)
        if route.stopped:
            return
        slot = _slot(route)
        self._slots[route.id] = slot
        self._classes.add(slot.reads)
        entries = self._streams.setdefault(route.stream, {})
        for key in _keys(slot):
            entries.setdefault(key, {})[route.id] = slot
        self._remembered.clear()

    def drop(self, key: str) -> None:
        """Forget a route; one that is not there is fine."""
        slot = self._slots.pop(key, None)
        if slot is None:
            return
        self._classes.remove(slot.reads)
        entries = self._streams[slot.route.stream]
        for entry in _keys(slot):
            del entries[entry][key]
            if not entries[entry]:
                del entries[entry]
        self._remembered.clear()

    def matches(self, stream: str, event: CloudEvent) -> tuple[Route, ...]:
        """Return the routes of a stream that one event goes to."""
        found = [self._find(stream, None)]
        for name in self._classes.names():
            fulfilled = self._classes.fulfilled(name, event.text(name))
            if fulfilled:
                found.append(self._find(stream, fulfilled))
        return _judge(found, event)

    def match(self, batch: pa.RecordBatch) -> Matches:
        """Return the routes of every row of a batch of events."""
        columns = list(self._classes.columns(batch))
        groups, firsts = _groups(batch, columns)
        heads = batch.select(_SEEN).take(pa.array(firsts))
        streams = heads.column("stream").to_pylist()
        # Per column, for every group, what its class of values leads to.
        sides = [self._side(streams, column, column.codes[firsts].tolist()) for column in columns]
        always = {stream: self._find(stream, None) for stream in set(streams)}
        parts = list(zip((always[stream] for stream in streams), *sides, strict=True))
        return Matches(groups, _settle(parts, heads))

    def _side(self, streams: list[str], column: Column, classes: list[int]) -> list[_Found]:
        return [
            self._find(stream, column.fulfilled[number]) if column.fulfilled[number] else _NOTHING
            for stream, number in zip(streams, classes, strict=True)
        ]

    def _find(self, stream: str, fulfilled: frozenset[Lookup] | None) -> _Found:
        """Return what fulfilled lookups lead to; None stands for what is always looked at."""
        key = stream, fulfilled
        found = self._remembered.get(key)
        if found is None:
            if len(self._remembered) > _MOST_REMEMBERED:
                self._remembered.clear()
            entries = self._streams.get(stream, {})
            slots: dict[str, _Slot] = {}
            for lookup in (None,) if fulfilled is None else fulfilled:
                slots.update(entries.get(lookup, ()))
            found = self._remembered[key] = _Found(
                tuple(slot.route for slot in slots.values() if slot.decided),
                tuple(slot for slot in slots.values() if not slot.decided),
            )
        return found


def _slot(route: Route) -> _Slot:
    condition = route.condition()
    cover, read = condition.cover(), reads(condition)
    # An attribute with two names may lie in two columns; only the filter knows which one counts.
    sure = decided(condition) and not condition.names() & _AMBIGUOUS
    both = Reads(read.lookups | (cover or frozenset()), read.whole)
    return _Slot(route, condition, cover, sure, both)


def _keys(slot: _Slot) -> Iterable[Lookup | None]:
    return (None,) if slot.cover is None else slot.cover


def _sure(parts: Sequence[_Found]) -> tuple[Route, ...]:
    sure = [part.sure for part in parts if part.sure]
    if len(sure) <= 1:
        return sure[0] if sure else ()
    # A route whose filter is an alternative may be found through two attributes.
    return tuple({route.id: route for routes in sure for route in routes}.values())


def _settle(groups: list[tuple[_Found, ...]], heads: pa.RecordBatch) -> list[tuple[Route, ...]]:
    """Return the routes of every group; an event is made of its head only where one is needed."""
    unsure = [any(part.open for part in parts) for parts in groups]
    rows: Iterable[tuple[Any, ...]] = repeat(())
    if any(unsure):
        rows = zip(*(heads.column(name).to_pylist() for name in _SEEN[1:]), strict=True)
    return [
        _judge(parts, _event(row)) if doubt else _sure(parts)
        for parts, doubt, row in zip(groups, unsure, rows, strict=False)
    ]


def _judge(parts: Sequence[_Found], event: CloudEvent) -> tuple[Route, ...]:
    found = {route.id: route for part in parts for route in part.sure}
    for part in parts:
        for slot in part.open:
            if slot.route.id not in found and slot.condition.matches(event):
                found[slot.route.id] = slot.route
    return tuple(found.values())


def _groups(batch: pa.RecordBatch, columns: Sequence[Column]) -> tuple[Codes, Codes]:
    """Return the group of every row, and the first row of every group."""
    keys, size = _numbered(batch.column("stream"))
    versions = _numbered(batch.column("specversion"))
    for numbers, width in (versions, *((part.codes, len(part.fulfilled)) for part in columns)):
        if size * width >= _HUGE:
            keys, size = _numbered(pa.array(keys))
        keys, size = keys * width + numbers, size * width
    groups, width = _numbered(pa.array(keys))
    firsts = np.empty(width - 1, dtype=np.int64)
    firsts[groups[::-1]] = np.arange(len(groups) - 1, -1, -1)
    return groups, firsts


def _numbered(values: pa.Array) -> tuple[Codes, int]:
    encoded = values.dictionary_encode()
    return codes(encoded), len(encoded.dictionary) + 1


_SEEN = ["stream", "id", "source", "type", *arrow.CORE[:1], *arrow.CORE[4:], "extensions"]


def _event(row: tuple[Any, ...]) -> CloudEvent:
    *core, extensions = row
    return CloudEvent(*core, arrow.extensions_of(extensions))
