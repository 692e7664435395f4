"""What the server keeps, as the client sees it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec


class Subscription(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A subscription to be made, or as the server made it (Subscriptions 3.2)."""

    id: str = ""
    """Given by the server; ignored in what is sent."""
    sink: str
    protocol: str = "HTTP"
    source: str | None = None
    types: tuple[str, ...] = ()
    filters: tuple[Mapping[str, Any], ...] = ()
    protocolsettings: Mapping[str, Any] = {}
    config: Mapping[str, Any] = {}
    credential: Mapping[str, Any] = msgspec.field(name="sinkCredential", default_factory=dict)
    paused: bool = False
    """Whether its events wait; see `pause_subscription`. Ignored in what is sent."""
    etag: str = ""
    """Which version it is; an update of it is refused once there is a newer one. Not in lists."""


class Deliveries(msgspec.Struct, frozen=True):
    """What became of the events that a subscription is for, added up."""

    matched: int = 0
    delivered: int = 0
    parked: int = 0
    dead: int = 0
    retried: int = 0
    last_success: float | None = None
    last_error: str | None = None
    last_error_at: float | None = None


class SinkHealth(msgspec.Struct, frozen=True):
    """What is known of a sink."""

    state: str = "up"
    failures: int = 0
    cause: str = ""
    hold_until: float = 0.0


class Backlog(msgspec.Struct, frozen=True):
    """What is still to be done for a subscription."""

    events: int = 0
    unread: int = 0
    """Events of all kinds that nobody has compared with the filters yet."""
    parked: int = 0
    """Deliveries that wait for an attempt."""


class CatchUp(msgspec.Struct, frozen=True):
    """How far it is with events that were published before the start, or during a pause."""

    judged: int = 0
    remaining: int = 0
    skipped: int = 0
    """Events that retention took from the log before they were judged."""


class LastError(msgspec.Struct, frozen=True):
    """The last attempt that failed."""

    at: float
    status: int = 0
    """What the sink answered; 0 when there was no answer."""
    cause: str = ""


class Status(msgspec.Struct, frozen=True):
    """How the deliveries of a subscription go; times are in seconds since 1970."""

    id: str
    stopped: bool
    deliveries: Deliveries
    sink: SinkHealth
    state: str = ""
    """running, catching-up, paused or stopped."""
    reason: str | None = None
    position: str = ""
    """The end of the log, for `startfrom` of another subscription."""
    start: Mapping[str, Any] = {}
    backlog: Backlog = Backlog()
    catchup: CatchUp | None = None
    rates: Mapping[str, float] = {}
    """Per second, over the last minute."""
    last_success: float | None = None
    last_error: LastError | None = None
    next_retry: float | None = None


class DeadLetter(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A delivery that was given up, with its cause and the event."""

    number: int
    route: str
    destination: str
    attempts: int = 0
    status: int = 0
    """The last answer of the destination; 0 when there was none."""
    cause: str = ""
    at: str = ""
    event: Mapping[str, Any] | None = None
    """In JSON format; lists leave it out."""


class Skipped(msgspec.Struct, frozen=True):
    """A dead letter that cannot be sent again."""

    number: int
    why: str


class Retried(msgspec.Struct, frozen=True):
    """What became of the dead letters that were to be sent again."""

    retried: int
    skipped: tuple[Skipped, ...] = ()


class Readiness(msgspec.Struct, frozen=True):
    """Whether everything behind the API is ready, and what is missing if not."""

    ready: bool
    missing: tuple[str, ...] = ()
