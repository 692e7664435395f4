"""What other programs take of the machine, and what processes use of it."""

from __future__ import annotations

import time
from collections.abc import Iterable
from contextlib import suppress

import psutil

_LEAST = 0.05


class Watch:
    """Tells how much slower everything is because the machine has other things to do."""

    def __init__(self) -> None:
        self._busy = _busy()
        self._since = time.monotonic()
        self._own = _seconds(psutil.Process())

    def factor(self, ours: Iterable[psutil.Process], before: float = 0.0) -> float:
        """Return 1 on a quiet machine, 2 where others took half of it since the watch began.

        `before` is how many seconds our processes had computed when it began.
        """
        mine = _seconds(psutil.Process()) - self._own
        others = _busy() - self._busy - mine - (sum(computing(ours).values()) - before)
        whole = (time.monotonic() - self._since) * (psutil.cpu_count() or 1)
        return 1.0 / min(max(1.0 - others / whole, _LEAST), 1.0)


def memory(processes: Iterable[psutil.Process]) -> int:
    """Return the bytes that processes use together; what they share is counted once."""
    total = 0
    for process in processes:
        with suppress(psutil.NoSuchProcess):
            total += process.memory_full_info().pss
    return total


def computing(processes: Iterable[psutil.Process]) -> dict[int, float]:
    """Return the seconds that each process has computed so far."""
    found = {}
    for process in processes:
        with suppress(psutil.NoSuchProcess):
            found[process.pid] = _seconds(process)
    return found


def _seconds(process: psutil.Process) -> float:
    times = process.cpu_times()
    return times.user + times.system


def _busy() -> float:
    times = psutil.cpu_times()
    return sum(times) - times.idle - getattr(times, "iowait", 0.0) - getattr(times, "guest", 0.0)
