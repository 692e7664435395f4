"""When a route that wants special handling may send: its sink has consented, and it is its turn."""

from __future__ import annotations

import secrets

from penstock.delivery import handshake
from penstock.delivery.dispatch import attempt
from penstock.delivery.handshake import Hold, Permission, Permissions
from penstock.delivery.rate import Limit, Pacer
from penstock.pipeline.homes import Hook
from penstock.ports import Clock, Ledger, Sink
from penstock.routing.route import Handling, Handshake, Route

_TRUSTED = 1.0
"""Seconds for which a permission is used without a look into the store."""
_KEY_BYTES = 32
PACED = "it waits for its turn, as the rate asks"


class Gate:
    """What a process knows of permissions and of the last requests of limited routes."""

    def __init__(self, permissions: Permissions, hook: Hook, ledger: Ledger, clock: Clock) -> None:
        self.pacer = Pacer()
        self.origin = hook.origin
        self._permissions = permissions
        self._hook = hook
        self._ledger = ledger
        self._clock = clock
        self._seen: dict[str, tuple[Permission, float]] = {}

    def is_open(self, route: Route) -> bool:
        """Tell whether a route may send as much as it likes, as far as this process knows."""
        return self.hold(route) is None and not self._limits(route)

    def hold(self, route: Route) -> Hold | None:
        """Return what keeps a route from sending, or None."""
        handling = route.target.handling
        if handling is None or handling.handshake is Handshake.OFF:
            return None
        now = self._clock.now()
        found = handshake.hold(handling, self._permission(route.target.uri), now)
        # Another process may have been told yes since: then nothing must wait any longer.
        return found and handshake.hold(handling, self._look(route.target.uri), now)

    def turn(self, route: Route) -> float:
        """Return the time when a request of the route may be made; it counts if that is now."""
        limits, now = self._limits(route), self._clock.now()
        for limit in limits:
            if not self.pacer.knows(limit.name):
                self.pacer.learn(limit, self._last_request(route))
        return self.pacer.slot(limits, now) if limits else now

    async def ask(self, route: Route, sink: Sink) -> Permission:
        """Ask the sink of a route for its consent, and remember what it says."""
        handling = route.target.handling or Handling()
        known = self._permissions.get(route.target.uri, self.origin)
        callback = ""
        if self._hook.callback:
            known, token = self._permissions.keyed(known, lambda: secrets.token_hex(_KEY_BYTES))
            callback = f"{self._hook.callback}/{token}"
        asked = handshake.asking(known, handling)
        # Written first: whoever answers the callback at once must be known.
        self._permissions.put(asked)
        response = await attempt(sink, handshake.question(asked, callback))
        return self._learned(handshake.answered(asked, response, self._clock.now()))

    def _learned(self, permission: Permission) -> Permission:
        newest = self._permissions.get(permission.destination, self.origin)
        # It may have been granted by callback while the sink was silent here.
        kept = handshake.newer(newest, permission)
        if kept != newest:
            self._permissions.put(kept)
        self._seen[kept.destination] = kept, self._clock.now()
        return kept

    def _permission(self, destination: str) -> Permission:
        now = self._clock.now()
        found, at = self._seen.get(destination, (None, 0.0))
        return self._look(destination) if found is None or now - at > _TRUSTED else found

    def _look(self, destination: str) -> Permission:
        found = self._permissions.get(destination, self.origin)
        self._seen[destination] = found, self._clock.now()
        return found

    def _limits(self, route: Route) -> list[Limit]:
        handling = route.target.handling or Handling()
        asks = handling.handshake is not Handshake.OFF
        return handshake.limits(route, self._permission(route.target.uri) if asks else None)

    def _last_request(self, route: Route) -> float:
        """Return when a request of a route was last settled, whichever process made it."""
        tally = self._ledger.standing(route.id, route.target.uri, self._clock.now()).tally
        times = (tally.last_success, tally.last_error_at)
        return max((time for time in times if time), default=0.0)
