from __future__ import annotations

import json
import re
import signal
import subprocess
from dataclasses import dataclass

import pytest
from pyreqwest.simple.sync_request import pyreqwest_request

from penstock.client import Client, CloudEvent, document, event
from tests.cli.command import Done, finish, run, start

pytestmark = pytest.mark.network

STRUCTURED = ("content-type", "application/cloudevents+json")


@dataclass(frozen=True, slots=True)
class Listening:
    """A subscribe command that has said where it receives."""

    process: subprocess.Popen[str]
    id: str
    sink: str

    def deliver(self, event: CloudEvent) -> int:
        """Do what the pipeline does."""
        request = pyreqwest_request("POST", self.sink).header(*STRUCTURED)
        return request.body_bytes(document(event)).send().status


def listening(client: Client, *options: str) -> Listening:
    process = start("subscribe", "--url", client.url, *options)
    assert process.stderr is not None
    line = process.stderr.readline()
    match = re.fullmatch(r"subscribed as (\S+), receiving at (\S+)\n", line)
    assert match, line
    return Listening(process, match[1], match[2])


def ids(client: Client) -> list[str]:
    return [one.id for one in client.subscriptions()]


def test_events_are_printed_for_machines_until_there_are_enough(client: Client) -> None:
    running = listening(client, "--json", "--count", "2")
    events = [event(type="t", source="/s", data={"n": number}) for number in range(2)]

    statuses = [running.deliver(one) for one in events]
    done = finish(running.process)

    assert statuses == [204, 204]
    assert [json.loads(line)["data"] for line in done.out.splitlines()] == [{"n": 0}, {"n": 1}]
    assert done.code == 0
    assert ids(client) == []


def test_event_is_printed_for_people(client: Client) -> None:
    running = listening(client, "--once")

    running.deliver(event(type="com.example.a", source="/s", id="7", time=None, data="hello\x1b"))
    done = finish(running.process)

    assert done == Done(
        0, "com.example.a  /s  7\n  datacontenttype: text/plain; charset=utf-8\n  hello\\x1b\n", ""
    )


def test_subscription_is_what_was_asked_for(client: Client) -> None:
    running = listening(
        client,
        "--type",
        "a",
        "--type",
        "b",
        "--source",
        "/s",
        "--exact",
        "subject=x",
        "--filter",
        '{"not": {"prefix": {"id": "1"}}}',
    )

    made = client.subscription(running.id)
    running.process.send_signal(signal.SIGINT)
    finish(running.process)

    assert (made.types, made.source, made.sink) == (("a", "b"), "/s", running.sink)
    assert made.filters == ({"exact": {"subject": "x"}}, {"not": {"prefix": {"id": "1"}}})


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_subscription_is_deleted_when_told_to_stop(client: Client, number: signal.Signals) -> None:
    running = listening(client)
    before = ids(client)

    running.process.send_signal(number)
    done = finish(running.process)

    assert before == [running.id]
    assert ids(client) == []
    assert (done.code, done.out, done.err) == (0, "", "")


def test_too_few_events_in_time_are_a_failure(client: Client) -> None:
    done = run("subscribe", "--count", "3", "--timeout", "0.1", "--url", client.url)

    assert done.code == 1
    assert done.err.endswith("3 of 3 events did not arrive\n")
    assert ids(client) == []


def test_time_without_a_count_is_no_failure(client: Client) -> None:
    done = run("subscribe", "--timeout", "0.1", "--url", client.url)

    assert done.code == 0


def test_subscription_is_deleted_when_nobody_reads_any_more(client: Client) -> None:
    running = listening(client, "--json")
    assert running.process.stdout is not None

    running.process.stdout.close()
    for _ in range(2):
        running.deliver(event(type="t", source="/s"))
    running.process.wait(30)
    assert running.process.stderr is not None
    left = running.process.stderr.read()
    running.process.stderr.close()

    assert running.process.returncode == 1
    assert "Traceback" not in left
    assert ids(client) == []


def test_refused_filter_leaves_nothing_behind(client: Client) -> None:
    done = run("subscribe", "--exact", "Type=a", "--url", client.url)

    assert done.code == 1
    assert "filters[0].exact.Type" in done.err
    assert ids(client) == []
