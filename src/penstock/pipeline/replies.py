"""Events that sinks put into their answers."""

from __future__ import annotations

import logging
import time

from penstock.bindings import http
from penstock.delivery.accounts import Account, Delivery
from penstock.errors import PenstockError
from penstock.events.entry import Entry
from penstock.events.event import CloudEvent
from penstock.ports import Leg, Response

_LOG = logging.getLogger("penstock.pipeline")
MOST_HOPS = 255
_OK = 200


def entries(account: Account) -> list[Entry]:
    """Return the reply events that go back into the streams they came from."""
    now = time.time_ns() // 1_000
    found = []
    for delivery, response in account.answered:
        event = reply(delivery, response)
        if event is None:
            continue
        entry = Entry(delivery.entry.stream, event, now, delivery.entry.hops + 1)
        # KA-38: a loop of replies ends here instead of filling the disk.
        if entry.hops > MOST_HOPS:
            account.looped(delivery, entry)
        else:
            found.append(entry)
    return found


def reply(delivery: Delivery, response: Response) -> CloudEvent | None:
    """Return the event in an answer: only a 200 has one, a malformed one is none (KA-10, KA-11)."""
    wanted = delivery.route.replies and delivery.leg is Leg.SUBSCRIBER
    if not wanted or response.status != _OK or not response.headers:
        return None
    headers = [(key.encode(), value.encode()) for key, value in response.headers]
    try:
        return http.read_reply(headers, response.body)
    except PenstockError as exc:
        _LOG.warning("the reply to route %s is dropped: %s", delivery.route.id, exc)
        return None
