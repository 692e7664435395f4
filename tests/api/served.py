"""A real server on a free port, and a plain way to talk to it."""

from __future__ import annotations

import http.client
import json
import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from penstock import runtime
from penstock.config import Settings
from penstock.control import Control
from penstock.events.entry import Entry
from penstock.formats import arrow
from penstock.ports import Put, Span
from penstock.routing import STREAM, Stream, StreamKind

BINARY = {
    "ce-specversion": "1.0",
    "ce-id": "1",
    "ce-source": "/shop",
    "ce-type": "com.example.sold",
    "content-type": "application/json",
}
EVENT = {"specversion": "1.0", "id": "1", "source": "/shop", "type": "com.example.sold"}
STRUCTURED = {"content-type": "application/cloudevents+json"}
BATCHED = {"content-type": "application/cloudevents-batch+json"}


@dataclass(frozen=True, slots=True)
class Reply:
    """What the server answered; header names are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def document(self) -> Any:  # noqa: ANN401 - any JSON value
        return json.loads(self.body)

    @property
    def paths(self) -> list[str]:
        """Where the problems are."""
        return [problem["path"] for problem in self.document["problems"]]


@dataclass(frozen=True, slots=True)
class Served:
    """A running server."""

    control: Control
    port: int

    def request(
        self,
        method: str,
        path: str,
        body: bytes | str | dict[str, Any] | list[Any] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Reply:
        """Send one request over a connection of its own."""
        content = json.dumps(body) if isinstance(body, dict | list) else body
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        try:
            connection.request(method, path, content, dict(headers or {}))
            answer = connection.getresponse()
            names = {name.lower(): value for name, value in answer.getheaders()}
            return Reply(answer.status, names, answer.read())
        finally:
            connection.close()

    def get(self, path: str) -> Reply:
        return self.request("GET", path)

    def post(
        self,
        path: str,
        body: bytes | str | dict[str, Any] | list[Any],
        headers: Mapping[str, str] | None = None,
    ) -> Reply:
        return self.request("POST", path, body, headers or {"content-type": "application/json"})

    def connect(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), timeout=20)

    def stored(self, since: int = 0) -> list[Entry]:
        """Return everything in the log from a position on."""
        _, (head,) = self.control.log.bounds()
        chunks = self.control.log.read(Span(0, since, head))
        return [entry for chunk in chunks for entry in arrow.unpack(chunk.batch)]

    def head(self) -> int:
        return self.control.log.bounds()[1][0]

    def create_stream(self, kind: StreamKind, namespace: str, name: str) -> Stream:
        stream = Stream(kind, namespace, name)
        self.control.store.write([Put(STREAM, stream.key, msgspec.json.encode(stream))])
        return stream


@contextmanager
def serving(data: Path, **settings: Any) -> Iterator[Served]:  # noqa: ANN401 - any setting
    """Run a server in a thread; the first request just waits until it has started."""
    chosen = Settings(data=str(data), port=0, **settings)
    with runtime.opened(chosen) as control, socket.create_server(("127.0.0.1", 0)) as listener:
        server = runtime.api_server(chosen, control)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        served = Served(control, listener.getsockname()[1])
        try:
            served.get("/healthz")
            yield served
        finally:
            server.should_exit = True
            thread.join()
