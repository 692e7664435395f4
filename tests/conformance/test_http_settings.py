"""Subscriptions API: what the HTTP settings of a subscription do to the request at the sink."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import msgspec
import pytest

from penstock.delivery.shipping import Packer
from penstock.events import event
from penstock.routing import ROUTE, Route
from penstock.sinks.http import HttpSink
from tests.api.served import Served, serving


@dataclass(slots=True)
class Receiver:
    """A sink that keeps what it gets."""

    port: int = 0
    requests: list[tuple[str, str, dict[str, str]]] = field(default_factory=list)


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    kept = Receiver()

    class Handler(BaseHTTPRequestHandler):
        def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - any method there is
            if name.startswith("do_"):
                return self.keep
            raise AttributeError(name)

        def keep(self) -> None:
            headers = {name.lower(): value for name, value in self.headers.items()}
            kept.requests.append((self.command, self.path, headers))
            self.rfile.read(int(headers["content-length"]))
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        kept.port = server.server_address[1]
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield kept
        server.shutdown()
        thread.join()


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    with serving(tmp_path) as running:
        yield running


def deliver(served: Served, document: dict[str, Any]) -> None:
    """Subscribe, and send one event along the route that came of it."""
    made = served.post("/subscriptions", document)
    stored = served.control.store.get(ROUTE, made.document["id"])
    assert stored is not None
    route = msgspec.json.decode(stored.body, type=Route)
    request = Packer(event(type="t", source="/s", data={"n": 1})).request(route)

    async def send() -> int:
        sink = HttpSink()
        try:
            return (await sink.send(request)).status
        finally:
            await sink.close()

    assert asyncio.run(send()) == 204


@pytest.mark.covers("SUB-067", "SUB-078")
def test_event_is_posted_to_exactly_the_sink(served: Served, receiver: Receiver) -> None:
    sink = f"http://127.0.0.1:{receiver.port}/a/b%20c?d=e&f"

    deliver(served, {"protocol": "HTTP", "sink": sink})

    ((method, path, headers),) = receiver.requests
    assert (method, path) == ("POST", "/a/b%20c?d=e&f")
    assert headers["ce-type"] == "t"


@pytest.mark.covers("SUB-077")
@pytest.mark.parametrize("method", ["PUT", "put", "PATCH", "PURGE"])
def test_method_is_used(served: Served, receiver: Receiver, method: str) -> None:
    sink = f"http://127.0.0.1:{receiver.port}/"
    settings = {"method": method}

    deliver(served, {"protocol": "HTTP", "sink": sink, "protocolsettings": settings})

    assert receiver.requests[0][0] == method.upper()


@pytest.mark.covers("SUB-076")
def test_headers_are_copied(served: Served, receiver: Receiver) -> None:
    sink = f"http://127.0.0.1:{receiver.port}/"
    settings = {"headers": {"X-Tenant": "t1", "X-Region": "north"}}

    deliver(served, {"protocol": "HTTP", "sink": sink, "protocolsettings": settings})

    headers = receiver.requests[0][2]
    assert (headers["x-tenant"], headers["x-region"]) == ("t1", "north")


def test_content_mode_is_used(served: Served, receiver: Receiver) -> None:
    sink = f"http://127.0.0.1:{receiver.port}/"
    settings = {"contentmode": "structured"}

    deliver(served, {"protocol": "HTTP", "sink": sink, "protocolsettings": settings})

    headers = receiver.requests[0][2]
    assert headers["content-type"].startswith("application/cloudevents+json")
    assert "ce-type" not in headers
