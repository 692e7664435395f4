"""Events laid into requests for the target of a route."""

from __future__ import annotations

from collections.abc import Mapping

from penstock.bindings import Mode, http
from penstock.events.event import CloudEvent
from penstock.ports import Leg, Request
from penstock.routing.route import ContentMode, Route, Rules


class Packer:
    """Lays one event into messages, each content mode once, however many routes it goes to."""

    def __init__(self, event: CloudEvent) -> None:
        self._event = event
        self._messages: dict[Mode, tuple[list[tuple[str, str]], bytes]] = {}

    def request(self, route: Route, leg: Leg = Leg.SUBSCRIBER) -> Request:
        """Return the request that carries the event to the target, or to the dead letter sink."""
        chosen = mode(route, self._event)
        if chosen not in self._messages:
            self._messages[chosen] = _message(self._event, chosen)
        headers, body = self._messages[chosen]
        return Request(
            route.target.uri if leg is Leg.SUBSCRIBER else (route.policy.dead_letter or ""),
            [*_own_headers(route, leg), *headers],
            body,
            route.policy.timeout,
            route.target.settings,
            route.replies and leg is Leg.SUBSCRIBER,
        )


def mode(route: Route, event: CloudEvent) -> Mode:
    """Return the content mode: structured where binary cannot carry the event (CE-103, CE-119)."""
    if route.target.mode is ContentMode.STRUCTURED or event.data is None:
        return Mode.STRUCTURED
    return Mode.BINARY if http.can_write_binary(event) else Mode.STRUCTURED


def _message(event: CloudEvent, chosen: Mode) -> tuple[list[tuple[str, str]], bytes]:
    message = http.write(event, chosen)
    headers = [(name.decode("ascii"), value.decode("latin-1")) for name, value in message.headers]
    return headers, message.body


def _own_headers(route: Route, leg: Leg) -> list[tuple[str, str]]:
    own = route.target.settings.get("headers")
    headers = list(own.items()) if isinstance(own, Mapping) else []
    if route.rules is Rules.KNATIVE and leg is Leg.SUBSCRIBER:
        headers.append(("prefer", "reply"))
    return headers
