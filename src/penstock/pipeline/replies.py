"""Events that sinks put into their answers."""

from __future__ import annotations

import time
from collections.abc import Iterable

from penstock.bindings import http
from penstock.delivery.accounts import Delivery
from penstock.errors import PenstockError
from penstock.events.event import CloudEvent
from penstock.events.entry import Entry
from penstock.ports import Leg, Response

MOST_HOPS = 255
_OK = 200


def entries(answered: Iterable[tuple[Delivery, Response]]) -> list[Entry]:
    """Return the reply events that go back into the streams they came from."""
    now = time.time_ns() // 1_000
    found = []
    for delivery, response in answered:
        event = reply(delivery, response)
        # KA-38: a loop of replies ends here instead of filling the disk.
        if event is not None and delivery.entry.hops < MOST_HOPS:
            hops = delivery.entry.hops + 1
            found.append(Entry(delivery.entry.stream, event, now, hops))
    return found


def reply(delivery: Delivery, response: Response) -> CloudEvent | None:
    """Return the event in an answer: only a 200 has one, a malformed one is none (KA-10, KA-11)."""
    wanted = delivery.route.replies and delivery.leg is Leg.SUBSCRIBER
    if not wanted or response.status != _OK or not response.headers:
        return None
    headers = [(key.encode(), value.encode()) for key, value in response.headers]
    try:
        return http.read_reply(headers, response.body)
    except PenstockError:
        return None
