"""A clock that stands still until it is told to go on."""

from __future__ import annotations


class FakeClock:
    """A `Clock` for tests."""

    def __init__(self, start: float = 1_000_000.0) -> None:
        self._now = start

    def now(self) -> float:
        return self._now

    def advance(self, seconds: float) -> float:
        """Let time pass and return what the clock shows then."""
        self._now += seconds
        return self._now
