"""Writes that arrive together are committed together: one wait for the disk serves them all."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from penstock.errors import PenstockError
from penstock.ports import Change

WriteEach = Callable[[Sequence[Sequence[Change]]], list[int | PenstockError]]


@dataclass(slots=True, eq=False)
class _Waiting:
    changes: Sequence[Change]
    result: int | PenstockError | None = None


class Together:
    """Lets threads wait for each other; whoever is next writes for all who came meanwhile."""

    def __init__(self, write_each: WriteEach) -> None:
        self._write_each = write_each
        self._queue: list[_Waiting] = []
        self._queueing = threading.Lock()
        self._turn = threading.Lock()

    def write(self, changes: Sequence[Change]) -> int:
        """Return the version that the changes made, or raise what kept them from being made."""
        mine = _Waiting(changes)
        with self._queueing:
            self._queue.append(mine)
        with self._turn:
            if mine.result is None:
                self._serve()
        if isinstance(mine.result, int):
            return mine.result
        raise mine.result or AssertionError

    def waiting(self) -> int:
        """Return how many writes wait for their turn."""
        with self._queueing:
            return len(self._queue)

    def _serve(self) -> None:
        with self._queueing:
            served, self._queue = self._queue, []
        try:
            results: Sequence[int | PenstockError] = self._write_each(
                [each.changes for each in served]
            )
        except PenstockError as exc:
            results = [exc] * len(served)
        for waiting, result in zip(served, results, strict=True):
            waiting.result = result
