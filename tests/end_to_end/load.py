"""A stream of events under which things are killed, slow or down."""

from __future__ import annotations

import asyncio
import itertools
import time
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Self

import aiohttp

from tests.end_to_end.loop import Loop

_PAUSE = 0.05
_TIMEOUT = aiohttp.ClientTimeout(total=30.0)

Attributes = Callable[[int], Mapping[str, str]]
"""Number of an event → what its headers say besides id, source and specversion."""


class Load:
    """Publishes so many events per second, and knows which of them the server acknowledged."""

    def __init__(self, loop: Loop, url: str, attributes: Attributes, rate: float) -> None:
        self._loop = loop
        self._url = url
        self._attributes = attributes
        self._rate = rate
        self._connections = max(min(int(rate / 30), 24), 2)
        self._numbers = itertools.count()
        self._stopping = False
        self._senders: list[asyncio.Task[None]] = []
        self.sent: dict[str, float] = {}
        self.acknowledged: dict[str, float] = {}
        self.refused: Counter[int] = Counter()
        self.broken = 0
        """Requests without an answer: their events may or may not be kept."""

    def __enter__(self) -> Self:
        self._loop.run(self._start())
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.run(self._stop())

    def pace(self, seconds: float = 1.0) -> float:
        """Return how many events per second were acknowledged lately."""
        since = time.time() - seconds
        return sum(at > since for at in list(self.acknowledged.values())) / seconds

    async def _start(self) -> None:
        session = aiohttp.ClientSession(timeout=_TIMEOUT)
        senders = (self._send_all(session, number) for number in range(self._connections))
        self._session = session
        self._senders = [asyncio.ensure_future(sender) for sender in senders]

    async def _stop(self) -> None:
        self._stopping = True
        await asyncio.gather(*self._senders)
        await self._session.close()

    async def _send_all(self, session: aiohttp.ClientSession, place: int) -> None:
        gap = self._connections / self._rate
        due = time.monotonic() + gap * place / self._connections
        while not self._stopping:
            await asyncio.sleep(max(due - time.monotonic(), 0.0))
            # What could not be sent in time is not sent later in a burst: the pace stays even.
            due = max(due + gap, time.monotonic())
            await self._send(session, next(self._numbers))

    async def _send(self, session: aiohttp.ClientSession, number: int) -> None:
        event = str(number)
        headers = {
            "ce-specversion": "1.0",
            "ce-id": event,
            "ce-source": "/load",
            "content-type": "application/json",
            **{f"ce-{name}": text for name, text in self._attributes(number).items()},
        }
        self.sent[event] = time.time()
        try:
            async with session.post(self._url, headers=headers, data=b'{"load":true}') as answer:
                if answer.status == 202:
                    self.acknowledged[event] = time.time()
                else:
                    self.refused[answer.status] += 1
        except (aiohttp.ClientError, TimeoutError):
            self.broken += 1
            await asyncio.sleep(_PAUSE)
