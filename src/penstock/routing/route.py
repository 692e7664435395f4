"""Routes: standing interests in a stream."""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence

import msgspec

from penstock import filters
from penstock.filters import Filter
from penstock.ports import Position


class Backoff(enum.StrEnum):
    """How waits grow from one attempt to the next."""

    LINEAR = "linear"
    EXPONENTIAL = "exponential"


class Rules(enum.StrEnum):
    """By which table an answer is judged."""

    SUBSCRIPTION = "subscription"
    KNATIVE = "knative"


class ContentMode(enum.StrEnum):
    """How an event is laid into a message."""

    BINARY = "binary"
    STRUCTURED = "structured"


class Policy(msgspec.Struct, frozen=True, omit_defaults=True):
    """How long and how often delivery is tried, and what happens then."""

    retries: int | None = None
    """Retries after the first attempt; None: as many as fit into `span`."""
    delay: float = 1.0
    backoff: Backoff = Backoff.EXPONENTIAL
    longest_delay: float = 600.0
    span: float = 86_400.0
    """Seconds after the first attempt in which retries are made; only where `retries` is None."""
    timeout: float = 30.0
    dead_letter: str | None = None


class Target(msgspec.Struct, frozen=True, omit_defaults=True):
    """Where and how events are sent."""

    uri: str
    protocol: str = "HTTP"
    mode: ContentMode = ContentMode.BINARY
    settings: Mapping[str, object] = {}
    in_flight: int = 32
    """How many requests the destination may have to answer at once."""


class Route(msgspec.Struct, frozen=True, omit_defaults=True):
    """A standing interest in a stream: match, target, policy and start position."""

    id: str
    stream: str
    target: Target
    start: Position = ()
    """Events from here on are evaluated; the empty position means from the beginning."""
    source: str | None = None
    types: tuple[str, ...] = ()
    filters: Sequence[Mapping[str, object]] = ()
    policy: Policy = Policy()
    rules: Rules = Rules.SUBSCRIPTION
    replies: bool = False
    """Whether an event in the answer goes back into the stream."""
    stopped: bool = False
    """Set when the sink said that it is gone for good (CE-124)."""

    def condition(self) -> Filter:
        """Return source, types and filters as one filter: they combine by AND (SUB-023)."""
        documents = list(self.filters)
        if self.types:
            options = [{"exact": {"type": text}} for text in dict.fromkeys(self.types)]
            documents.append(options[0] if len(options) == 1 else {"any": options})
        if self.source is not None:
            documents.append({"exact": {"source": self.source}})
        return filters.parse_all(documents)

    def takes(self, partition: int, offset: int) -> bool:
        """Tell whether an event at that place was published after the route was made."""
        return offset >= (self.start[partition] if partition < len(self.start) else 0)
