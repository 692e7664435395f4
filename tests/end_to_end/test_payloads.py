"""Data reaches a sink as the same bytes."""

from __future__ import annotations

import json
import os

import pytest

from tests.end_to_end.harness import Server
from tests.end_to_end.receiver import Answer, Receiver

MEBIBYTE = 1 << 20


def headers(topic: str, content_type: str | None) -> dict[str, str]:
    found = {"ce-specversion": "1.0", "ce-id": "1", "ce-source": "/test", "ce-type": topic}
    return found if content_type is None else {**found, "content-type": content_type}


@pytest.mark.covers("CE-099", "CE-100", "CE-101", "CE-011", "KN-067")
@pytest.mark.parametrize(
    ("content_type", "data"),
    [
        (
            "application/json",
            b'\n{ "b" :1.0 ,"a":\t[ 1e2, 1E+2, -0 ] , "a": "\\u00e9\xc3\xa9"}\r\n',
        ),
        ("application/json; charset=latin-1", b'"\xe9"'),
        ("application/json", b"{ this is not JSON"),
        ("text/plain", b"line\nline\r\n\x00end"),
        ("application/octet-stream", bytes(range(256)) * 3),
        (None, b"\xff\xfe of no known type"),
        ("application/json", b'"' + b"x" * (MEBIBYTE - 300) + b'"'),
        ("application/octet-stream", os.urandom(MEBIBYTE - 300)),
    ],
    ids=["odd", "latin", "broken", "text", "binary", "untyped", "large text", "large binary"],
)
def test_bytes_of_data_are_not_touched(
    server: Server, receiver: Receiver, topic: str, content_type: str | None, data: bytes
) -> None:
    sink = receiver.sink("in")
    server.subscribe(sink.url, types=[topic])

    answer = server.call("POST", "/events", data, headers(topic, content_type))

    assert answer.status == 202, answer.body
    [request] = sink.wait()
    assert request.body == data
    assert request.headers.get("content-type") == content_type
    assert "ce-datacontenttype" not in request.headers


@pytest.mark.covers("KN-067")
def test_empty_body_does_not_become_data(server: Server, receiver: Receiver, topic: str) -> None:
    sink = receiver.sink("in")
    server.subscribe(sink.url, types=[topic])

    server.call("POST", "/events", b"", headers(topic, "text/plain"))

    [request] = sink.wait()
    found = json.loads(request.body)
    assert (found["id"], found["datacontenttype"]) == ("1", "text/plain")
    assert not {"data", "data_base64"} & found.keys()


@pytest.mark.covers("KN-067")
def test_bytes_of_data_are_the_same_in_a_retry(
    server: Server, receiver: Receiver, topic: str
) -> None:
    sink, data = receiver.sink("in"), b'{ "odd" :  1.0 }\n'
    sink.answers(Answer(503), Answer())
    server.subscribe(sink.url, {"backoffdelay": "PT0.1S"}, types=[topic])

    server.call("POST", "/events", data, headers(topic, "application/json"))

    first, second = sink.wait(2)
    assert first.body == second.body == data
    assert first.headers == second.headers


@pytest.mark.covers("CE-058", "CE-059", "CE-029")
@pytest.mark.parametrize("mode", ["binary", "structured"])
def test_event_of_64_kibibytes_on_the_wire_is_forwarded(
    server: Server, receiver: Receiver, topic: str, mode: str
) -> None:
    sink = receiver.sink("in")
    server.subscribe(sink.url, {"contentmode": mode}, types=[topic])
    start = b'{"specversion":"1.0","id":"1","source":"/s","type":"%s","data":"' % topic.encode()
    body = start + b"x" * (65_536 - len(start) - 2) + b'"}'

    answer = server.call("POST", "/events", body, {"content-type": "application/cloudevents+json"})

    assert len(body) == 65_536
    assert answer.status == 202
    [request] = sink.wait()
    assert request.body.count(b"x") == body.count(b"x")
