from __future__ import annotations

import pytest

from penstock.routing import StreamKind
from tests.api.served import BATCHED, BINARY, EVENT, STRUCTURED, Served

DEFAULT = "brokers/default/default"


@pytest.mark.covers("KN-117")
@pytest.mark.parametrize("path", ["/events", "/brokers/default/default"])
def test_binary_event_is_stored_before_it_is_accepted(served: Served, path: str) -> None:
    since = served.head()

    reply = served.post(path, b'{"n": 1}', BINARY)

    (entry,) = served.stored(since)
    assert (reply.status, reply.body) == (202, b"")
    assert (entry.stream, entry.event.id, entry.event.data) == (DEFAULT, "1", b'{"n": 1}')


def test_structured_event_is_stored(served: Served) -> None:
    since = served.head()

    reply = served.post("/events", {**EVENT, "data": {"n": 1}}, STRUCTURED)

    assert reply.status == 202
    assert [entry.event.type for entry in served.stored(since)] == ["com.example.sold"]


def test_batch_is_stored_in_order(served: Served) -> None:
    since = served.head()

    reply = served.post("/events", [EVENT | {"id": str(n)} for n in range(100)], BATCHED)

    assert reply.status == 202
    assert [entry.event.id for entry in served.stored(since)] == [str(n) for n in range(100)]


def test_empty_batch_is_accepted(served: Served) -> None:
    since = served.head()

    reply = served.post("/events", "[]", BATCHED)

    assert reply.status == 202
    assert served.stored(since) == []


def test_one_bad_event_refuses_the_whole_batch(served: Served) -> None:
    since = served.head()

    reply = served.post("/events", [EVENT, EVENT | {"id": ""}, EVENT | {"type": 5}], BATCHED)

    assert reply.status == 400
    assert reply.paths == ["[1].id", "[2].type"]
    assert served.stored(since) == []


def test_every_problem_is_named(served: Served) -> None:
    headers = BINARY | {"ce-id": "", "ce-time": "yesterday", "ce-source": "%%"}

    reply = served.post("/events", b"", headers)

    assert reply.status == 400
    assert reply.headers["content-type"] == "application/problem+json"
    assert {"id", "time", "source"} <= set(reply.paths)


@pytest.mark.covers("KN-136")
def test_body_that_is_not_json_is_refused_with_its_position(served: Served) -> None:
    reply = served.post("/events", b'{"id": ]', STRUCTURED)

    assert reply.status == 400
    assert "byte 7" in reply.document["detail"]


@pytest.mark.covers("CE-127", "CE-095")
def test_unknown_format_is_unsupported(served: Served) -> None:
    reply = served.post("/events", b"x", {"content-type": "application/cloudevents+avro"})

    assert reply.status == 415
    assert "avro" in reply.document["detail"]


@pytest.mark.covers("KN-136", "CE-098")
def test_event_without_attributes_is_refused(served: Served) -> None:
    reply = served.post("/events", EVENT)

    assert reply.status == 400
    assert reply.paths


@pytest.mark.covers("KN-137")
@pytest.mark.parametrize(
    "path", ["/brokers/default/nosuch", "/channels/default/nosuch", "/brokers/default/%00%ff"]
)
def test_unknown_stream_is_not_found(served: Served, path: str) -> None:
    reply = served.post(path, b"", BINARY)

    assert reply.status == 404
    assert reply.headers["content-type"] == "application/problem+json"


@pytest.mark.parametrize("kind", list(StreamKind))
def test_new_stream_takes_events_at_once(served: Served, kind: StreamKind) -> None:
    stream = served.create_stream(kind, "shop", f"new-{kind}")
    since = served.head()

    reply = served.post(f"/{stream.key}", b"{}", BINARY)

    assert reply.status == 202
    assert [entry.stream for entry in served.stored(since)] == [stream.key]


@pytest.mark.covers("CE-097")
@pytest.mark.parametrize("method", ["GET", "HEAD", "PUT", "DELETE", "PATCH"])
def test_other_methods_are_refused_with_those_allowed(served: Served, method: str) -> None:
    reply = served.request(method, "/events", headers=BINARY)

    assert reply.status == 405
    assert reply.headers["allow"] == "POST, OPTIONS"


@pytest.mark.covers("KN-116", "CE-141")
def test_options_lists_post(served: Served) -> None:
    reply = served.request("OPTIONS", "/brokers/default/default")

    assert reply.status == 204
    assert reply.headers["allow"] == "POST, OPTIONS"
    assert "webhook-allowed-origin" not in reply.headers


@pytest.mark.covers("CE-139", "CE-142", "CE-145")
def test_sender_that_asks_for_consent_gets_it(served: Served) -> None:
    asking = {"WebHook-Request-Origin": "eventemitter.example.com", "WebHook-Request-Rate": "120"}

    reply = served.request("OPTIONS", "/events", headers=asking)

    assert reply.status == 200
    assert reply.headers["webhook-allowed-origin"] == "*"
    assert reply.headers["webhook-allowed-rate"] == "*"
    assert "POST" in reply.headers["allow"]


@pytest.mark.covers("CE-123")
@pytest.mark.parametrize("path", ["/events/", "//events", "/brokers/default/default/"])
def test_sender_is_never_redirected(served: Served, path: str) -> None:
    reply = served.post(path, b"", BINARY)

    assert reply.status == 404


def test_data_passes_untouched(served: Served) -> None:
    data = bytes(range(256)) * 300
    since = served.head()

    reply = served.post("/events", data, BINARY | {"content-type": "application/octet-stream"})

    assert reply.status == 202
    assert [entry.event.data for entry in served.stored(since)] == [data]


def test_client_that_leaves_in_the_middle_stores_nothing(served: Served) -> None:
    since = served.head()
    lines = [f"{name}: {value}" for name, value in BINARY.items()]
    head = "\r\n".join(["POST /events HTTP/1.1", "host: x", "content-length: 10", *lines, "", ""])
    with served.connect() as connection:
        connection.sendall(head.encode() + b"12345")

    reply = served.post("/events", b'"after"', BINARY)

    assert reply.status == 202
    assert [entry.event.data for entry in served.stored(since)] == [b'"after"']


def test_pipelined_requests_are_answered_in_order(served: Served) -> None:
    since = served.head()
    lines = "".join(f"{name}: {value}\r\n" for name, value in BINARY.items())
    request = f"POST /events HTTP/1.1\r\nhost: x\r\n{lines}content-length: 2\r\n\r\n{{}}"
    with served.connect() as connection:
        connection.sendall(request.encode() * 3)
        answers = b""
        while answers.count(b"HTTP/1.1 202 ") < 3:
            answers += connection.recv(65_536)

    assert len(served.stored(since)) == 3
