"""A real HTTP receiver on loopback: answers as each path is told to, and remembers everything."""

from __future__ import annotations

import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise
from typing import Any

from penstock.bindings import http
from penstock.events import CloudEvent


@dataclass(frozen=True)
class Reply:
    """One answer of a receiver; it takes some seconds."""

    status: int = 202
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = b""
    seconds: float = 0.0


@dataclass(frozen=True)
class Got:
    """One request that a receiver got."""

    at: float
    method: str
    headers: dict[str, str]
    body: bytes

    @property
    def event(self) -> CloudEvent:
        headers = [(name.encode(), value.encode()) for name, value in self.headers.items()]
        (event,) = http.read(headers, self.body)
        return event


@dataclass
class Place:
    """One path: what it answers (the last answer again and again) and what it got."""

    replies: tuple[Reply, ...] = (Reply(),)
    got: list[Got] = field(default_factory=list)
    open: int = 0
    most_open: int = 0

    @property
    def ids(self) -> list[str]:
        return [one.event.id for one in self.got]

    def gaps(self) -> list[float]:
        """Seconds between one request and the next."""
        times = [one.at for one in self.got]
        return [after - before for before, after in pairwise(times)]


class Receiver(ThreadingHTTPServer):
    """Listens on a free port until it is closed."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, port: int = 0) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.places: dict[str, Place] = defaultdict(Place)
        self.lock = threading.Lock()

    def uri(self, path: str) -> str:
        return f"http://127.0.0.1:{self.server_port}{path}"

    def answers(self, path: str, *replies: Reply | int) -> str:
        """Tell how a path answers; return its address."""
        told = tuple(Reply(one) if isinstance(one, int) else one for one in replies)
        self.places[path].replies = told
        return self.uri(path)

    def handle_error(self, request: Any, client_address: Any) -> None:  # noqa: ANN401
        """Say nothing: clients that hang up are part of the tests."""


class _Handler(BaseHTTPRequestHandler):
    server: Receiver
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length", "0")))
        headers = {name.lower(): value for name, value in self.headers.items()}
        with self.server.lock:
            place = self.server.places[self._place]
            reply = place.replies[min(len(place.got), len(place.replies) - 1)]
            place.got.append(Got(time.time(), self.command, headers, body))
            place.open += 1
            place.most_open = max(place.most_open, place.open)
        time.sleep(reply.seconds)
        with self.server.lock:
            place.open -= 1
        self._answer(reply)

    def do_OPTIONS(self) -> None:
        self.do_POST()

    @property
    def _place(self) -> str:
        """Questions have a place of their own beside the deliveries to the same path."""
        return self.path if self.command == "POST" else f"{self.command} {self.path}"

    def _answer(self, reply: Reply) -> None:
        self.send_response(reply.status)
        for name, value in reply.headers:
            self.send_header(name, value)
        self.send_header("content-length", str(len(reply.body)))
        self.end_headers()
        self.wfile.write(reply.body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002, ANN401
        """Say nothing."""


@contextmanager
def receiving(port: int = 0) -> Iterator[Receiver]:
    receiver = Receiver(port)
    thread = threading.Thread(target=receiver.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield receiver
    finally:
        receiver.shutdown()
        receiver.server_close()
        thread.join()


def eventually(holds: Callable[[], object], seconds: float = 30.0) -> bool:
    """Wait until something holds; tell whether it did in time."""
    until = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > until:
            return False
        time.sleep(0.01)
    return True
