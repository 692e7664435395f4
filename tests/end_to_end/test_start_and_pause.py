"""Start in the past, pause and resume on a real server: nothing is lost, nothing comes twice."""

from __future__ import annotations

import json
import time
from collections import Counter
from datetime import UTC, datetime
from typing import Any

import psutil

from tests.end_to_end.conftest import Note
from tests.end_to_end.harness import Server
from tests.end_to_end.loop import eventually
from tests.end_to_end.receiver import Answer, Receiver, Sink

BATCH = {"content-type": "application/cloudevents-batch+json"}
PATIENCE = 60.0


def publish(server: Server, topic: str, first: int, count: int) -> list[str]:
    """Publish events with numbers as ids, and return those."""
    numbers = [str(first + number) for number in range(count)]
    plain = {"specversion": "1.0", "source": "/test", "type": topic}
    events = [{**plain, "id": number} for number in numbers]
    answer = server.call("POST", "/events", json.dumps(events).encode(), BATCH)
    assert answer.status == 202, answer.body
    return numbers


def arrived(sink: Sink, events: list[str]) -> None:
    """Wait until all events have arrived, and see that none of them came twice."""
    eventually(lambda: set(events) <= set(sink.events()), PATIENCE, f"{len(events)} events")
    assert {event: times for event, times in Counter(sink.events()).items() if times > 1} == {}


def start_of(server: Server, sink: str, start: str, topic: str) -> str:
    return server.subscribe(sink, types=[topic], config={"startfrom": start})


def test_subscription_starts_where_it_is_told(
    server: Server, receiver: Receiver, topic: str
) -> None:
    witness = server.subscribe(receiver.sink("witness").url, types=[topic])
    early = publish(server, topic, 0, 50)
    position = server.status(witness)["position"]
    moment = datetime.now(UTC).isoformat()
    late = publish(server, topic, 50, 50)
    starts = {"earliest": early + late, position: late, moment: late, "now": []}

    sinks = {start: receiver.sink(f"start{number}") for number, start in enumerate(starts)}
    keys = {start: start_of(server, sink.url, start, topic) for start, sink in sinks.items()}
    after = publish(server, topic, 100, 10)

    for start, expected in starts.items():
        arrived(sinks[start], expected + after)
        assert set(sinks[start].events()) == {*expected, *after}
    what = "all have caught up"
    eventually(lambda: all(at_rest(server.status(key)) for key in keys.values()), PATIENCE, what)


def at_rest(status: dict[str, Any]) -> bool:
    return bool(status["state"] == "running" and status["backlog"]["events"] == 0)


def test_pause_loses_nothing_and_resume_delivers_it(
    server: Server, receiver: Receiver, topic: str
) -> None:
    sink = receiver.sink("sink")
    key = server.subscribe(sink.url, types=[topic])
    arrived(sink, before := publish(server, topic, 0, 20))

    paused = server.call("POST", f"/subscriptions/{key}/pause")
    during = publish(server, topic, 100, 300)
    control = receiver.sink("control")
    server.subscribe(control.url, types=[topic])
    during += publish(server, topic, 400, 20)
    control.wait(20)

    assert paused.document()["paused"] is True
    assert sink.events() == before
    status = server.status(key)
    assert (status["state"], status["backlog"]["unread"] >= 320) == ("paused", True)

    server.call("POST", f"/subscriptions/{key}/resume")
    after = publish(server, topic, 500, 20)

    arrived(sink, before + during + after)
    eventually(lambda: at_rest(server.status(key)), PATIENCE, "all is settled")
    assert server.status(key)["deliveries"]["delivered"] == len(before + during + after)


def test_deliveries_that_fail_wait_for_a_resume(
    server: Server, receiver: Receiver, topic: str
) -> None:
    sink = receiver.sink("sink", lambda _: Answer(503))
    settings = {"backoffdelay": "PT0.1S", "backoffpolicy": "linear", "retry": 1000}
    key = server.subscribe(sink.url, settings, types=[topic])
    events = publish(server, topic, 0, 5)
    sink.wait(10)

    server.call("POST", f"/subscriptions/{key}/pause")
    eventually(lambda: server.status(key)["next_retry"] is None and not sink.open, 10.0, "it rests")
    seen = quiet_count(sink)
    sink.answers(Answer())
    assert server.status(key)["last_error"]["status"] == 503
    assert len(sink.received) == seen
    server.call("POST", f"/subscriptions/{key}/resume")

    arrived(sink, events)


def quiet_count(sink: Sink) -> int:
    """How many requests there were, once none came for a while."""
    seen, since = len(sink.received), time.monotonic()

    def still() -> bool:
        nonlocal seen, since
        if len(sink.received) != seen:
            seen, since = len(sink.received), time.monotonic()
        return time.monotonic() - since > 1.5

    eventually(still, 20.0, "no more requests")
    return seen


def test_kill_in_the_middle_of_a_catch_up_loses_nothing(
    server: Server, receiver: Receiver, topic: str, note: Note
) -> None:
    other = server.subscribe(receiver.sink("other").url, types=["none"])
    events = [one for first in (0, 2_000) for one in publish(server, topic, first, 2_000)]
    eventually(lambda: at_rest(server.status(other)), PATIENCE, "all events are in the past")
    sink = receiver.sink("sink", lambda _: Answer(delay=0.002))
    started = time.monotonic()
    key = start_of(server, sink.url, "earliest", topic)
    eventually(lambda: len(sink.received) > 100, PATIENCE, "it catches up")

    # It waits for room: a part is parked, the rest not even read.
    assert server.status(key)["catchup"]["remaining"] > 0, "it was not in the middle"
    victims = [server.pipeline, *server.pipeline.children(recursive=True)]
    for victim in victims:
        victim.kill()
    psutil.wait_procs(victims, timeout=10.0)

    # A busy machine takes its time to start everything again.
    eventually(lambda: set(events) <= set(sink.events()), 3 * PATIENCE, "all events")
    twice = len(sink.events()) - len(events)
    assert twice <= 64, "no more than what was under way"
    seconds = time.monotonic() - started
    eventually(lambda: at_rest(server.status(key)), PATIENCE, "all is settled")
    note(f"catch-up of {len(events)}, kill -9 of the pipeline: {seconds:.1f} s, {twice} twice")
