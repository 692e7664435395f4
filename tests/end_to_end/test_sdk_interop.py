"""The official SDK as sender and as receiver."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import product
from typing import Any

import pytest
from cloudevents.core.bindings import http as sdk
from cloudevents.core.v1.event import CloudEvent

from tests.end_to_end.harness import Server
from tests.end_to_end.receiver import Received, Receiver

WRITE = {"binary": sdk.to_binary_event, "structured": sdk.to_structured_event}
READ = {"binary": sdk.from_binary_event, "structured": sdk.from_structured_event}
CONTENTS = [
    ("application/json", {"a": [1, 2.5, None, "é"]}),
    ("text/plain; charset=utf-8", "plain é"),
    ("application/octet-stream", b"\x00\xff"),
]


def an_event(topic: str, content_type: str, data: dict[str, Any] | str | bytes) -> CloudEvent:
    attributes = {
        "specversion": "1.0",
        "id": "é %1",
        "source": "https://example.com/a?b=c#d",
        "type": topic,
        "subject": 'a "b"',
        "time": datetime(2018, 4, 5, 17, 31, 0, 500_000, tzinfo=UTC),
        "datacontenttype": content_type,
        "dataschema": "https://example.com/schema",
        "extra": "Euro € 😀",
    }
    return CloudEvent(attributes, data)


def as_message(request: Received) -> sdk.HTTPMessage:
    return sdk.HTTPMessage(dict(request.headers), request.body)


@pytest.mark.covers("KN-112", "KN-113", "KN-114", "CE-105", "CE-107", "CE-079", "CE-102")
@pytest.mark.parametrize("modes", list(product(WRITE, READ)), ids="-".join)
@pytest.mark.parametrize("content", CONTENTS, ids=lambda content: content[0])
def test_event_of_the_sdk_comes_back_to_the_sdk(
    server: Server, receiver: Receiver, topic: str, modes: tuple[str, str], content: tuple[str, Any]
) -> None:
    sent, taken = modes
    sink, event = receiver.sink("in"), an_event(topic, *content)
    server.subscribe(sink.url, {"contentmode": taken}, types=[topic])
    message = WRITE[sent](event)

    answer = server.call("POST", "/events", message.body, message.headers)

    assert answer.status == 202, answer.body
    [request] = sink.wait()
    found = READ[taken](as_message(request))
    assert found.get_attributes() == event.get_attributes()
    assert found.get_data() == event.get_data()
    assert sdk.from_http_event(as_message(request)).get_id() == event.get_id()


@pytest.mark.parametrize("taken", READ)
def test_event_without_data_comes_back_to_the_sdk(
    server: Server, receiver: Receiver, topic: str, taken: str
) -> None:
    sink = receiver.sink("in")
    event = CloudEvent({"specversion": "1.0", "id": "1", "source": "/s", "type": topic})
    server.subscribe(sink.url, {"contentmode": taken}, types=[topic])
    message = sdk.to_structured_event(event)

    server.call("POST", "/events", message.body, message.headers)

    [request] = sink.wait()
    found = sdk.from_http_event(as_message(request))
    assert (found.get_id(), found.get_type(), found.get_data()) == ("1", topic, None)
