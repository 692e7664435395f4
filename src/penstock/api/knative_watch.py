"""Watches over HTTP: one JSON document per change, for as long as the client listens."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterable
from dataclasses import dataclass
from typing import Any

import msgspec

from penstock.api import knative_status
from penstock.errors import PenstockError
from penstock.knative.kinds import Kind
from penstock.knative.watch import BOOKMARK, ERROR, Event, Watch

_PAUSE_SECONDS = 0.05
_BOOKMARK_SECONDS = 10.0
_END_OF_INITIAL = {"k8s.io/initial-events-end": "true"}


@dataclass(frozen=True, slots=True)
class Listener:
    """How a client wants to be told of changes."""

    kind: Kind
    seconds: float
    bookmarks: bool
    initial_end: bool
    """Whether a bookmark tells it that it knows all that was there at first."""
    shown: Callable[[Event], Any]


async def lines(watch: Watch, listener: Listener) -> AsyncIterator[bytes]:
    """Yield what happens, as one line each."""
    until = time.monotonic() + listener.seconds
    try:
        yield _lines(listener, await asyncio.to_thread(lambda: list(watch.initial())))
        if listener.initial_end:
            yield _lines(listener, [_bookmark(watch, listener.kind, _END_OF_INITIAL)])
        async for part in _changes(watch, listener, until):
            yield part
    except PenstockError as exc:
        yield _line({"type": ERROR, "object": knative_status.status(exc)})


async def _changes(watch: Watch, listener: Listener, until: float) -> AsyncIterator[bytes]:
    marked, at = watch.version, time.monotonic()
    while time.monotonic() < until:
        events = await asyncio.to_thread(watch.advance)
        if events:
            yield _lines(listener, events)
            continue
        is_due = time.monotonic() - at >= _BOOKMARK_SECONDS and watch.version != marked
        if listener.bookmarks and is_due:
            marked, at = watch.version, time.monotonic()
            yield _lines(listener, [_bookmark(watch, listener.kind)])
        await asyncio.sleep(min(_PAUSE_SECONDS, max(until - time.monotonic(), 0.0)))
    if listener.bookmarks:
        yield _lines(listener, [_bookmark(watch, listener.kind)])


def _bookmark(watch: Watch, kind: Kind, annotations: dict[str, str] | None = None) -> Event:
    metadata: dict[str, Any] = {"resourceVersion": str(watch.version)}
    if annotations:
        metadata["annotations"] = annotations
    found = {"kind": kind.kind, "apiVersion": kind.api_version, "metadata": metadata}
    return Event(BOOKMARK, found)


def _lines(listener: Listener, events: Iterable[Event]) -> bytes:
    return b"".join(_line({"type": one.type, "object": listener.shown(one)}) for one in events)


def _line(document: object) -> bytes:
    return msgspec.json.encode(document) + b"\n"
