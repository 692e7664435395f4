"""Values of attributes sorted into classes: those of a class are alike to every filter."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from penstock.events.values import canonical
from penstock.filters import Lookup
from penstock.formats import arrow
from penstock.routing.groups import Codes, Numbered, codes, numbered
from penstock.routing.lookups import Lookups
from penstock.routing.reads import Reads

RENAMED = {"contenttype": "datacontenttype", "schemaurl": "dataschema"}
_NULL = pa.scalar(None, pa.string())
_NONE: frozenset[Lookup] = frozenset()
MANY = 500
"""From so many values on, looking them up all together is quicker than one by one."""


class Column(NamedTuple):
    """One column of a batch: the class of every row, and of every class its key and its lookups."""

    codes: Codes
    keys: Sequence[object]
    """What tells a class from the others, in this batch and in the next."""
    fulfilled: Sequence[frozenset[Lookup]]
    names: Sequence[str] = ()
    """The attributes that lie in it."""

    def of(self, rows: Codes) -> Column:
        """Return the same of some rows only."""
        return self._replace(codes=self.codes[rows])


class Classes:
    """The lookups, and the presence, that the filters of an index read of each attribute.

    All is counted, so that it can be taken back.
    """

    def __init__(self) -> None:
        self._lookups: dict[str, Lookups] = {}
        self._presence: Counter[str] = Counter()
        self.wholes = 0
        """How many filters read whole values, which no class tells apart."""

    def add(self, reads: Reads) -> None:
        for lookup in reads.lookups:
            self._lookups.setdefault(lookup.name, Lookups()).add(lookup)
        self._presence.update(reads.presence)
        self.wholes += bool(reads.whole)

    def remove(self, reads: Reads) -> None:
        for lookup in reads.lookups:
            self._lookups[lookup.name].remove(lookup)
        self._presence.subtract(reads.presence)
        self.wholes -= bool(reads.whole)

    def names(self) -> Iterable[str]:
        """Return the attributes that some lookup is about."""
        return self._lookups

    def fulfilled(self, name: str, text: str | None) -> frozenset[Lookup]:
        """Return the lookups on an attribute that a value fulfils."""
        lookups = self._lookups.get(name)
        return _NONE if lookups is None else lookups.fulfilled(text)

    def columns(self, batch: pa.RecordBatch) -> Iterable[Column]:
        """Yield the columns of a batch that some filter reads, as classes."""
        names = {name for name, lookups in self._lookups.items() if lookups}
        names |= {name for name, count in self._presence.items() if count}
        for home in _homes(names, batch):
            yield self._column(home)._replace(names=home.names)

    def _column(self, home: _Home) -> Column:
        if home.is_json:
            return self._extensions(home)
        wanted = [self._lookups[name] for name in home.names if self._lookups.get(name)]
        if any(not lookups.ask_presence for lookups in wanted):
            return self._texts(home)
        present = _NONE.union(*(lookups.fulfilled("") for lookups in wanted))
        return Column(_absent(home.values), (present, None), (present, _NONE))

    def _texts(self, home: _Home) -> Column:
        encoded = home.values.dictionary_encode()
        first, *rest = (self._lookups[name] for name in home.names if name in self._lookups)
        if not rest and len(encoded.dictionary) > MANY:
            return _sorted(encoded, first)
        distinct = [*encoded.dictionary.to_pylist(), None]
        seen = first.fulfilled_by(distinct)
        for lookups in rest:
            more = lookups.fulfilled_by(distinct)
            seen = [found | other for found, other in zip(seen, more, strict=True)]
        # Absent fulfils nothing, as many values do, yet a filter may tell it from those.
        return _column(encoded, [*seen[:-1], None], seen)

    def _extensions(self, home: _Home) -> Column:
        encoded = home.values.dictionary_encode()
        distinct = [*encoded.dictionary.to_pylist(), None]
        pairs = [self._see(home.names, arrow.extensions_of(text)) for text in distinct]
        return _column(encoded, [key for key, _ in pairs], [found for _, found in pairs])

    def _see(
        self, names: Sequence[str], extensions: Mapping[str, object]
    ) -> tuple[object, frozenset[Lookup]]:
        """Return what tells some extensions from others, and what they fulfil."""
        keys, together = [], _NONE
        for name in names:
            value = extensions.get(name)
            found = _NONE if value is None else self._of(name, value)
            together |= found
            keys.append((value is None, found))
        return tuple(keys), together

    def _of(self, name: str, value: object) -> frozenset[Lookup]:
        text = _text(value)
        if text is not None:
            return self.fulfilled(name, text)
        # A map has no text that could fulfil anything, yet it is present.
        present = Lookup("prefix", name, "")
        return self.fulfilled(name, "") & {present}


def _sorted(encoded: pa.DictionaryArray, lookups: Lookups) -> Column:
    found = lookups.sorted(encoded.dictionary)
    table = np.append(found.codes, len(found.fulfilled))
    return Column(table[codes(encoded)], (*found.fulfilled, None), (*found.fulfilled, _NONE))


def whole(batch: pa.RecordBatch, names: Collection[str]) -> Iterable[Numbered]:
    """Yield the columns of a batch that attributes lie in, values of another type as others."""
    for home in _homes(names, batch):
        if not home.is_json:
            yield numbered(home.values)
            continue
        encoded = home.values.dictionary_encode()
        distinct = map(arrow.extensions_of, [*encoded.dictionary.to_pylist(), None])
        keys = [tuple(_typed(one.get(name)) for name in home.names) for one in distinct]
        found = _column(encoded, keys, [_NONE] * len(keys))
        yield Numbered(found.codes, len(found.fulfilled))


def _typed(value: object) -> tuple[type, str]:
    return type(value), str(value)


def _absent(values: pa.Array) -> Codes:
    return np.asarray(values.is_null().to_numpy(zero_copy_only=False), dtype=np.int64)


def _column(
    encoded: pa.DictionaryArray, keys: Iterable[object], seen: Sequence[frozenset[Lookup]]
) -> Column:
    """Return values with equal keys as one class; the last key is that of null."""
    classes: dict[object, int] = {}
    table = [classes.setdefault(key, len(classes)) for key in keys]
    fulfilled = [_NONE] * len(classes)
    for code, found in zip(table, seen, strict=True):
        fulfilled[code] = found
    return Column(np.array(table, dtype=np.int64)[codes(encoded)], tuple(classes), fulfilled)


def _text(value: object) -> str | None:
    """Return what lookups compare, as `CloudEvent.text` has it: `5` and `"5"` are alike."""
    if isinstance(value, float):
        return msgspec.json.encode(value).decode()
    return canonical(value) if isinstance(value, bool | int | str) else None


def has_old(batch: pa.RecordBatch) -> bool:
    """Tell whether there are events of version 0.2, whose attributes may be maps."""
    return "0.2" in batch.column("specversion").unique().to_pylist()


class _Home(NamedTuple):
    """Where attributes may lie: a column with their texts, or with all extensions as JSON."""

    names: Sequence[str]
    values: pa.Array
    is_json: bool = False


def _homes(names: Collection[str], batch: pa.RecordBatch) -> Iterator[_Home]:
    """Yield where attributes may lie in a batch, always in the same order."""
    old = pc.equal(batch.column("specversion"), "0.2") if has_old(batch) else None
    core: dict[str, list[str]] = {}
    for name in sorted(names):
        core.setdefault(RENAMED.get(name, name), []).append(name)
    for column in filter(core.__contains__, arrow.CORE):
        yield _Home(core[column], _of_its_version(column, batch, old))
    extensions = [name for name in sorted(names) if _is_extension(name, old=old is not None)]
    if extensions:
        yield _Home(extensions, batch.column("extensions"), is_json=True)
    if old is not None and "subject" in names:
        yield _Home(["subject"], pc.if_else(old, batch.column("extensions"), _NULL), is_json=True)


def _of_its_version(column: str, batch: pa.RecordBatch, old: pa.Array | None) -> pa.Array:
    values = batch.column(column)
    # The subject is an extension in 0.2, and only there.
    return values if column != "subject" or old is None else pc.if_else(old, _NULL, values)


def _is_extension(name: str, *, old: bool) -> bool:
    """Tell whether an attribute may lie among the extensions, the subject apart."""
    core = RENAMED.get(name, name)
    return core not in arrow.CORE or name in RENAMED or (old and core in RENAMED.values())
