"""The commands of the first screen of the README, and those for dead letters."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from prometheus_client.parser import text_string_to_metric_families

from tests.end_to_end.harness import Server
from tests.end_to_end.loop import eventually
from tests.end_to_end.receiver import Answer, Receiver

PATIENCE = 60.0


def penstock(server: Server, *arguments: str) -> str:
    """Run a command to its end and return what it printed."""
    command = [sys.executable, "-m", "penstock", *arguments, "--url", server.url]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def counted(server: Server, key: str) -> dict[str, float]:
    """Return the metrics of one subscription."""
    text = server.call("GET", "/metrics").body.decode()
    return {
        sample.name.removeprefix("penstock_route_").removesuffix("_total"): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
        if sample.labels.get("route") == key
    }


def test_published_event_is_printed_by_the_subscriber(server: Server, topic: str) -> None:
    listen = ("subscribe", "--prefix", f"type={topic}", "--once", "--json", "--url", server.url)
    with subprocess.Popen(
        [sys.executable, "-m", "penstock", *listen], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as subscriber:
        eventually(lambda: list(server.subscriptions()), PATIENCE, "it has subscribed")

        printed = penstock(
            server, "publish", "--type", f"{topic}.hello", "--data", '{"hello": "world"}'
        )
        arrived, _ = subscriber.communicate(timeout=PATIENCE)

    assert json.loads(arrived)["id"] == printed.strip()
    assert json.loads(arrived)["data"] == {"hello": "world"}
    assert list(server.subscriptions()) == []


def test_dead_letter_is_shown_and_sent_again(
    server: Server, receiver: Receiver, topic: str
) -> None:
    sink = receiver.sink("in")
    sink.answers(Answer(400), Answer())
    key = server.subscribe(sink.url, types=[topic])
    event = server.publish(type=topic, data={"odd": "é"})
    eventually(lambda: server.status(key)["deliveries"]["dead"], PATIENCE, "the event is dead")

    [listed] = json.loads(penstock(server, "dead", "list", "--route", key, "--json"))
    shown = json.loads(penstock(server, "dead", "show", str(listed["number"]), "--json"))
    penstock(server, "dead", "retry", str(listed["number"]))

    assert "400" in listed["cause"]
    assert shown["event"]["id"] == event
    assert shown["event"]["data"] == {"odd": "é"}
    first, again = sink.wait(2)
    assert first.body == again.body
    sink.wait_for(event)
    assert json.loads(penstock(server, "dead", "list", "--route", key, "--json")) == []


@pytest.mark.covers("KN-091")
def test_metrics_say_what_became_of_events(server: Server, receiver: Receiver, topic: str) -> None:
    sink = receiver.sink("in")
    sink.answers(Answer(503), Answer(), Answer(400), Answer())
    key = server.subscribe(sink.url, {"backoffdelay": "PT0.1S"}, types=[topic])
    sink.wait_for(server.publish(type=topic))
    server.publish(type=topic)
    sink.wait_for(server.publish(type=topic))

    wanted = {"matched": 3, "delivered": 2, "dead": 1, "parked": 0}

    eventually(
        lambda: wanted.items() <= counted(server, key).items(), PATIENCE, f"counted are {wanted}"
    )
