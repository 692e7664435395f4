"""A real HTTP server that records what reaches it and answers as it is told."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import httptools

from tests.end_to_end.loop import Loop, eventually


@dataclass(frozen=True, slots=True)
class Answer:
    """What a sink answers; the status 0 hangs up instead."""

    status: int = 200
    delay: float = 0.0
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""

    def message(self) -> bytes:
        fields = {**self.headers, "content-length": str(len(self.body))}
        lines = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
        return f"HTTP/1.1 {self.status} Told\r\n{lines}\r\n".encode() + self.body


@dataclass(slots=True)
class Received:
    """One request, as it reached a sink."""

    method: str
    headers: Mapping[str, str]
    body: bytes
    at: float
    answered: float | None = None
    status: int | None = None

    @property
    def event(self) -> str:
        """The id of the event, in whichever mode it came."""
        found = self.headers.get("ce-id")
        return str(json.loads(self.body)["id"]) if found is None else found.strip('"')


Behaviour = Callable[[Received], Answer]


class Sink:
    """One path of a receiver."""

    def __init__(self, url: str, behaviour: Behaviour) -> None:
        self.url = url
        self.behaviour = behaviour
        self.received: list[Received] = []
        self.open = 0
        self.most_open = 0

    def answers(self, *answers: Answer) -> None:
        """Give these answers in turn; the last one for ever."""
        left = list(answers)
        self.behaviour = lambda _: left.pop(0) if len(left) > 1 else left[0]

    def events(self) -> list[str]:
        """Return the id of every request that was answered with success."""
        return [one.event for one in list(self.received) if _is_success(one)]

    def attempts(self, event: str) -> list[Received]:
        return [one for one in list(self.received) if one.event == event]

    def wait(self, count: int = 1, seconds: float = 30.0) -> list[Received]:
        """Return the requests once there are so many."""
        eventually(lambda: len(self.received) >= count, seconds, f"{count} requests at {self.url}")
        return list(self.received)

    def wait_for(self, event: str, seconds: float = 30.0) -> Received:
        """Return the last request with an event once it was answered with success."""
        what = f"event {event} at {self.url}"
        eventually(lambda: any(map(_is_success, self.attempts(event))), seconds, what)
        return self.attempts(event)[-1]


class Receiver:
    """Many sinks behind one port, which can be closed and opened again."""

    def __init__(self, loop: Loop) -> None:
        self._loop = loop
        self._server: asyncio.Server | None = None
        self.port = 0
        self.sinks: dict[str, Sink] = {}
        self.connections: set[Connection] = set()
        self.open()

    def sink(self, path: str, behaviour: Behaviour = lambda _: Answer()) -> Sink:
        made = Sink(f"http://127.0.0.1:{self.port}/{path}", behaviour)
        self.sinks[f"/{path}"] = made
        return made

    def open(self) -> None:
        self._loop.run(self._open())

    def close(self) -> None:
        """Refuse connections and cut those that are open."""
        self._loop.run(self._close())

    async def _open(self) -> None:
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(lambda: Connection(self), "127.0.0.1", self.port)
        self.port = self._server.sockets[0].getsockname()[1]

    async def _close(self) -> None:
        if self._server is None:
            return
        self._server.close()
        for connection in list(self.connections):
            connection.cut()
        await self._server.wait_closed()
        self._server = None


class Connection(asyncio.Protocol):
    """One connection of a sender: request, answer, request, answer."""

    def __init__(self, receiver: Receiver) -> None:
        self._receiver = receiver
        self._parser = httptools.HttpRequestParser(self)
        self._transport: asyncio.Transport | None = None
        self._url = b""
        self._headers: dict[str, str] = {}
        self._body = b""
        self._sink: Sink | None = None
        self._timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._receiver.connections.add(self)

    def connection_lost(self, _cause: Exception | None) -> None:
        self._receiver.connections.discard(self)
        self._finish()

    def data_received(self, data: bytes) -> None:
        self._parser.feed_data(data)

    def cut(self) -> None:
        if self._transport is not None:
            self._transport.abort()

    def on_message_begin(self) -> None:
        self._url, self._headers, self._body = b"", {}, b""

    def on_url(self, url: bytes) -> None:
        self._url += url

    def on_header(self, name: bytes, value: bytes) -> None:
        self._headers[name.decode("ascii").lower()] = value.decode("latin-1")

    def on_body(self, body: bytes) -> None:
        self._body += body

    def on_message_complete(self) -> None:
        method = self._parser.get_method().decode("ascii")
        request = Received(method, self._headers, self._body, time.time())
        sink = self._receiver.sinks.get(self._url.decode("ascii"))
        answer = Answer(404) if sink is None else sink.behaviour(request)
        if sink is not None:
            self._sink = sink
            sink.received.append(request)
            sink.open += 1
            sink.most_open = max(sink.most_open, sink.open)
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(answer.delay, self._reply, request, answer)

    def _reply(self, request: Received, answer: Answer) -> None:
        self._finish()
        request.answered, request.status = time.time(), answer.status
        if self._transport is None:
            return
        if answer.status:
            self._transport.write(answer.message())
        else:
            self._transport.abort()

    def _finish(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._sink is not None:
            self._sink.open -= 1
            self._sink = None


def _is_success(request: Received) -> bool:
    return request.status is not None and 200 <= request.status < 300
