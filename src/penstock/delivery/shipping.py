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
            route.address(leg),
            [*own_headers(route, leg), *headers],
            body,
            route.policy.timeout,
            route.target.settings,
            route.takes_replies and leg is Leg.SUBSCRIBER,
            # A stream of ours gets the reply together with the outcome, without another request.
            reply_to=""
            if route.reply_stream or leg is not Leg.SUBSCRIBER
            else route.reply_to or "",
            wants_error=route.rules is Rules.KNATIVE and bool(route.policy.dead_letter),
        )


def mode(route: Route, event: CloudEvent) -> Mode:
    """Return the content mode: structured where binary cannot carry the event (CE-103, CE-119)."""
    return Mode.STRUCTURED if route.target.mode is not ContentMode.BINARY else _fitting(event)


def message(event: CloudEvent) -> tuple[list[tuple[str, str]], bytes]:
    """Return an event as headers and body, in binary mode where that can carry it."""
    return _message(event, _fitting(event))


def _fitting(event: CloudEvent) -> Mode:
    fits = event.data is not None and http.can_write_binary(event)
    return Mode.BINARY if fits else Mode.STRUCTURED


def _message(event: CloudEvent, chosen: Mode) -> tuple[list[tuple[str, str]], bytes]:
    message = http.write(event, chosen)
    headers = [(name.decode("ascii"), value.decode("latin-1")) for name, value in message.headers]
    return headers, message.body


def own_headers(route: Route, leg: Leg = Leg.SUBSCRIBER) -> list[tuple[str, str]]:
    """Return the headers that the route asks for."""
    own = route.target.settings.get("headers")
    headers = list(own.items()) if isinstance(own, Mapping) else []
    if route.rules is Rules.KNATIVE and route.advertises and leg is Leg.SUBSCRIBER:
        headers.append(("prefer", "reply"))
    return headers
