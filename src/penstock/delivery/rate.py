"""Requests kept apart from each other in time; pure, for the time is given."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

_BURST_SECONDS = 0.1
"""So much of its rate may go at once: who looks at the clock every 30 ms cannot do better."""


class Limit(msgspec.Struct, frozen=True):
    """At most so many requests per second under one name."""

    name: str
    rate: float


class Pacer:
    """Tells when the next request of a name may be made."""

    def __init__(self) -> None:
        self._next: dict[str, float] = {}
        self._promised: dict[str, float] = {}

    def knows(self, name: str) -> bool:
        return name in self._next

    def learn(self, limit: Limit, last: float) -> None:
        """Take note of when the last request was made, where another process made it."""
        self._next[limit.name] = last + 1.0 / limit.rate

    def forget_promises(self) -> None:
        """Promise anew from now on, for all who waited come back at once."""
        self._promised.clear()

    def slot(self, limits: Sequence[Limit], now: float) -> float:
        """Return `now` and count a request, or the later time that is promised to it."""
        late = [limit for limit in limits if now < self._next.get(limit.name, 0.0) - slack(limit)]
        if late:
            return max(self._promise(limit, now) for limit in late)
        for limit in limits:
            self._next[limit.name] = max(self._next.get(limit.name, 0.0), now) + 1.0 / limit.rate
        return now

    def _promise(self, limit: Limit, now: float) -> float:
        # Who comes later is promised a later time, so that not all come back at once.
        first = max(self._next[limit.name] - slack(limit), now)
        promised = max(self._promised.get(limit.name, 0.0), first)
        self._promised[limit.name] = promised + 1.0 / limit.rate
        return promised


def slack(limit: Limit) -> float:
    """Return by how many seconds a request may be early."""
    return max(_BURST_SECONDS - 1.0 / limit.rate, 0.0)
