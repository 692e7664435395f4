"""What filters said of groups of rows, kept for the next batch."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa

from penstock.events.event import CloudEvent
from penstock.formats import arrow
from penstock.routing.classes import Column
from penstock.routing.groups import Codes
from penstock.routing.slots import Parts, Slot, judged, reads_whole

_MOST = 20_000
# Groups must have this many rows on average, or the next batch will hardly have them again.
_SHARED = 4
_Key = tuple[object, ...] | None
_SEEN = ["id", "source", "type", *arrow.CORE[:1], *arrow.CORE[4:], "extensions"]


@dataclass(frozen=True, slots=True)
class Heads:
    """One row of each group."""

    batch: pa.RecordBatch
    rows: Codes
    columns: Sequence[Column]

    def keys(self) -> Iterable[tuple[object, ...]]:
        """Yield for each group its stream, its version and the keys of its classes."""
        taken = pa.array(self.rows)
        always = [
            self.batch.column(name).take(taken).to_pylist() for name in ("stream", "specversion")
        ]
        classes = (
            [column.keys[code] for code in column.codes[self.rows].tolist()]
            for column in self.columns
        )
        return zip(*always, *classes, strict=True)

    def events(self, numbers: Sequence[int]) -> Iterable[CloudEvent]:
        """Yield events as far as filters see them."""
        batch = self.batch.select(_SEEN).take(pa.array(self.rows[numbers]))
        columns = (column.to_pylist() for column in batch.columns)
        for *core, extensions in zip(*columns, strict=True):
            yield CloudEvent(*core, arrow.extensions_of(extensions))  # type: ignore[call-arg]


class Answers:
    """What groups pass; rows of the same classes get the same answer, in every batch."""

    def __init__(self) -> None:
        self._known: dict[_Key, tuple[Slot, ...]] = {}

    def clear(self) -> None:
        """Forget everything, as the routes are others."""
        self._known.clear()

    def of(self, heads: Heads, groups: Sequence[Parts]) -> list[tuple[Slot, ...]]:
        """Return the slots that groups pass; an event is made of a head only where it is needed."""
        if len(groups) > heads.batch.num_rows // _SHARED:
            return list(map(judged, groups, heads.events(range(len(groups)))))
        if not groups:
            return []
        keys = list(map(_key, heads.keys(), groups))
        known = [self._known.get(key) for key in keys]
        asked = [number for number, answer in enumerate(known) if answer is None]
        events = zip(asked, heads.events(asked), strict=True)
        new = {number: judged(groups[number], event) for number, event in events}
        self._keep({keys[number]: answer for number, answer in new.items()})
        return [new[number] if answer is None else answer for number, answer in enumerate(known)]

    def _keep(self, answers: Mapping[_Key, tuple[Slot, ...]]) -> None:
        if len(self._known) + len(answers) > _MOST:
            self._known.clear()
        if len(answers) <= _MOST:
            self._known.update(answers)
            self._known.pop(None, None)


def _key(key: _Key, group: Parts) -> _Key:
    """Return the key, or None where more than it says must be known."""
    return None if reads_whole(group) else key
