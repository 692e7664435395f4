"""Group commit: requests that arrive together are made durable together."""

from __future__ import annotations

import asyncio
import logging
import queue
import threading
import time
from collections.abc import Callable, Sequence
from functools import partial

from penstock.errors import LimitError, PenstockError, StoreError
from penstock.events.entry import Entry
from penstock.ports import EventLog
from penstock.telemetry import Telemetry

_LOG = logging.getLogger("penstock.api")
_MOST_EVENTS = 500_000
_MOST_BYTES = 256 << 20
# With few clients a request is committed at once. With many, a group waits for those that were
# just answered: fewer, larger commits are faster than two threads that take turns for one lock
# (64 connections on two cores: half as many requests again per second).
_FEW = 8
_MANY = 256
_STEP_SECONDS = 0.001
_MOST_STEPS = 5

_Outcome = PenstockError | None
Resolve = Callable[[_Outcome], None]
_Request = tuple[Sequence[Entry], int, Resolve]


class GroupCommit:
    """Appends to the log: one append for all requests that wait, while the next group gathers.

    All its state belongs to the event loop; its thread sees only the group it is given.
    """

    def __init__(self, log: EventLog, telemetry: Telemetry) -> None:
        self._log = log
        self._telemetry = telemetry
        self._groups: queue.SimpleQueue[list[_Request] | None] = queue.SimpleQueue()
        self._waiting: list[_Request] = []
        self._events = 0
        self._bytes = 0
        self._busy = False
        self._target = 0
        self._timer: asyncio.TimerHandle | None = None
        self._steps = 0
        self._seen = 0

    def start(self) -> None:
        """Start the thread that commits; to be called from the event loop."""
        self._loop = asyncio.get_running_loop()
        self._thread = threading.Thread(target=self._work, name="commit", daemon=True)
        self._thread.start()

    async def close(self) -> None:
        """Finish what waits, then end the thread."""
        await self.append((), 0)
        self._groups.put(None)
        await asyncio.to_thread(self._thread.join)

    async def append(self, entries: Sequence[Entry], size: int) -> None:
        """Return when the entries are durable; `size` is what they weigh in memory, about."""
        future = self._loop.create_future()
        self.submit(entries, size, partial(_resolve, future))
        await future

    def submit(self, entries: Sequence[Entry], size: int, resolve: Resolve) -> None:
        """Have the entries made durable, and the outcome told."""
        if self._events + len(entries) > _MOST_EVENTS or self._bytes + size > _MOST_BYTES:
            msg = "too many events wait to be written: send again in a moment"
            raise LimitError(msg, limit="commit", retry_after=1)
        self._events += len(entries)
        self._bytes += size
        self._waiting.append((entries, size, resolve))
        if not self._busy:
            self._gather()

    def _gather(self) -> None:
        """Commit the group if it is complete, else see to it that it is committed soon."""
        if len(self._waiting) >= self._target > _FEW:
            if self._timer is not None:
                self._timer.cancel()
            self._hand_over()
        elif self._timer is None:
            self._steps = self._seen = 0
            wait = _STEP_SECONDS if self._target > _FEW else 0.0
            self._timer = self._loop.call_later(wait, self._step)

    def _step(self) -> None:
        """Go on waiting only while others keep coming, and never for long."""
        self._steps += 1
        waiting = len(self._waiting)
        if self._target <= _FEW or waiting == self._seen or self._steps == _MOST_STEPS:
            self._hand_over()
            return
        self._seen = waiting
        self._timer = self._loop.call_later(_STEP_SECONDS, self._step)

    def _hand_over(self) -> None:
        self._timer = None
        self._busy = True
        group, self._waiting = self._waiting, []
        self._groups.put(group)

    def _finish(self, group: list[_Request], outcomes: Sequence[_Outcome]) -> None:
        self._busy = False
        self._target = min(len(group) + len(self._waiting), _MANY)
        if self._waiting:
            self._gather()
        for (entries, size, resolve), outcome in zip(group, outcomes, strict=True):
            self._events -= len(entries)
            self._bytes -= size
            resolve(outcome)

    def _work(self) -> None:
        while (group := self._groups.get()) is not None:
            outcomes = self._commit(group)
            try:
                self._loop.call_soon_threadsafe(self._finish, group, outcomes)
            except RuntimeError:  # the loop was closed: nobody waits any more
                return

    def _commit(self, group: list[_Request]) -> list[_Outcome]:
        entries = [entry for request, _, _ in group for entry in request]
        if not entries:
            return [None] * len(group)
        started = time.perf_counter()
        try:
            self._log.append(entries)
        except PenstockError as exc:
            _LOG.error("a commit of %s events failed: %s", len(entries), exc)
            return [exc if request else None for request, _, _ in group]
        except Exception as exc:  # noqa: BLE001 - the thread must live on, whatever the log does
            if len(group) > 1:
                # One request must not spoil it for the others that happen to share its commit.
                return [outcome for request in group for outcome in self._commit([request])]
            _LOG.exception("a commit of %s events failed", len(entries))
            failed = StoreError("the events could not be written", address="log")
            failed.__cause__ = exc
            return [failed]
        self._telemetry.committed(len(entries), time.perf_counter() - started)
        return [None] * len(group)


def _resolve(future: asyncio.Future[None], outcome: _Outcome) -> None:
    if future.done():  # its request was given up
        return
    if outcome is None:
        future.set_result(None)
    else:
        future.set_exception(outcome)
