"""A small server that receives events, for trying things out."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, MutableMapping
from contextlib import asynccontextmanager, contextmanager
from typing import Any

import uvicorn

from penstock.bindings import http
from penstock.errors import EventError, FormatError, Problem, ResourceError, UnsupportedError
from penstock.events import CloudEvent

_Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
_Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
_ALLOW = (b"allow", b"POST, OPTIONS")


class Receiver:
    """An ASGI application that gives every event it receives to `take`."""

    def __init__(self, take: Callable[[CloudEvent], None]) -> None:
        self._take = take

    async def __call__(self, scope: Mapping[str, Any], receive: _Receive, send: _Send) -> None:
        if scope["type"] != "http":
            return
        match scope["method"]:
            case "POST":
                await _answer(send, *await self._received(scope, receive))
            case "OPTIONS":
                await _answer(send, 200, headers=_handshake(scope["headers"]))
            case _:
                await _answer(send, 405, headers=[_ALLOW])

    async def _received(self, scope: Mapping[str, Any], receive: _Receive) -> tuple[int, str]:
        body = bytearray()
        more = True
        while more:
            message = await receive()
            if message["type"] == "http.disconnect":
                return 400, "the request was not sent whole"
            body += message.get("body", b"")
            more = message.get("more_body", False)
        try:
            events = http.read(scope["headers"], bytes(body))
        except (EventError, FormatError, UnsupportedError) as exc:
            return 400, str(exc)
        for event in events:
            self._take(event)
        return 204, ""


@asynccontextmanager
async def receiving(
    take: Callable[[CloudEvent], None], host: str = "127.0.0.1", port: int = 0
) -> AsyncIterator[str]:
    """Run a receiver on a free port and give its address."""
    listener = _listening(host, port)
    shown = f"[{host}]" if ":" in host else host
    server = _Server(
        uvicorn.Config(
            Receiver(take),
            lifespan="off",
            log_level="error",
            access_log=False,
            timeout_graceful_shutdown=1,
        )
    )
    running = asyncio.create_task(server.serve([listener]))
    try:
        await server.up.wait()
        yield f"http://{shown}:{listener.getsockname()[1]}/"
    finally:
        server.should_exit = True
        await running
        listener.close()


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.up = asyncio.Event()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        # Signals belong to whoever started us.
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.up.set()


def _listening(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        listener.bind((host, port))
    except OSError as exc:
        listener.close()
        raise ResourceError([Problem("host", f"cannot listen on {host}: {exc.strerror}")]) from exc
    return listener


def _handshake(headers: list[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    """Return what allows the asking sender to deliver (HTTP Webhook 4.2)."""
    origin = dict(headers).get(b"webhook-request-origin")
    if origin is None:
        return [_ALLOW]
    return [_ALLOW, (b"webhook-allowed-origin", origin), (b"webhook-allowed-rate", b"*")]


async def _answer(
    send: _Send, status: int, text: str = "", headers: list[tuple[bytes, bytes]] | None = None
) -> None:
    start = [*(headers or []), (b"content-type", b"text/plain; charset=utf-8")]
    await send({"type": "http.response.start", "status": status, "headers": start})
    await send({"type": "http.response.body", "body": text.encode()})
