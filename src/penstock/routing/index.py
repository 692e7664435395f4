"""The match index: which routes an event goes to, without ever looking at all routes.

Lookups (exact, prefix, suffix) that some filter makes are kept in hash tables. A batch is matched
in three steps: every distinct value of an attribute becomes the class of values that fulfil the
same lookups; every distinct combination of classes becomes one group of rows; each group is judged
once. Only where a filter that reads whole values has to be judged is a group split by those values.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import compress
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from penstock.events.event import CloudEvent
from penstock.filters import Lookup
from penstock.routing.answers import Answers, Heads
from penstock.routing.classes import Classes, Column, whole
from penstock.routing.groups import Codes, Groups, Numbered, grouped, numbered, split
from penstock.routing.route import Route
from penstock.routing.slots import NOTHING, Found, Parts, Slot, judged, meaning, slot, sure

_MOST_REMEMBERED = 100_000
_Entries = dict[Lookup | None, dict[str, Slot]]


class Matches(NamedTuple):
    """For every row its group, and for every group the routes it goes to."""

    groups: Codes
    routes: Sequence[tuple[Route, ...]]


class Index:
    """The routes of one version of the routing table, ready to match."""

    def __init__(self, routes: Iterable[Route] = ()) -> None:
        self._slots: dict[str, Slot] = {}
        self._streams: dict[str, _Entries] = {}
        self._classes = Classes()
        self._remembered: dict[tuple[str, frozenset[Lookup] | None], Found] = {}
        self._answers = Answers()
        for route in routes:
            self.put(route)

    def __len__(self) -> int:
        return len(self._slots)

    def put(self, route: Route) -> None:
        """Add a route, or replace the one of the same id."""
        self.drop(route.id)
        if route.stopped:
            return
        made = slot(route)
        self._slots[route.id] = made
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
        return judged(parts, event)

    def match(self, batch: pa.RecordBatch) -> Matches:
        """Return the routes of every row of a batch of events."""
        columns = list(self._classes.columns(batch))
        groups = _groups(batch, columns)
        parts = self._parts(batch, groups, columns)
        if self._classes.wholes:
            groups, parts = _split(batch, groups, parts)
        unsure = [any(one.open for one in group) for group in parts]
        heads = Heads(batch, groups.firsts[unsure], columns)
        answers = iter(self._answers.of(heads, list(compress(parts, unsure))))
        routes = [
            next(answers) if doubt else sure(group)
            for group, doubt in zip(parts, unsure, strict=True)
        ]
        return Matches(groups.codes, routes)

    def _parts(
        self, batch: pa.RecordBatch, groups: Groups, columns: Iterable[Column]
    ) -> Sequence[Parts]:
        """Return, for every group, what its stream and its classes of values lead to."""
        streams = batch.column("stream").take(pa.array(groups.firsts)).to_pylist()
        always = {stream: self._find(stream, None) for stream in set(streams)}
        sides = [[always[stream] for stream in streams]]
        for column in columns:
            side = self._side(streams, column, column.codes[groups.firsts].tolist())
            if any(one is not NOTHING for one in side):
                sides.append(side)
        return list(zip(*sides, strict=True))

    def _side(self, streams: list[str], column: Column, classes: list[int]) -> list[Found]:
        if len(set(streams)) == 1:
            found = [self._find(streams[0], one) for one in column.fulfilled]
            return [found[number] for number in classes]
        return [
            self._find(stream, column.fulfilled[number])
            for stream, number in zip(streams, classes, strict=True)
        ]

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
            known = self._remembered[key] = meaning(slots.values()) if slots else NOTHING
        return known


def _groups(batch: pa.RecordBatch, columns: Iterable[Column]) -> Groups:
    always = numbered(batch.column("stream")), numbered(batch.column("specversion"))
    classes = (Numbered(column.codes, len(column.fulfilled)) for column in columns)
    return grouped([*always, *classes])


def _split(
    batch: pa.RecordBatch, groups: Groups, parts: Sequence[Parts]
) -> tuple[Groups, Sequence[Parts]]:
    """Split the groups in which whole values matter, and only those."""
    coarse = np.array([any(part.whole for part in group) for group in parts], dtype=np.bool_)
    if not coarse.any():
        return groups, parts
    rows = np.flatnonzero(coarse[groups.codes])
    names = {name for group in parts for part in group for name in part.whole}
    finer = split(groups, rows, whole(batch.take(pa.array(rows)), names))
    kept = [() if one else group for group, one in zip(parts, coarse.tolist(), strict=True)]
    parents = groups.codes[finer.firsts[len(parts) :]].tolist()
    return finer, [*kept, *(parts[parent] for parent in parents)]
