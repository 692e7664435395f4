"""An event together with how it came in."""

from __future__ import annotations

import msgspec

from penstock.events.event import CloudEvent


class Entry(msgspec.Struct, frozen=True):
    """An event as a stream received it."""

    stream: str
    event: CloudEvent
    received: int
    """Microseconds since 1970."""
    hops: int = 0
    """How many replies led to this event; a reply has one more than the event it answers."""
