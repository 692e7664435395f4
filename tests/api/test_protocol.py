from __future__ import annotations

import re
import socket
from pathlib import Path

import pytest

from tests.api.served import BINARY, Served, serving

OFFER = {"connection": "Upgrade, HTTP2-Settings", "upgrade": "h2c", "http2-settings": "AAMAAABk"}


def request(framing: str, body: str) -> bytes:
    headers = BINARY | OFFER
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    return f"POST /events HTTP/1.1\r\nhost: x\r\n{lines}{framing}\r\n\r\n{body}".encode()


LENGTH = request("content-length: 8", '{"n": 1}')
CHUNKS = request("transfer-encoding: chunked", '4\r\n{"n"\r\n4\r\n: 1}\r\n0\r\n\r\n')


@pytest.mark.parametrize("message", [LENGTH, CHUNKS], ids=["length", "chunks"])
@pytest.mark.parametrize("size", [1, 100, 10_000])
def test_request_that_offers_an_upgrade_keeps_its_body(
    served: Served, message: bytes, size: int
) -> None:
    since = served.head()

    with served.connect() as connection:
        for start in range(0, len(message), size):
            connection.sendall(message[start : start + size])
        answer = connection.recv(65_536)

    assert answer.startswith(b"HTTP/1.1 202 ")
    assert [entry.event.data for entry in served.stored(since)] == [b'{"n": 1}']


def test_connection_goes_on_after_a_declined_upgrade(served: Served) -> None:
    since = served.head()

    with served.connect() as connection:
        connection.sendall(LENGTH)
        connection.recv(65_536)
        connection.sendall(LENGTH)
        answer = connection.recv(65_536)

    assert answer.startswith(b"HTTP/1.1 202 ")
    assert len(served.stored(since)) == 2


@pytest.mark.parametrize(
    "message",
    [b"CONNECT example.com:80 HTTP/1.1\r\nhost: x\r\n\r\n", b"\x00\xff\r\n\r\n", b"POST\r\n\r\n"],
)
def test_what_is_no_request_is_refused(served: Served, message: bytes) -> None:
    with served.connect() as connection:
        connection.sendall(message)
        answer = connection.recv(65_536)

    assert answer.startswith(b"HTTP/1.1 400 ")


def plain(body: str = "{}", version: str = "1.1", **headers: str) -> bytes:
    chosen = BINARY | {"host": "x", "content-length": str(len(body))} | headers
    lines = "".join(f"{name}: {value}\r\n" for name, value in chosen.items())
    return f"POST /events HTTP/{version}\r\n{lines}\r\n{body}".encode()


def answers(connection: socket.socket, count: int) -> list[int]:
    """The statuses of the next answers, or of those that came before the connection was closed."""
    found: list[int] = []
    text = b""
    while len(found) < count and (part := connection.recv(65_536)):
        text += part
        found = [int(status) for status in re.findall(rb"HTTP/1\.1 ([0-9]{3}) ", text)]
    return found


def test_connection_serves_many_requests(served: Served) -> None:
    since = served.head()

    with served.connect() as connection:
        statuses = []
        for _ in range(20):
            connection.sendall(plain())
            statuses += answers(connection, 1)

    assert statuses == [202] * 20
    assert len(served.stored(since)) == 20


def test_requests_sent_ahead_are_answered_in_their_order(served: Served) -> None:
    since = served.head()
    get = b"GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n"
    bad = plain(**{"ce-id": ""})

    with served.connect() as connection:
        connection.sendall(plain() + get + plain() + bad + plain() + plain())
        statuses = answers(connection, 6)

    assert statuses == [202, 200, 202, 400, 202, 202]
    assert len(served.stored(since)) == 4


def test_request_may_come_in_pieces(served: Served) -> None:
    since = served.head()
    message = plain('{"n": 1}')

    with served.connect() as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for place in range(len(message)):
            connection.sendall(message[place : place + 1])
        statuses = answers(connection, 1)

    assert statuses == [202]
    assert [entry.event.data for entry in served.stored(since)] == [b'{"n": 1}']


@pytest.mark.parametrize(
    "message",
    [
        plain(connection="close"),
        plain(version="1.0"),
        plain(version="1.0", connection="keep-alive"),
    ],
    ids=["close", "1.0", "1.0 keep-alive"],
)
def test_connection_that_is_not_kept_is_closed(served: Served, message: bytes) -> None:
    with served.connect() as connection:
        connection.sendall(message)
        statuses = answers(connection, 2)

    assert statuses == [202]


@pytest.mark.parametrize("connection", ["keep-alive", "close"])
@pytest.mark.parametrize(
    ("headers", "body", "status"),
    [
        (BINARY, b"{}", 202),
        (BINARY, b"", 202),
        (BINARY | {"ce-type": ""}, b"{}", 400),
        ({"content-type": "application/cloudevents+avro"}, b"{}", 415),
        ({"content-type": "application/cloudevents-batch+json"}, b"[]", 202),
        (BINARY | {"content-type": "x/y"}, b"x" * 70_000, 202),
        (BINARY, b"x" * 9_000_000, 413),
    ],
)
def test_both_ways_answer_alike(
    served: Served, headers: dict[str, str], body: bytes, status: int, connection: str
) -> None:
    reply = served.post("/events", body, headers | {"connection": connection})

    assert reply.status == status
    assert reply.headers["date"]


def test_client_that_does_not_wait_for_the_answer_does_no_harm(served: Served) -> None:
    since = served.head()
    for _ in range(20):
        with served.connect() as connection:
            connection.sendall(plain())

    # Its own connection is served after those that were opened before.
    assert served.post("/events", b"{}", BINARY).status == 202
    assert 1 <= len(served.stored(since)) <= 21


def test_failing_commit_is_answered_with_a_problem(tmp_path: Path) -> None:
    with serving(tmp_path) as broken:
        broken.control.log.close()

        with broken.connect() as connection:
            connection.sendall(plain() + plain())
            statuses = answers(connection, 2)
        reply = broken.post("/events", b"{}", BINARY)

        assert statuses == [503, 503]
        assert reply.headers["content-type"] == "application/problem+json"
        assert reply.document["status"] == 503
        assert int(reply.headers["retry-after"]) > 0
