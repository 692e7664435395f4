"""Events that sinks put into their answers, on their way into a stream."""

from __future__ import annotations

import time

from penstock.delivery import onward
from penstock.delivery.accounts import Account
from penstock.events.entry import Entry
from penstock.ports import Leg

MOST_HOPS = 255


def entries(account: Account) -> list[Entry]:
    """Return the reply events that go into streams: the one they came from, or another of ours."""
    now = time.time_ns() // 1_000
    found = []
    for delivery, response in account.answered:
        route = delivery.route
        stream = delivery.entry.stream if route.replies else route.reply_stream
        if stream is None or delivery.leg is not Leg.SUBSCRIBER:
            continue
        event = onward.reply(response, delivery.destination)
        if event is None:
            continue
        entry = Entry(stream, event, now, delivery.entry.hops + 1)
        # KA-38: a loop of replies ends here instead of filling the disk.
        if entry.hops > MOST_HOPS:
            account.looped(delivery, entry)
        else:
            found.append(entry)
    return found
