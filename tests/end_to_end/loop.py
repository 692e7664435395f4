"""The event loop on which receivers and load run, beside the tests."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

T = TypeVar("T")

_GLANCE = 0.02


class Loop:
    """An event loop in a thread of its own."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="end to end")
        self._thread.start()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Return what a coroutine returns."""
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    def close(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


def eventually(holds: Callable[[], object], seconds: float, what: str) -> float:
    """Return after how many seconds something came true; fail when it does not in time."""
    started = asked = time.monotonic()
    while not holds():
        now = time.monotonic()
        if now - started > seconds:
            raise AssertionError(f"not within {seconds:.0f} s: {what}")
        # A question that is dear to ask is asked less often.
        time.sleep(max(_GLANCE, 5 * (now - asked)))
        asked = time.monotonic()
    return time.monotonic() - started
