"""The match index: which routes an event goes to, without ever looking at all routes.

Lookups (exact, prefix, suffix) that some filter makes are kept in hash tables. A batch is matched in
three steps: every distinct value of an attribute becomes the class of values that fulfil the same
lookups; every distinct combination of classes becomes one group of rows; each group is judged once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from penstock.events.event import CloudEvent
from penstock.events.values import canonical
from penstock.filters import Filter, Lookup
from penstock.formats import arrow
from penstock.routing.lookups import Lookups
from penstock.routing.reads import Reads, decided, reads
from penstock.routing.route import Route

Codes = npt.NDArray[np.int64]
_HUGE = 1 << 62
_MOST_CLASSES = 200_000


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


class Index:
    """The routes of one version of the routing table, ready to match."""

    def __init__(self, routes: Iterable[Route] = ()) -> None:
        self._slots: dict[str, _Slot] = {}
        self._streams: dict[str, dict[Lookup | None, dict[str, _Slot]]] = {}
        self._lookups: dict[str, Lookups] = {}
        self._whole: Counter[str] = Counter()
        self._classes: dict[object, int] = {}
        for route in routes:
            self.put(route)

    def __len__(self) -> int:
        return len(self._slots)

    def put(self, route: Route) -> None:
        """Add a route, or replace the one of the same id."""
        self.drop(route.id)
        if route.stopped:
            return
        condition = route.condition()
        slot = _Slot(route, condition, condition.cover(), decided(condition), reads(condition))
        self._slots[route.id] = slot
        for lookup in slot.reads.lookups | (slot.cover or frozenset()):
            self._lookups.setdefault(lookup.name, Lookups()).add(lookup)
        self._whole.update(slot.reads.whole)
        entries = self._streams.setdefault(route.stream, {})
        for key in _keys(slot):
            entries.setdefault(key, {})[route.id] = slot

    def drop(self, key: str) -> None:
        """Forget a route; one that is not there is fine."""
        slot = self._slots.pop(key, None)
        if slot is None:
            return
        for lookup in slot.reads.lookups | (slot.cover or frozenset()):
            self._lookups[lookup.name].remove(lookup)
        self._whole.subtract(slot.reads.whole)
        entries = self._streams[slot.route.stream]
        for entry in _keys(slot):
            del entries[entry][key]
            if not entries[entry]:
                del entries[entry]

    def matches(self, stream: str, event: CloudEvent) -> tuple[Route, ...]:
        """Return the routes of a stream that an event goes to, in the order of their ids."""
        entries = self._streams.get(stream)
        if not entries:
            return ()
        found: dict[str, _Slot] = dict(entries.get(None, ()))
        for name, lookups in self._lookups.items():
            for lookup in lookups.fulfilled(event.text(name)):
                found.update(entries.get(lookup, ()))
        return tuple(
            slot.route
            for _, slot in sorted(found.items())
            if slot.decided or slot.condition.matches(event)
        )

    def match(self, batch: pa.RecordBatch) -> Matches:
        """Return the routes of every row of a batch of events."""
        if len(self._classes) > _MOST_CLASSES:
            self._classes.clear()
        groups, firsts = self._group(batch)
        heads = batch.select(_SEEN).take(pa.array(firsts))
        columns = [column.to_pylist() for column in heads.columns]
        routes = [self.matches(row[0], _event(*row[1:])) for row in zip(*columns, strict=True)]
        return Matches(groups, routes)

    def _group(self, batch: pa.RecordBatch) -> tuple[Codes, Codes]:
        keys, size = _encode(batch.column("stream"))
        versions = _encode(batch.column("specversion"))
        for codes, width in (versions, *self._classified(batch)):
            if size * width >= _HUGE:
                keys, size = _encode(pa.array(keys))
            keys, size = keys * width + codes, size * width
        groups, width = _encode(pa.array(keys))
        firsts = np.empty(width - 1, dtype=np.int64)
        firsts[groups[::-1]] = np.arange(len(groups) - 1, -1, -1)
        return groups, firsts

    def _classified(self, batch: pa.RecordBatch) -> Iterable[tuple[Codes, int]]:
        old = "0.2" in batch.column("specversion").unique().to_pylist()
        names = {name for name, lookups in self._lookups.items() if lookups}
        names |= {name for name, count in self._whole.items() if count}
        homes: dict[str, list[str]] = {}
        for name in sorted(names):
            for column in _columns(name, old=old):
                homes.setdefault(column, []).append(name)
        for column, readers in homes.items():
            if column != "specversion":
                yield self._classify(column, readers, batch.column(column))

    def _classify(self, column: str, names: list[str], values: pa.Array) -> tuple[Codes, int]:
        encoded = values.dictionary_encode()
        codes, width = _codes(encoded)
        if column != "extensions" and any(self._whole[name] for name in names):
            return codes, width
        distinct = [*encoded.dictionary.to_pylist(), None]
        if column == "extensions":
            classes = [self._extension_class(names, text) for text in distinct]
        else:
            classes = [self._class(names, text) for text in distinct]
        table = np.array(classes, dtype=np.int64)
        return table[codes], len(self._classes) + 1

    def _class(self, names: list[str], text: str | None) -> int:
        key = (text is None, *(self._fulfilled(name, text) for name in names))
        return self._classes.setdefault(key, len(self._classes))

    def _extension_class(self, names: list[str], text: str | None) -> int:
        extensions = arrow.extensions_of(text)
        key = tuple(self._seen(name, extensions.get(name)) for name in names)
        return self._classes.setdefault(key, len(self._classes))

    def _seen(self, name: str, value: object) -> object:
        if self._whole[name]:
            return (type(value), str(value))
        # The canonical text is what lookups compare, so `5` and `"5"` fall into one class.
        text = canonical(value) if isinstance(value, bool | int | str) else None
        return value is None, self._fulfilled(name, text)

    def _fulfilled(self, name: str, text: str | None) -> frozenset[Lookup]:
        lookups = self._lookups.get(name)
        return frozenset() if lookups is None else lookups.fulfilled(text)


def _keys(slot: _Slot) -> Iterable[Lookup | None]:
    return (None,) if slot.cover is None else slot.cover


_ALWAYS_CORE = frozenset({"specversion", "id", "source", "type", "time"})
_RENAMED = {"contenttype": "datacontenttype", "schemaurl": "dataschema"}
_SEEN = [
    "stream",
    "id",
    "source",
    "type",
    "specversion",
    "subject",
    "time",
    "datacontenttype",
    "dataschema",
    "extensions",
]


def _columns(name: str, *, old: bool) -> Iterable[str]:
    """Yield the columns in which an attribute may lie; 0.2 keeps some as extensions."""
    core = _RENAMED.get(name, name)
    if core in arrow.CORE:
        yield core
    if core not in arrow.CORE or name in _RENAMED or (old and name not in _ALWAYS_CORE):
        yield "extensions"


def _event(*values: object) -> CloudEvent:
    *core, extensions = values
    return CloudEvent(*core, extensions=arrow.extensions_of(extensions))  # type: ignore[arg-type]


def _encode(values: pa.Array) -> tuple[Codes, int]:
    return _codes(values.dictionary_encode())


def _codes(encoded: pa.DictionaryArray) -> tuple[Codes, int]:
    """Return one number per row, the last one for null, and how many numbers there can be."""
    absent = len(encoded.dictionary)
    codes = encoded.indices.fill_null(absent).to_numpy(zero_copy_only=False)
    return codes.astype(np.int64), absent + 1
