"""One destination during an epoch of retries: how many requests it may have, and when."""

from __future__ import annotations

from penstock.pipeline.work import retry_share
from penstock.ports import Health, State
from penstock.routing.route import Route

_SLOW = 0.5
_MARGIN = 1.5


class Lane:
    """What the retry query knows of one destination."""

    def __init__(self, destination: str) -> None:
        self.health = Health(destination)
        self.open = 0
        self.due = 0.0
        self.expire_after = 0.0
        self.asking = False
        """Whether the sink is being asked for its consent."""
        self.leaving = False
        """Whether it is fast again and only the many open requests keep it from being called up."""
        self.answer_seconds = 0.0
        """How long the slowest recent answer took."""

    def room(self, route: Route, now: float) -> int:
        """Return how many more requests may be opened now."""
        if now < self.health.hold_until:
            return 0
        if self.health.state is State.DOWN:
            return 1 - self.open
        allowed = route.target.in_flight
        recent = now < self.health.since + self._handover(route)
        shared = self.health.state is State.UP or self.leaving or recent
        return (retry_share(route) if shared else allowed) - self.open

    def _handover(self, route: Route) -> float:
        """Return for how long requests that a micro-batch left behind may still be open."""
        # Nothing takes back a request: the sink has it until it answers, or for the whole timeout.
        if self.answer_seconds < _SLOW:
            return route.policy.timeout
        return min(self.answer_seconds * _MARGIN, route.policy.timeout)

    def answered(self, seconds: float) -> None:
        """Remember how slow the destination is, forgetting slowly."""
        self.answer_seconds = max(seconds, self.answer_seconds * 0.9)
