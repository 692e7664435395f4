"""What is too large, and what comes too fast."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from penstock.config import Settings
from tests.api.served import BATCHED, BINARY, EVENT, STRUCTURED, Served, serving


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server with about the least limits that can be set."""
    data = tmp_path_factory.mktemp("data")
    with serving(data, event_bytes=65_536, batch_bytes=200_000) as running:
        yield running


@pytest.mark.covers("CE-030")
@pytest.mark.parametrize("headers", [BINARY | {"content-type": "x/y"}, STRUCTURED])
def test_event_above_the_limit_is_too_large(small: Served, headers: dict[str, str]) -> None:
    since = small.head()
    text = "x" * 70_000

    reply = small.post("/events", text if "ce-id" in headers else {**EVENT, "data": text}, headers)

    assert reply.status == 413
    assert "65536" in reply.document["detail"]
    assert small.stored(since) == []


def test_attributes_count(small: Served) -> None:
    reply = small.post("/events", b"", BINARY | {"ce-long": "x" * 66_000})

    assert reply.status == 413


def test_each_heavy_event_of_a_batch_is_named(small: Served) -> None:
    heavy = EVENT | {"data": "x" * 66_000}

    reply = small.post("/events", [EVENT, heavy, heavy], BATCHED)

    assert reply.status == 413
    assert "event 1" in reply.document["detail"]
    assert "event 2" in reply.document["detail"]


@pytest.mark.covers("CE-031", "CE-033", "CE-036")
@pytest.mark.parametrize("gap", ["between members", "inside the data"])
def test_white_space_does_not_count(small: Served, gap: str) -> None:
    data = {"text": "x" * 60_000}
    if gap == "inside the data":
        body = json.dumps({**EVENT, "data": data}).replace('{"text"', "{" + " " * 10_000 + '"text"')
    else:
        body = json.dumps({**EVENT, "data": data}) + " " * 10_000

    reply = small.post("/events", body, STRUCTURED)

    assert len(body) > 65_536
    assert reply.status == 202


def test_announced_body_above_the_limit_is_refused_before_it_is_sent(small: Served) -> None:
    head = (
        b"POST /events HTTP/1.1\r\nhost: x\r\ncontent-length: 200001\r\n"
        b"expect: 100-continue\r\n\r\n"
    )
    with small.connect() as connection:
        connection.sendall(head)
        answer = connection.recv(65_536)

    assert answer.startswith(b"HTTP/1.1 413 ")


def test_body_above_the_limit_is_refused_while_it_is_sent(small: Served) -> None:
    head = b"POST /events HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n"
    chunk = b"8000\r\n" + b"x" * 0x8000 + b"\r\n"
    with small.connect() as connection:
        connection.sendall(head + chunk * 7)
        answer = connection.recv(65_536)

    assert answer.startswith(b"HTTP/1.1 413 ")


def test_client_that_sends_all_before_it_reads_sees_the_answer(small: Served) -> None:
    reply = small.post("/events", b"x" * 3_000_000, BINARY)

    assert reply.status == 413
    assert reply.headers["connection"] == "close"


@pytest.mark.covers("KN-138")
def test_full_backlog_asks_to_come_back(tmp_path: Path) -> None:
    with serving(tmp_path, backlog_events=10) as first:
        first.post("/events", [EVENT] * 11, BATCHED)

    with serving(tmp_path, backlog_events=10) as second:
        reply = second.post("/events", b"{}", BINARY)

        assert reply.status == 503
        assert int(reply.headers["retry-after"]) > 0
        assert second.head() == 11


@pytest.mark.covers("KN-138")
def test_failing_log_asks_to_come_back(tmp_path: Path) -> None:
    with serving(tmp_path) as broken:
        broken.post("/events", b"{}", BINARY)
        broken.control.log.close()

        reply = broken.post("/events", b"{}", BINARY)

        assert reply.status == 503
        assert int(reply.headers["retry-after"]) > 0


@pytest.mark.covers("CE-035")
def test_limit_fits_every_event_that_must_be_taken() -> None:
    assert Settings().event_bytes >= 256 << 10
