"""Brokers, Triggers, Channels and Subscriptions of a running server: who gets what, and when."""

from __future__ import annotations

import base64
from itertools import pairwise

import pytest

from tests.end_to_end.cluster import Namespace, a_namespace, channel, function, replies
from tests.end_to_end.harness import Server
from tests.end_to_end.loop import eventually
from tests.end_to_end.receiver import Answer, Receiver, Sink

DELAY = 0.4
ONCE = {200: "KN-123", 202: "KN-124", 201: "KN-125", 204: "KN-125", 299: "KN-125"}
REFUSED = {301: "KN-126", 307: "KN-126", 400: "KN-127"} | dict.fromkeys(
    (401, 403, 408, 410, 413, 422), "KN-131"
)
RETRIED = {404: "KN-128", 409: "KN-129", 429: "KN-130"} | dict.fromkeys(
    (500, 502, 503, 504, 599), "KN-132"
)
RULES = sorted({"KN-134", *ONCE.values(), *REFUSED.values(), *RETRIED.values()})


@pytest.fixture
def space(server: Server) -> Namespace:
    return a_namespace(server)


def to(sink: Sink) -> dict[str, str]:
    return {"uri": sink.url}


def quick(letters: Sink | None = None, retry: int = 1, delay: float = 0.1) -> dict[str, object]:
    chosen = {"retry": retry, "backoffDelay": f"PT{delay}S", "backoffPolicy": "linear"}
    return chosen if letters is None else {**chosen, "deadLetterSink": to(letters)}


@pytest.mark.covers("KN-089", "KN-096", "KN-097", *RULES)
def test_response_codes_decide_over_attempts_and_their_times(
    space: Namespace, receiver: Receiver
) -> None:
    space.make("Broker", "b")
    sinks = {code: receiver.sink(f"{code}") for code in (*ONCE, *REFUSED, *RETRIED)}
    letters = {code: receiver.sink(f"letters/{code}") for code in sinks}
    elsewhere = receiver.sink("elsewhere")
    for code, sink in sinks.items():
        sink.answers(Answer(code, headers={"location": "/elsewhere"}), Answer(202))
        delivery = quick(letters[code], retry=2, delay=DELAY)
        space.make("Trigger", f"t{code}", broker="b", subscriber=to(sink), delivery=delivery)

    space.publish("Broker", "b")
    for code, sink in sinks.items():
        sink.wait(2 if code in RETRIED else 1)
        letters[code].wait(code in REFUSED)
    # Later events pass all sinks and dead letter sinks, so that nothing is still on its way.
    space.publish("Broker", "b", id="end")
    for sink in sinks.values():
        sink.wait_for("end")

    attempts = {code: len(sink.attempts("a")) for code, sink in sinks.items()}
    assert attempts == {code: 1 + (code in RETRIED) for code in sinks}
    assert {code for code, sink in letters.items() if sink.received} == set(REFUSED)
    assert not elsewhere.received
    for code in RETRIED:
        times = [one.at for one in sinks[code].attempts("a")]
        assert all(DELAY <= after - before < DELAY + 5.0 for before, after in pairwise(times))


@pytest.mark.covers("KN-092", "KN-094", "KN-095", "KN-096")
def test_replies_of_subscriptions_are_sent_on_retried_and_dead_lettered(
    space: Namespace, receiver: Receiver
) -> None:
    space.make("Channel", "c")
    names = ("fine", "later", "refused", "never", "nobody")
    sinks = {name: receiver.sink(name) for name in names}
    heard = {name: receiver.sink(f"heard/{name}") for name in names}
    letters = {name: receiver.sink(f"letters/{name}") for name in names}
    heard["later"].answers(Answer(503), Answer())
    heard["refused"].answers(Answer(400, body=b"no"))
    heard["never"].answers(Answer(503))
    for name, sink in sinks.items():
        sink.answers(Answer(200, headers=replies(name), body=b"done"))
        wanted = {"subscriber": to(sink), "delivery": quick(letters[name])}
        reply = {} if name == "nobody" else {"reply": to(heard[name])}
        space.make("Subscription", name, channel=channel("c"), **wanted, **reply)

    space.publish("Channel", "c")
    for name, count in {"fine": 1, "later": 2, "refused": 1, "never": 2}.items():
        assert {one.event for one in heard[name].wait(count)} == {"b"}
    refused, never = letters["refused"].wait()[0], letters["never"].wait()[0]
    space.publish("Channel", "c", id="end")
    for sink in sinks.values():
        sink.wait_for("end")

    attempts = {name: len(sink.attempts("a")) for name, sink in sinks.items()}
    assert attempts == {"fine": 1, "later": 2, "refused": 1, "never": 2, "nobody": 1}
    assert [one.event for one in (refused, never)] == ["b", "b"]
    assert refused.headers["ce-knativeerrordest"] == heard["refused"].url
    assert refused.headers["ce-knativeerrorcode"] == "400"
    assert base64.b64decode(refused.headers["ce-knativeerrordata"]) == b"no"
    assert not heard["nobody"].received
    assert all("prefer" not in one.headers for one in heard["fine"].received)


@pytest.mark.covers("KN-068", "KN-069", "KN-093", "KN-142", "KN-145")
def test_reply_of_a_trigger_is_an_event_of_its_broker_also_after_a_restart(
    space: Namespace, receiver: Receiver
) -> None:
    asked, heard = receiver.sink("asked"), receiver.sink("heard", lambda _: Answer(503))
    asked.behaviour = lambda one: (
        function("answer", one) if one.headers.get("ce-type", "a") != "answer" else Answer(202)
    )
    space.make("Broker", "b", delivery=quick(retry=100, delay=0.2))
    space.make("Trigger", "all", broker="b", subscriber=to(asked))
    only = {"attributes": {"type": "answer"}}
    space.make("Trigger", "answers", broker="b", subscriber=to(heard), filter=only)

    space.publish("Broker", "b")
    heard.wait()
    space.server.stop()
    heard.answers(Answer(202))
    space.server.start()
    space.server.wait_ready()
    eventually(heard.events, 60.0, "the reply arrives after the restart")

    eventually(lambda: len(asked.received) >= 2, 30.0, "the trigger gets its own reply")
    found = heard.received[-1]
    assert (found.headers["ce-source"], found.body) == ("/function", b"done")
    assert {one.headers.get("ce-type", "a") for one in asked.received} == {"a", "answer"}


def test_namespaces_do_not_hear_of_one_another(server: Server, receiver: Receiver) -> None:
    spaces, sinks = (
        [a_namespace(server) for _ in range(2)],
        [receiver.sink("1"), receiver.sink("2")],
    )
    for one, sink in zip(spaces, sinks, strict=True):
        one.make("Broker", "b")
        one.make("Channel", "b")
        one.make("Trigger", "t", broker="b", subscriber=to(sink))
        one.make("Subscription", "s", channel=channel("b"), subscriber=to(sink))

    spaces[0].publish("Broker", "b", id="first")
    spaces[0].publish("Channel", "b", id="second")
    spaces[1].publish("Broker", "b", id="third")

    sinks[0].wait(2)
    sinks[1].wait_for("third")
    assert sorted(one.event for one in sinks[0].received) == ["first", "second"]
    assert [one.event for one in sinks[1].received] == ["third"]


@pytest.mark.covers("KN-137")
def test_deleted_broker_or_channel_answers_no_more_and_drops_what_waits(
    space: Namespace, receiver: Receiver
) -> None:
    sink, witness = receiver.sink("in", lambda _: Answer(503)), receiver.sink("witness")
    slow = quick(retry=50, delay=0.5)
    space.make("Broker", "b")
    space.make("Trigger", "t", broker="b", subscriber=to(sink), delivery=slow)
    space.make("Channel", "c")
    space.make("Subscription", "s", channel=channel("c"), subscriber=to(sink), delivery=slow)
    space.make("Broker", "other")
    space.make("Trigger", "other", broker="other", subscriber=to(witness))
    space.publish("Broker", "b")
    space.publish("Channel", "c")
    sink.wait(4)

    space.delete("Broker", "b")
    space.delete("Channel", "c")
    answers = [space.post(kind, name).status for kind, name in (("Broker", "b"), ("Channel", "c"))]
    seen = len(sink.received)
    for number in range(3):
        space.publish("Broker", "other", id=f"{number}")
        witness.wait_for(f"{number}")

    assert answers == [404, 404]
    assert len(sink.received) <= seen + 2, "only requests that were open may still end"


DIALECTS = {
    "exact": {"exact": {"type": "a.b"}},
    "prefix": {"prefix": {"type": "a."}},
    "suffix": {"suffix": {"type": ".b"}},
    "all": {"all": [{"prefix": {"type": "a."}}, {"suffix": {"type": ".b"}}]},
    "any": {"any": [{"exact": {"type": "a.b"}}, {"exact": {"type": "z"}}]},
    "not": {"not": {"exact": {"type": "c.d"}}},
    "cesql": {"cesql": "type LIKE 'a.%'"},
}


def test_filters_of_triggers_in_every_dialect(space: Namespace, receiver: Receiver) -> None:
    space.make("Broker", "b")
    sinks = {name: receiver.sink(name) for name in (*DIALECTS, "everything")}
    for name, expression in DIALECTS.items():
        wanted = {"filters": [expression], "filter": {"attributes": {"type": "hidden"}}}
        space.make("Trigger", name, broker="b", subscriber=to(sinks[name]), **wanted)
    space.make("Trigger", "everything", broker="b", subscriber=to(sinks["everything"]))

    space.publish("Broker", "b", id="no", type="c.d")
    space.publish("Broker", "b", id="yes", type="a.b")
    for sink in sinks.values():
        sink.wait_for("yes")

    found = {name: sorted(one.event for one in sink.received) for name, sink in sinks.items()}
    assert found == {**{name: ["yes"] for name in DIALECTS}, "everything": ["no", "yes"]}
