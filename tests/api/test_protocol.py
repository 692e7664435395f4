from __future__ import annotations

import pytest

from tests.api.served import BINARY, Served

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
