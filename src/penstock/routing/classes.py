"""Values of attributes sorted into classes: those of a class are alike to every filter."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from penstock.events.values import canonical
from penstock.filters import Lookup
from penstock.formats import arrow
from penstock.routing.lookups import Lookups
from penstock.routing.reads import Reads

Codes = npt.NDArray[np.int64]
RENAMED = {"contenttype": "datacontenttype", "schemaurl": "dataschema"}
_ALWAYS_CORE = frozenset({"specversion", "id", "source", "type", "time"})
_NONE: frozenset[Lookup] = frozenset()


class Column(NamedTuple):
    """One column of a batch: the class of every row, and what the values of a class fulfil."""

    codes: Codes
    fulfilled: list[frozenset[Lookup]]


class Classes:
    """All that the filters of an index read, counted, so that it can be taken back."""

    def __init__(self) -> None:
        self._lookups: dict[str, Lookups] = {}
        self._whole: Counter[str] = Counter()

    def add(self, reads: Reads) -> None:
        for lookup in reads.lookups:
            self._lookups.setdefault(lookup.name, Lookups()).add(lookup)
        self._whole.update(reads.whole)

    def remove(self, reads: Reads) -> None:
        for lookup in reads.lookups:
            self._lookups[lookup.name].remove(lookup)
        self._whole.subtract(reads.whole)

    def names(self) -> Iterable[str]:
        """Return the attributes that some lookup is about."""
        return self._lookups

    def fulfilled(self, name: str, text: str | None) -> frozenset[Lookup]:
        """Return the lookups on an attribute that a value fulfils."""
        lookups = self._lookups.get(name)
        return _NONE if lookups is None else lookups.fulfilled(text)

    def columns(self, batch: pa.RecordBatch) -> Iterable[Column]:
        """Yield the columns of a batch that some filter reads, as classes."""
        old = "0.2" in batch.column("specversion").unique().to_pylist()
        names = {name for name, lookups in self._lookups.items() if lookups}
        names |= {name for name, count in self._whole.items() if count}
        homes: dict[str, list[str]] = {}
        for name in sorted(names):
            for column in _homes(name, old=old):
                homes.setdefault(column, []).append(name)
        for column, readers in homes.items():
            yield self._column(column, readers, batch.column(column))

    def _column(self, column: str, names: list[str], values: pa.Array) -> Column:
        encoded = values.dictionary_encode()
        distinct = [*encoded.dictionary.to_pylist(), None]
        if column != "extensions" and len(names) == 1 and not self._whole[names[0]]:
            seen = self._lookups[names[0]].fulfilled_by(distinct)
            # Absent fulfils nothing, as many values do, yet a filter may tell it from those.
            keys: list[object] = [*seen[:-1], None]
        else:
            see = self._see_extensions if column == "extensions" else self._see
            pairs = [see(names, text) for text in distinct]
            keys, seen = [key for key, _ in pairs], [found for _, found in pairs]
        classes: dict[object, int] = {}
        table = [classes.setdefault(key, len(classes)) for key in keys]
        fulfilled = [_NONE] * len(classes)
        for code, found in zip(table, seen, strict=True):
            fulfilled[code] = found
        return Column(np.array(table, dtype=np.int64)[codes(encoded)], fulfilled)

    def _see(self, names: list[str], text: str | None) -> tuple[object, frozenset[Lookup]]:
        """Return what tells a value from others, and what it fulfils."""
        found = self.fulfilled(names[0], text)
        for name in names[1:]:
            found |= self.fulfilled(name, text)
        if any(self._whole[name] for name in names):
            return text, found
        return (text is None, found), found

    def _see_extensions(
        self, names: list[str], text: str | None
    ) -> tuple[object, frozenset[Lookup]]:
        extensions = arrow.extensions_of(text)
        keys, together = [], _NONE
        for name in names:
            value = extensions.get(name)
            # The canonical text is what lookups compare, so `5` and `"5"` fall into one class.
            text = canonical(value) if isinstance(value, bool | int | str) else None
            found = self.fulfilled(name, text)
            together |= found
            keys.append((type(value), str(value)) if self._whole[name] else (value is None, found))
        return tuple(keys), together


def _homes(name: str, *, old: bool) -> Iterable[str]:
    """Yield the columns in which an attribute may lie; 0.2 keeps some as extensions."""
    core = RENAMED.get(name, name)
    if core in arrow.CORE:
        yield core
    if core not in arrow.CORE or name in RENAMED or (old and name not in _ALWAYS_CORE):
        yield "extensions"


def codes(encoded: pa.DictionaryArray) -> Codes:
    """Return one number per row; null has the number after those of the values."""
    filled = encoded.indices.fill_null(len(encoded.dictionary))
    return np.asarray(filled.to_numpy(zero_copy_only=False), dtype=np.int64)
