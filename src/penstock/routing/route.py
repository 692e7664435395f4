"""Routes: standing interests in a stream."""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence

import msgspec

from penstock import filters
from penstock.filters import Filter
from penstock.ports import Credential, Leg, Position, Steps

_MOST_GAPS = 50


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
    BATCH = "batch"
    """Many events in one message."""


class Handshake(enum.StrEnum):
    """Whether a sink is asked for its consent before anything is sent to it (Web Hooks 4)."""

    OFF = "off"
    TRY = "try"
    """Silence counts as consent, a refusal does not."""
    REQUIRE = "require"


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


class Handling(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a target wants beyond one plain request for each event, as soon as it is there."""

    batch: int = 0
    """Most events in one request; 0: they are not sent together."""
    batch_bytes: int = 1 << 20
    linger: float = 0.0
    """Seconds that an event may wait for others."""
    rate: float = 0.0
    """Most requests per second; 0: as many as there are."""
    handshake: Handshake = Handshake.OFF
    credential: Credential | None = None
    headers: Mapping[str, str] = {}
    """Headers with sealed values."""


class Target(msgspec.Struct, frozen=True, omit_defaults=True):
    """Where and how events are sent."""

    uri: str
    protocol: str = "HTTP"
    mode: ContentMode = ContentMode.BINARY
    settings: Mapping[str, object] = {}
    in_flight: int = 32
    """How many requests the destination may have to answer at once."""
    handling: Handling | None = None
    """None for most: what is only asked of some must cost the others nothing."""


class Gap(msgspec.Struct, frozen=True, omit_defaults=True):
    """Events that are left to a catch-up: those of all runs that two versions of the table enclose.

    The query that follows the log decides each run of events by one version. So what a route got
    from that query, and what it did not, is known exactly by versions, and never by positions.
    """

    since: int = 0
    """The version that began it; 0 stands for the version of the document it is read from."""
    until: int | None = None
    """The version that ended it; None while the route is held; 0 as above."""
    start: Position = ()
    """Where it begins, if not with the first run of version `since`."""

    def dated(self, version: int) -> Gap:
        """Return the gap with the version of its document where it stands for that."""
        until = version if self.until == 0 else self.until
        return Gap(self.since or version, until, self.start)

    def bounds(self, steps: Steps) -> tuple[Position | None, Position | None]:
        """Return where it begins, and up to where it is known to reach; None where nobody knows."""
        start = self.start or steps.first(self.since)
        # As long as no run was decided by the version that ends it, it grows with every run.
        end = (steps.first(self.until) if self.until else None) or steps.frontier
        return start, end


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
    reply_to: str | None = None
    """Where an event in the answer is sent, if not back into the stream."""
    reply_stream: str | None = None
    """The stream behind `reply_to`, where it is one of ours."""
    advertises: bool = True
    """Whether requests say that a reply is processed; only under the rules of Knative (KN-037)."""
    stopped: bool = False
    """Set when the sink said that it is gone for good (CE-124)."""
    paused: bool = False
    """Set while no new event is taken; what waits already is still delivered."""
    held: bool = False
    """Set while nothing is sent until the route is resumed; its last gap is open then."""
    gaps: tuple[Gap, ...] = ()
    """What is evaluated by a catch-up, because the query that follows the log did not."""
    clipped: bool = False
    """Whether it was to start before what the log still had."""

    @property
    def takes_replies(self) -> bool:
        """Tell whether an event in the answer goes anywhere."""
        return self.replies or self.reply_to is not None

    def address(self, leg: Leg) -> str:
        """Return where events go on a leg."""
        match leg:
            case Leg.SUBSCRIBER:
                return self.target.uri
            case Leg.DEAD_LETTER:
                return self.policy.dead_letter or ""
            case Leg.REPLY:
                return self.reply_to or ""

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
        """Tell whether an event at that place is late enough for the route."""
        return offset >= (self.start[partition] if partition < len(self.start) else 0)

    def dated(self, version: int) -> Route:
        """Return the route as it must be written again: its gaps say which version made them."""
        if not self.gaps:
            return self
        return msgspec.structs.replace(self, gaps=tuple(gap.dated(version) for gap in self.gaps))

    def hold(self) -> Route:
        """Return the route held: what the next runs bring is left for later."""
        if self.held:
            return self
        gaps = (*self.gaps, Gap())
        if len(gaps) > _MOST_GAPS:
            # What lies between the two was delivered and will be again: at least once.
            gaps = (*gaps[:-2], msgspec.structs.replace(gaps[-2], until=None))
        return msgspec.structs.replace(self, held=True, gaps=gaps)

    def resume(self) -> Route:
        """Return the route running: what came while it was held is left to a catch-up."""
        if not self.held:
            return self
        gaps = tuple(
            msgspec.structs.replace(gap, until=0) if gap.until is None else gap for gap in self.gaps
        )
        return msgspec.structs.replace(self, held=False, gaps=gaps)
