"""An event comes in, is matched, and arrives."""

from __future__ import annotations

import json
from typing import Any

import pytest

from penstock.bindings import http
from penstock.events import CloudEvent
from tests.end_to_end.harness import Server
from tests.end_to_end.receiver import Received, Receiver

STRUCTURED = {"content-type": "application/cloudevents+json"}
BATCH = {"content-type": "application/cloudevents-batch+json"}
VERSIONS = pytest.mark.parametrize("version", ["1.0", "0.2"])


def an_event(version: str, topic: str, **members: object) -> dict[str, Any]:
    content_type = "datacontenttype" if version == "1.0" else "contenttype"
    return {
        "specversion": version,
        "id": "é 1",
        "source": "https://example.com/source?q=1",
        "type": topic,
        "time": "2018-04-05T17:31:00.123+02:00",
        "extra": 'a "quoted" word',
        content_type: "application/json",
        "data": {"a": [1, None, "ü"]},
        **members,
    }


def in_binary(version: str, topic: str) -> tuple[dict[str, str], bytes]:
    """The same event, its headers written by hand: 0.2 quotes what 1.0 encodes."""
    values = {
        "specversion": version,
        "id": "%C3%A9%201",
        "source": "https://example.com/source?q=1",
        "type": topic,
        "time": "2018-04-05T17:31:00.123+02:00",
        "extra": "a%20%22quoted%22%20word",
    }
    if version == "0.2":
        values |= {"id": "%C3%A9 1", "extra": r"a \"quoted\" word"}
        values = {name: f'"{value}"' for name, value in values.items()}
    headers = {f"ce-{name}": value for name, value in values.items()}
    return {**headers, "content-type": "application/json"}, '{"a": [1, null, "ü"]}'.encode()


def as_json(document: object) -> bytes:
    return json.dumps(document).encode()


def understood(request: Received) -> CloudEvent:
    headers = [(name.encode(), value.encode("latin-1")) for name, value in request.headers.items()]
    [event] = http.read(headers, request.body)
    return event


def meant(members: dict[str, Any]) -> CloudEvent:
    [event] = http.read([(b"content-type", b"application/cloudevents+json")], as_json(members))
    return event


def same(left: CloudEvent, right: CloudEvent) -> bool:
    attributes = left.attributes() == right.attributes()
    return attributes and json.loads(left.data or b"") == json.loads(right.data or b"")


@pytest.mark.covers("CE-002", "CE-066", "CE-092", "CE-118", "CE-123", "KN-112")
@VERSIONS
@pytest.mark.parametrize("mode", ["binary", "structured", "batch"])
def test_event_arrives(
    server: Server, receiver: Receiver, topic: str, version: str, mode: str
) -> None:
    sink, event = receiver.sink("in"), an_event(version, topic)
    server.subscribe(sink.url, types=[topic])
    message = {
        "binary": in_binary(version, topic),
        "structured": (STRUCTURED, as_json(event)),
        "batch": (BATCH, as_json([event])),
    }

    headers, body = message[mode]
    answer = server.call("POST", "/events", body, headers)

    assert answer.status == 202
    [request] = sink.wait()
    assert request.method == "POST"
    assert same(understood(request), meant(event))


@pytest.mark.covers("CE-068", "CE-112", "CE-113", "CE-115")
@VERSIONS
def test_structured_delivery_carries_the_whole_event(
    server: Server, receiver: Receiver, topic: str, version: str
) -> None:
    sink, event = receiver.sink("in"), an_event(version, topic)
    server.subscribe(sink.url, {"contentmode": "structured"}, types=[topic])

    server.call("POST", "/events", as_json(event), STRUCTURED)

    [request] = sink.wait()
    assert request.headers["content-type"].startswith("application/cloudevents+json")
    assert json.loads(request.body) == event


@pytest.mark.covers("CE-096", "CE-089", "CE-091")
def test_events_of_a_batch_arrive_one_by_one(
    server: Server, receiver: Receiver, topic: str
) -> None:
    sink = receiver.sink("in")
    server.subscribe(sink.url, filters=[{"prefix": {"type": topic}}])
    events = [an_event("1.0", f"{topic}.{number}", id=str(number)) for number in range(20)]

    server.call("POST", "/events", as_json(events), BATCH)

    received = sink.wait(20)
    assert sorted(int(one.event) for one in received) == list(range(20))


@pytest.mark.covers("CE-119")
def test_event_without_data_is_sent_with_a_payload(
    server: Server, receiver: Receiver, topic: str
) -> None:
    sink = receiver.sink("in")
    server.subscribe(sink.url, types=[topic])

    event = server.publish(type=topic)

    [request] = sink.wait()
    assert request.headers["content-type"].startswith("application/cloudevents+json")
    assert json.loads(request.body)["id"] == event
    assert "data" not in json.loads(request.body)


@pytest.mark.covers("SUB-001", "SUB-031", "SUB-032", "SUB-041", "SUB-043", "SUB-045", "SUB-048")
@pytest.mark.parametrize(
    ("condition", "subjects"),
    [
        ({"exact": {"subject": "orders/1"}}, ("orders/1", "orders/12")),
        ({"exact": {"subject": "orders/1"}}, ("orders/1", "Orders/1")),
        ({"prefix": {"subject": "orders/"}}, ("orders/1", "order")),
        ({"suffix": {"subject": ".png"}}, ("photo.png", "photo.PNG")),
        ({"suffix": {"place": "/b"}}, ("/a/b", "/b/a")),
    ],
)
def test_filter_decides(
    server: Server,
    receiver: Receiver,
    topic: str,
    condition: dict[str, dict[str, str]],
    subjects: tuple[str, str],
) -> None:
    taken, left = subjects
    chosen, all_of_them = receiver.sink("chosen"), receiver.sink("all")
    server.subscribe(chosen.url, types=[topic], filters=[condition])
    server.subscribe(all_of_them.url, types=[topic])

    unwanted = server.publish(type=topic, subject=left, place=left)
    all_of_them.wait_for(unwanted)
    wanted = server.publish(type=topic, subject=taken, place=taken)
    all_of_them.wait_for(wanted)
    chosen.wait_for(wanted)

    assert [one.event for one in chosen.received] == [wanted]


@pytest.mark.covers("SUB-003")
def test_two_subscriptions_of_one_sink_each_get_a_copy(
    server: Server, receiver: Receiver, topic: str
) -> None:
    sink, witness = receiver.sink("in"), receiver.sink("witness")
    for url in (sink.url, sink.url, witness.url):
        server.subscribe(url, types=[topic])

    event = server.publish(type=topic)
    after = server.publish(type=topic)

    witness.wait_for(after)
    sink.wait(4)
    assert len(sink.attempts(event)) == len(sink.attempts(after)) == 2


def test_deleted_subscription_gets_nothing_more(
    server: Server, receiver: Receiver, topic: str
) -> None:
    sink, witness = receiver.sink("in"), receiver.sink("witness")
    key = server.subscribe(sink.url, types=[topic])
    server.subscribe(witness.url, types=[topic])
    before = server.publish(type=topic)
    sink.wait_for(before)

    server.unsubscribe(key)
    after = server.publish(type=topic)
    witness.wait_for(after)
    last = server.publish(type=topic)
    witness.wait_for(last)

    assert sink.events() == [before]


def test_subscription_gets_nothing_from_before_it_was_made(
    server: Server, receiver: Receiver, topic: str
) -> None:
    early = server.publish(type=topic)
    sink = receiver.sink("in")
    server.subscribe(sink.url, types=[topic])

    late = server.publish(type=topic)

    sink.wait_for(late)
    assert early not in sink.events()


@pytest.mark.covers("KN-137")
def test_address_of_a_broker_is_the_default_broker(
    server: Server, receiver: Receiver, topic: str
) -> None:
    sink = receiver.sink("in")
    server.subscribe(sink.url, types=[topic])

    event = server.publish("/brokers/default/default", type=topic)

    sink.wait_for(event)
    body = as_json(an_event("1.0", topic))
    assert server.call("POST", "/brokers/default/other", body, STRUCTURED).status == 404
