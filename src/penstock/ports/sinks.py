"""What is asked of sinks, of the vault and of the clock."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

import msgspec

from penstock.events.event import CloudEvent


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
