"""All that Penstock asks of the world: protocols, and the plain values they exchange."""

from __future__ import annotations

import enum
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

import msgspec

from penstock.events.entry import Entry
from penstock.events.event import CloudEvent

if TYPE_CHECKING:
    import pyarrow as pa

# The next offset of every partition of the log. The embedded log has one partition, Kafka has many.
Position = tuple[int, ...]


class Span(msgspec.Struct, frozen=True, order=True):
    """The offsets from `start` up to, but not including, `end` of one partition."""

    partition: int
    start: int
    end: int

    def __len__(self) -> int:
        return self.end - self.start


class Chunk(msgspec.Struct, frozen=True):
    """Consecutive events of one partition as they lie in the log."""

    partition: int
    offset: int
    batch: pa.RecordBatch


class EventLog(Protocol):
    """A durable sequence of events under increasing offsets."""

    def append(self, entries: Sequence[Entry]) -> Position:
        """Store the entries together or not at all, durably, and return the position after them."""
        ...

    def read(self, span: Span) -> Iterator[Chunk]:
        """Yield the events of a span in order."""
        ...

    def bounds(self) -> tuple[Position, Position]:
        """Return the first position that is still kept, and the head: the next to be written."""
        ...

    def wait(self, position: Position, seconds: float) -> Position:
        """Return the head as soon as it is beyond a position, or after some seconds."""
        ...

    def reach(self, position: Position, events: int, size: int) -> Position:
        """Return how far one can read from a position within a number of events and bytes."""
        ...

    def since(self, time: int) -> Position:
        """Return where what was stored from a time on (µs since 1970) begins."""
        ...

    def trim(self, before: Position) -> int:
        """Forget what lies before a position and return how many events that were."""
        ...

    def close(self) -> None: ...


class Document(msgspec.Struct, frozen=True):
    """One resource at rest."""

    kind: str
    key: str
    body: bytes
    version: int
    """The version of the store that wrote it: grows with every change of anything."""


class Put(msgspec.Struct, frozen=True, tag=True):
    """Create or replace a resource; `expected` is the version to replace (0: must not exist)."""

    kind: str
    key: str
    body: bytes
    expected: int | None = None


class Drop(msgspec.Struct, frozen=True, tag=True):
    """Remove a resource."""

    kind: str
    key: str
    expected: int | None = None


class Check(msgspec.Struct, frozen=True, tag=True):
    """Refuse the whole write unless a resource still has a version (0: does not exist)."""

    kind: str
    key: str
    expected: int


class Clear(msgspec.Struct, frozen=True, tag=True):
    """Remove every resource whose key starts with a prefix."""

    kind: str
    prefix: str


Change = Put | Drop | Check | Clear


class ResourceStore(Protocol):
    """Resources at rest, each version of them readable for a while."""

    @property
    def embedded(self) -> bool:
        """Whether `get` is so short that an event loop can wait for it."""
        ...

    def stamp(self) -> int:
        """Return a number that is another after every change that was made through this object."""
        ...

    def get(self, kind: str, key: str) -> Document | None: ...

    def page(
        self, kind: str, after: str = "", limit: int = 1000, prefix: str = ""
    ) -> list[Document]:
        """Return documents of a kind in the order of their keys, those after a key."""
        ...

    def count(self, kind: str, prefix: str = "") -> int:
        """Return how many documents of a kind have keys that start with a prefix."""
        ...

    def write(self, changes: Sequence[Change]) -> int:
        """Apply all changes or none, and return the version they made."""
        ...

    def changes(self, kind: str, since: int, until: int) -> tuple[list[Document], list[str]]:
        """Return what was put, and the keys dropped, after version `since` up to `until`."""
        ...

    def version(self) -> int: ...

    def close(self) -> None: ...


class Credential(msgspec.Struct, frozen=True, omit_defaults=True):
    """How a sink is told who sends (`sinkCredential`); what is secret of it is sealed."""

    kind: str
    """PLAIN, ACCESSTOKEN or REFRESHTOKEN."""
    sealed: str
    identifier: str = ""
    token_type: str = ""
    expires: float = 0.0
    endpoint: str = ""
    """Where a refresh token is traded."""


class Vault(Protocol):
    """Seals secrets: what is sealed tells nothing to those who have not the key."""

    def seal(self, text: str, purpose: str) -> str: ...

    def unseal(self, sealed: str, purpose: str) -> str:
        """Return what was sealed for the same purpose, or raise StoreError."""
        ...


class Response(msgspec.Struct, frozen=True):
    """What a sink answered; status 0 when there was no answer, with the reason in `error`."""

    status: int
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = b""
    error: str = ""
    elapsed: float = 0.0
    ours: bool = False
    """Whether the obstacle is on our side: then it says nothing of the destination."""
    onward: Onward | None = None
    """What became of the event in the answer, where it had to be sent on."""

    def header(self, name: str) -> str | None:
        return next((value for key, value in self.headers if key == name), None)


class Onward(msgspec.Struct, frozen=True):
    """A reply that was sent on, and the answer to it."""

    event: CloudEvent
    response: Response


class Guard(msgspec.Struct, frozen=True):
    """What a request still needs when it is sent; its secrets are sealed."""

    route: str
    headers: Mapping[str, str] = {}
    """Headers with sealed values."""
    credential: Credential | None = None


class Request(msgspec.Struct, frozen=True):
    """A message addressed to a sink."""

    uri: str
    headers: Sequence[tuple[str, str]]
    body: bytes
    timeout: float = 30.0
    settings: Mapping[str, object] = {}
    """The protocol settings of the route, such as `method`."""
    wants_body: bool = False
    """Whether the body of the answer matters (a reply may be in it)."""
    guard: Guard | None = None
    reply_to: str = ""
    """Where an event in the answer is sent on to."""
    wants_error: bool = False
    """Whether the body of a refusal matters (a dead letter quotes it)."""


class Sink(Protocol):
    """A way to deliver messages over one protocol."""

    async def send(self, request: Request) -> Response: ...

    async def close(self) -> None: ...


class Clock(Protocol):
    """The time, in seconds since 1970."""

    def now(self) -> float: ...


class Leg(enum.IntEnum):
    """Where a parked delivery is headed."""

    SUBSCRIBER = 0
    DEAD_LETTER = 1
    REPLY = 2
    """Only for a reply that was given up and is tried once more by hand."""


SHELVED = 1e11
"""Deliveries of a held route are due and end this many seconds later than any clock shows."""


class Parked(msgspec.Struct, frozen=True):
    """A delivery that waits for its next attempt."""

    route: str
    destination: str
    partition: int
    offset: int
    due: float
    deadline: float
    """When its whole schedule has passed: a destination that is still down then makes it dead."""
    attempts: int = 0
    leg: Leg = Leg.SUBSCRIBER
    status: int = 0
    cause: str = ""
    entry: bytes | None = None
    """The event itself, where it is not in the log any more or never was."""
    id: int = 0


class Dead(msgspec.Struct, frozen=True):
    """A delivery that was given up, with the event and the cause."""

    route: str
    destination: str
    partition: int
    offset: int
    attempts: int
    status: int
    cause: str
    at: float
    entry: bytes
    id: int = 0


class State(enum.StrEnum):
    """What is known of a destination."""

    UP = "up"
    SLOW = "slow"
    DOWN = "down"


class Health(msgspec.Struct, frozen=True):
    """The state of one destination, as the last settlement left it."""

    destination: str
    state: State = State.UP
    failures: int = 0
    """Failures in a row."""
    hold_until: float = 0.0
    """No request before this time: a Retry-After, or the wait before the next probe."""
    cause: str = ""
    since: float = 0.0


class Tally(msgspec.Struct, frozen=True):
    """What happened to one route, added up."""

    route: str
    matched: int = 0
    delivered: int = 0
    parked: int = 0
    dead: int = 0
    retried: int = 0
    last_success: float | None = None
    last_error: str | None = None
    last_error_at: float | None = None
    last_status: int | None = None
    """What the sink answered then; 0 when there was no answer."""

    def plus(self, other: Tally) -> Tally:
        """Return both added up; of the last happenings the other's count."""
        return Tally(
            self.route,
            self.matched + other.matched,
            self.delivered + other.delivered,
            self.parked + other.parked,
            self.dead + other.dead,
            self.retried + other.retried,
            other.last_success or self.last_success,
            other.last_error or self.last_error,
            other.last_error_at or self.last_error_at,
            self.last_status if other.last_error_at is None else other.last_status,
        )


class Plan(msgspec.Struct, frozen=True):
    """A run of events and the version of the routing table that decides them."""

    start: Position
    end: Position
    version: int


class Settlement(msgspec.Struct, frozen=True):
    """All that one micro-batch, or one group of retries, leaves behind."""

    generation: int
    position: Position | None = None
    outcomes: Sequence[bytes] = ()
    """Record batches of outcomes, as bytes."""
    parked: Sequence[Parked] = ()
    finished: Sequence[int] = ()
    """Ids of parked deliveries that are done with, one way or the other."""
    dead: Sequence[Dead] = ()
    batch: tuple[int, float] | None = None
    """Events and seconds of a micro-batch."""
    tallies: Sequence[Tally] = ()
    health: Sequence[Health] = ()


class Ledger(Protocol):
    """What became of every delivery; also the pipeline's only checkpoint."""

    def begin(self) -> int:
        """Start a new generation of the pipeline; older ones cannot settle from now on."""
        ...

    def plan(self, start: Position, end: Position, version: int) -> Plan:
        """Record the plan for a run that starts at `start`, or return the one already recorded."""
        ...

    def planned(self, start: Position) -> Plan | None:
        """Return the plan recorded for a run that starts at `start`."""
        ...

    def position(self) -> Position | None:
        """Return how far deliveries are settled; None before the first settlement."""
        ...

    def settle(self, settlement: Settlement) -> None:
        """Write everything of a settlement in one transaction."""
        ...

    def health(self) -> Mapping[str, Health]: ...

    def standing(self, route: str, destination: str, now: float) -> Standing:
        """Return all that is known of one route."""
        ...

    def close(self) -> None: ...


class WaitingRoom(Protocol):
    """The parked deliveries, as the retry query sees them."""

    def wait(self, ahead: float, seconds: float) -> bool:
        """Tell, within some seconds, whether something is due or will be in `ahead` seconds."""
        ...

    def destinations(self) -> Mapping[str, float]:
        """Return each destination with parked deliveries, and when its earliest can be sent."""
        ...

    def claim(self, destination: str, now: float, limit: int, lease: float) -> list[Parked]:
        """Take due deliveries of a destination; they come back when the lease has passed."""
        ...

    def expire(self, destination: str, now: float, limit: int) -> list[Parked]:
        """Take deliveries of a destination whose deadline has passed."""
        ...

    def hasten(self, destination: str, now: float) -> int:
        """Make everything that waits for a destination due, for it has come back."""
        ...


class Steps(msgspec.Struct, frozen=True):
    """Where the runs of events begin that each version of the routing table decides."""

    starts: tuple[tuple[int, Position], ...] = ()
    """Versions in rising order, each with the start of its first run."""
    frontier: Position | None = None
    """The end of the last run; None before the first."""

    def first(self, version: int) -> Position | None:
        """Return the start of the first run that a version or a later one decides, if any did."""
        return next((start for known, start in self.starts if known >= version), None)


class Caught(msgspec.Struct, frozen=True):
    """How far a catch-up has come."""

    route: str
    since: int
    """The version that began the gap; with the route this is the name of the catch-up."""
    position: Position
    judged: int = 0
    skipped: int = 0
    """Events that the log had forgotten before they were judged."""


class CatchUps(Protocol):
    """The catch-ups of routes, and what waits for a resume, as the pipeline sees them."""

    def steps(self) -> Steps: ...

    def forget_steps(self, before: int) -> None:
        """Remove what is known of versions before one."""
        ...

    def all(self) -> list[Caught]: ...

    def advance(
        self, before: Caught | None, after: Caught, parked: Sequence[Parked], now: float
    ) -> bool:
        """Park deliveries and note how far that is, together, unless it was done already."""
        ...

    def forget(self, caught: Caught) -> None: ...

    def waiting(self, route: str, most: int) -> int:
        """Return how many deliveries of a route wait, counting no further than `most`."""
        ...

    def shelved(self) -> list[str]:
        """Return the routes that have deliveries which wait for a resume."""
        ...

    def release(self, route: str, now: float, limit: int) -> int:
        """Make shelved deliveries of a route due, with the time they had left."""
        ...

    def discard(self, route: str, limit: int) -> int:
        """Remove shelved deliveries of a route that is gone."""
        ...

    def close(self) -> None: ...


class Rates(msgspec.Struct, frozen=True):
    """Events per second of one route, over the last minute."""

    matched: float = 0.0
    delivered: float = 0.0


class Standing(msgspec.Struct, frozen=True):
    """All that the ledger knows of one route, at one moment."""

    tally: Tally
    health: Health
    rates: Rates = Rates()
    next_retry: float | None = None
    settled: Position | None = None
    steps: Steps = Steps()
    caught: tuple[Caught, ...] = ()


class DeadLetters(Protocol):
    """The deliveries that were given up, for people to look at."""

    def page(self, before: int | None, limit: int, route: str | None = None) -> list[Dead]: ...

    def get(self, number: int) -> Dead | None: ...

    def retry(self, numbers: Sequence[int], now: float, deadline: float) -> int:
        """Park the given dead letters again, due at once, and return how many there were."""
        ...

    def drop(self, numbers: Sequence[int]) -> int:
        """Throw the given dead letters away and return how many there were."""
        ...
