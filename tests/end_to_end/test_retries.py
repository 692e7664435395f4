"""What a sink answers decides what is sent next, and when."""

from __future__ import annotations

import time
from itertools import pairwise

import pytest

from tests.end_to_end.harness import Server
from tests.end_to_end.loop import eventually
from tests.end_to_end.receiver import Answer, Receiver

QUICK = {"backoffdelay": "PT0.2S", "backoffpolicy": "linear"}


@pytest.mark.covers("CE-038", "KN-091", "KN-132", "KN-135")
@pytest.mark.parametrize("status", [0, 408, 425, 429, 500, 503, 599])
def test_failed_delivery_is_made_again_with_the_same_id(
    server: Server, receiver: Receiver, topic: str, status: int
) -> None:
    sink = receiver.sink("in")
    sink.answers(Answer(status), Answer(status), Answer())
    server.subscribe(sink.url, QUICK, types=[topic])

    event = server.publish(type=topic)

    sink.wait_for(event)
    assert [one.event for one in sink.received] == [event] * 3
    assert sink.events() == [event]


@pytest.mark.covers("CE-122", "KN-090", "KN-123", "KN-124", "KN-125")
@pytest.mark.parametrize("code", [200, 201, 202, 204, 299])
def test_success_ends_the_delivery(
    server: Server, receiver: Receiver, topic: str, code: int
) -> None:
    sink = receiver.sink("in")
    sink.answers(Answer(code))
    key = server.subscribe(sink.url, QUICK, types=[topic])

    event = server.publish(type=topic)

    eventually(lambda: server.status(key)["deliveries"]["delivered"], 30.0, "it is delivered")
    assert server.status(key)["deliveries"]["parked"] == 0
    assert [one.event for one in sink.received] == [event]


@pytest.mark.covers("KN-089", "KN-106", "KN-107")
@pytest.mark.parametrize(
    ("policy", "waits"), [("linear", [0.5, 0.5, 0.5]), ("exponential", [0.5, 1.0, 2.0])]
)
def test_waits_grow_as_the_policy_says(
    server: Server, receiver: Receiver, topic: str, policy: str, waits: list[float]
) -> None:
    sink = receiver.sink("in")
    sink.answers(*[Answer(503)] * 3, Answer())
    server.subscribe(sink.url, {"backoffdelay": "PT0.5S", "backoffpolicy": policy}, types=[topic])

    sink.wait_for(server.publish(type=topic))

    times = [one.at for one in sink.received]
    gaps = [after - before for before, after in pairwise(times)]
    assert all(gap >= wait for gap, wait in zip(gaps, waits, strict=True)), gaps


@pytest.mark.covers("CE-125")
@pytest.mark.parametrize("status", [429, 503])
def test_sink_that_asks_for_time_gets_it(
    server: Server, receiver: Receiver, topic: str, status: int
) -> None:
    sink = receiver.sink("in")
    sink.answers(Answer(status, headers={"retry-after": "3"}), Answer())
    key = server.subscribe(sink.url, QUICK, types=[topic])
    first = server.publish(type=topic)
    sink.wait()
    eventually(lambda: server.status(key)["deliveries"]["parked"], 30.0, "the delivery is parked")

    second = server.publish(type=topic)
    sink.wait_for(first)
    sink.wait_for(second)

    refused, *later = sink.received
    assert refused.event == first
    assert min(one.at for one in later) >= refused.at + 3.0


@pytest.mark.covers("CE-121", "CE-130", "KN-097")
@pytest.mark.parametrize(
    "answer",
    [
        Answer(301, headers={"location": "/elsewhere"}),
        Answer(307, headers={"location": "/elsewhere"}),
        Answer(400),
        Answer(401, headers={"www-authenticate": 'Basic realm="x"'}),
    ],
    ids=str,
)
def test_refused_event_is_not_sent_again(
    server: Server, receiver: Receiver, topic: str, answer: Answer
) -> None:
    sink, elsewhere, letters = (receiver.sink(name) for name in ("in", "elsewhere", "letters"))
    sink.answers(answer, Answer())
    key = server.subscribe(sink.url, {**QUICK, "deadlettersink": letters.url}, types=[topic])

    event = server.publish(type=topic)
    letters.wait_for(event)
    sink.wait_for(server.publish(type=topic))

    assert len(sink.attempts(event)) == 1
    assert not elsewhere.received
    assert server.status(key)["deliveries"]["dead"] == 1


@pytest.mark.covers("CE-124")
def test_sink_that_is_gone_gets_nothing_more(
    server: Server, receiver: Receiver, topic: str
) -> None:
    sink, witness = receiver.sink("in"), receiver.sink("witness")
    sink.answers(Answer(410), Answer())
    key = server.subscribe(sink.url, QUICK, types=[topic])
    server.subscribe(witness.url, types=[topic])
    server.publish(type=topic)
    eventually(lambda: server.status(key)["stopped"], 30.0, "the subscription is stopped")

    for _ in range(2):
        witness.wait_for(server.publish(type=topic))

    assert len(sink.received) == 1


@pytest.mark.covers("KN-088", "KN-096", "KN-099")
def test_event_goes_to_the_dead_letter_sink_after_its_retries(
    server: Server, receiver: Receiver, topic: str
) -> None:
    sink, letters = receiver.sink("in", lambda _: Answer(500)), receiver.sink("letters")
    settings = {**QUICK, "retry": 3, "deadlettersink": letters.url}
    server.subscribe(sink.url, settings, types=[topic])

    event = server.publish(type=topic, data={"a": 1})

    letter = letters.wait_for(event)
    assert len(sink.received) == 4
    assert letter.headers["ce-type"] == topic
    assert letter.body == sink.received[0].body


@pytest.mark.covers("KN-135")
def test_sink_that_does_not_answer_in_time_is_asked_again(
    server: Server, receiver: Receiver, topic: str
) -> None:
    sink, letters = receiver.sink("in", lambda _: Answer(delay=60.0)), receiver.sink("letters")
    settings = {**QUICK, "timeout": 1, "retry": 1, "deadlettersink": letters.url}
    key = server.subscribe(sink.url, settings, types=[topic])

    event = server.publish(type=topic)

    letters.wait_for(event)
    assert len(sink.received) >= 2
    assert {one.event for one in sink.received} == {event}
    assert "in time" in server.status(key)["deliveries"]["last_error"]


@pytest.mark.covers("KN-061", "KN-135")
def test_event_arrives_after_the_sink_came_up(
    server: Server, receiver: Receiver, topic: str
) -> None:
    sink = receiver.sink("in")
    key = server.subscribe(sink.url, types=[topic])
    receiver.close()
    events = [server.publish(type=topic) for _ in range(10)]
    eventually(lambda: server.status(key)["deliveries"]["parked"] == 10, 30.0, "all are parked")

    receiver.open()
    opened = time.time()

    for event in events:
        sink.wait_for(event)
    assert min(one.at for one in sink.received) >= opened - 0.1
    assert sorted(sink.events()) == sorted(events)
