"""Ingest: events in, 202 once they are durable; plain ASGI, for every event passes here."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence

import msgspec
from starlette.types import Message, Receive, Scope, Send

from penstock.api import problems
from penstock.api.backlog import Backlog
from penstock.api.commit import GroupCommit, Resolve
from penstock.bindings import http
from penstock.control import Limits
from penstock.errors import LimitError, PenstockError
from penstock.events import CloudEvent
from penstock.events.entry import Entry
from penstock.telemetry import Telemetry

_ALLOW = "POST, OPTIONS"
_ACCEPTED: Message = {
    "type": "http.response.start",
    "status": 202,
    "headers": [(b"content-length", b"0")],
}
_NO_BODY: Message = {"type": "http.response.body"}
_LINGER_SECONDS = 2.0

_Headers = Sequence[tuple[bytes, bytes]]


class Ingest:
    """Takes what is published to a stream."""

    def __init__(
        self, commits: GroupCommit, backlog: Backlog, limits: Limits, telemetry: Telemetry
    ) -> None:
        self._commits = commits
        self._backlog = backlog
        self._event_bytes = limits.event_bytes
        self._batch_bytes = limits.batch_bytes
        self._telemetry = telemetry

    async def __call__(self, stream: str, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] != "POST":
            await self._other_method(scope, send)
            return
        try:
            taken = await self._take(stream, scope["headers"], receive)
        except PenstockError as exc:
            await self._refuse(problems.answer(exc), receive, send)
            return
        if taken:
            await send(_ACCEPTED)
            await send(_NO_BODY)

    def take(self, stream: str, headers: _Headers, body: bytes, resolve: Resolve) -> bool:
        """Store the events of a whole request, or leave it alone: False means no and no trace."""
        size = len(body)
        try:
            self._backlog.check()
            events = http.read(headers, body)
            if not events or size + self._weight(headers) > self._event_bytes:
                return False
            now = time.time_ns() // 1_000
            entries = [Entry(stream, event, now) for event in events]
            self._commits.submit(entries, size, self._counting(stream, len(events), size, resolve))
        except PenstockError:
            return False
        return True

    def _counting(self, stream: str, events: int, size: int, resolve: Resolve) -> Resolve:
        def resolved(error: PenstockError | None) -> None:
            if error is None:
                self._telemetry.accepted(stream, events, size)
            else:
                self._telemetry.refused(problems.status(error))
            resolve(error)

        return resolved

    async def _take(self, stream: str, headers: _Headers, receive: Receive) -> bool:
        """Store the events of a request; False when the client went away before it had sent all."""
        self._backlog.check()
        weight = self._weight(headers)
        body = await self._body(receive)
        if body is None:
            return False
        events = http.read(headers, body)
        if len(body) + weight > self._event_bytes:
            self._check_sizes(events)
        if events:
            now = time.time_ns() // 1_000
            await self._commits.append([Entry(stream, event, now) for event in events], len(body))
            self._telemetry.accepted(stream, len(events), len(body))
        return True

    def _weight(self, headers: _Headers) -> int:
        """Return the weight of the headers; refuse a body that is announced as too large."""
        weight = 0
        for name, value in headers:
            weight += len(value)
            if name == b"content-length" and int(value) > self._batch_bytes:
                raise _too_large(self._batch_bytes)
        return weight

    async def _body(self, receive: Receive) -> bytes | None:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        body: bytes = message["body"]
        if not message["more_body"]:
            return body
        return await self._long_body(body, receive)

    async def _long_body(self, first: bytes, receive: Receive) -> bytes | None:
        parts, size = [first], len(first)
        while size <= self._batch_bytes:
            message = await receive()
            if message["type"] == "http.disconnect":
                return None
            parts.append(message["body"])
            size += len(parts[-1])
            if not message["more_body"] and size <= self._batch_bytes:
                return b"".join(parts)
        raise _too_large(self._batch_bytes)

    def _check_sizes(self, events: Sequence[CloudEvent]) -> None:
        heavy = [
            f"event {index} has {size} bytes"
            for index, event in enumerate(events)
            if (size := _size(event, self._event_bytes)) > self._event_bytes
        ]
        if heavy:
            msg = f"an event may have {self._event_bytes} bytes; {', '.join(heavy)}"
            raise LimitError(msg, limit="event_bytes")

    async def _other_method(self, scope: Scope, send: Send) -> None:
        if scope["method"] == "OPTIONS":
            await send(_options(scope["headers"]))
            await send(_NO_BODY)
            return
        detail = f"events are published with POST, not {scope['method']}"
        await _send(problems.plain(405, detail, (("allow", _ALLOW),)), send)

    async def _refuse(self, answer: problems.Answer, receive: Receive, send: Send) -> None:
        self._telemetry.refused(answer.status)
        if answer.status != 413:  # noqa: PLR2004
            await _send(answer, send)
            return
        # Closing at once would reset the connection under a client that still sends, and it would
        # never see the answer. So its bytes are thrown away for a moment.
        headers = (*answer.headers, ("connection", "close"))
        await send(_start(answer.status, headers))
        await send({"type": "http.response.body", "body": answer.body, "more_body": True})
        await _linger(receive)
        await send(_NO_BODY)


async def _linger(receive: Receive) -> None:
    try:
        async with asyncio.timeout(_LINGER_SECONDS):
            while (await receive()).get("more_body"):
                pass
    except TimeoutError:
        return


def _size(event: CloudEvent, limit: int) -> int:
    """Return the size of an event: attributes and data, white space between them not counted."""
    data = event.data or b""
    size = len(data) + sum(
        len(name) + len(str(value).encode("utf-8", "replace"))
        for name, value in event.attributes().items()
    )
    if size <= limit or not data:
        return size
    try:
        return size - len(data) + len(msgspec.json.format(data, indent=-1))
    except (msgspec.MsgspecError, RecursionError):
        return size


def _too_large(limit: int) -> LimitError:
    return LimitError(
        f"a request may have {limit} bytes: send smaller batches", limit="batch_bytes"
    )


def _options(headers: _Headers) -> Message:
    """Return the answer to OPTIONS; to a sender that asks, with consent (Web Hooks 4.2)."""
    if all(name != b"webhook-request-origin" for name, _ in headers):
        return _start(204, (("allow", _ALLOW),))
    consent = (("webhook-allowed-origin", "*"), ("webhook-allowed-rate", "*"))
    return _start(200, (("allow", _ALLOW), *consent, ("content-length", "0")))


def _start(status: int, headers: Sequence[tuple[str, str]]) -> Message:
    lines = [(name.encode("ascii"), value.encode("latin-1")) for name, value in headers]
    return {"type": "http.response.start", "status": status, "headers": lines}


async def _send(answer: problems.Answer, send: Send) -> None:
    await send(_start(answer.status, answer.headers))
    await send({"type": "http.response.body", "body": answer.body})
