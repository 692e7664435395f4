"""An HTTP server by hand: it answers with any bytes, or not at all."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

Answer = Callable[["Wire", asyncio.StreamWriter], Awaitable[None]]


@dataclass
class Wire:
    """What a server saw."""

    port: int = 0
    connections: int = 0
    heads: list[str] = field(default_factory=list)
    bodies: list[bytes] = field(default_factory=list)
    readers: list[asyncio.StreamReader] = field(default_factory=list)
    asked: asyncio.Event = field(default_factory=asyncio.Event)
    over: asyncio.Event = field(default_factory=asyncio.Event)

    def uri(self, path: str = "/") -> str:
        return f"http://127.0.0.1:{self.port}{path}"


def says(*parts: bytes, close: bool = False) -> Answer:
    """Answer every request with these bytes, each part on its own."""

    async def answer(_: Wire, writer: asyncio.StreamWriter) -> None:
        for part in parts:
            writer.write(part)
            await writer.drain()
        if close:
            writer.close()

    return answer


async def never(wire: Wire, _: asyncio.StreamWriter) -> None:
    """Do not answer as long as the server lives."""
    await wire.over.wait()


@asynccontextmanager
async def server(answer: Answer) -> AsyncIterator[Wire]:
    wire, handlers = Wire(), set[asyncio.Task[None]]()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        handlers.add(task)
        wire.connections += 1
        wire.readers.append(reader)
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            while not writer.is_closing() and not wire.over.is_set():
                await _request(wire, reader)
                await answer(wire, writer)
        writer.close()

    listening = await asyncio.start_server(serve, "127.0.0.1", 0)
    wire.port = listening.sockets[0].getsockname()[1]
    try:
        yield wire
    finally:
        wire.over.set()
        listening.close()
        await asyncio.gather(*handlers)


async def _request(wire: Wire, reader: asyncio.StreamReader) -> None:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    lines = dict(line.lower().split(": ", 1) for line in head.splitlines()[1:] if line)
    wire.bodies.append(await reader.readexactly(int(lines.get("content-length", "0"))))
    wire.heads.append(head)
    wire.asked.set()
