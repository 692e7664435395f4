"""Chains of functions and their replies: whatever is killed, every event gets to the end."""

from __future__ import annotations

import random
from contextlib import suppress

import pytest

from tests.end_to_end.cluster import a_namespace, channel, function
from tests.end_to_end.conftest import Note
from tests.end_to_end.harness import Server
from tests.end_to_end.load import Load
from tests.end_to_end.loop import Loop, eventually
from tests.end_to_end.receiver import Answer, Receiver
from tests.end_to_end.test_durability import PARTS, kill

RATE = 60.0
PATIENCE = 90.0
TAKES = 0.02


class Chains:
    """Channel → function → Channel → function → sink, and a Broker whose function replies."""

    def __init__(self, server: Server, receiver: Receiver, loop: Loop) -> None:
        self.server = server
        self.ends = [receiver.sink("end/channels"), receiver.sink("end/broker")]
        self.first = receiver.sink("first", lambda one: function("second", one, TAKES))
        second = receiver.sink("second", lambda one: function("third", one, TAKES))
        answers = receiver.sink("answers", lambda one: function("answer", one, TAKES))
        for end in self.ends:
            end.behaviour = lambda _: Answer(202, TAKES)
        space = a_namespace(server)
        for name in ("in", "between"):
            space.make("Channel", name)
        to_between = {"ref": channel("between")}
        to_end = {"uri": self.ends[0].url}
        space.make(
            "Subscription",
            "first",
            channel=channel("in"),
            subscriber={"uri": self.first.url},
            reply=to_between,
        )
        space.make(
            "Subscription",
            "second",
            channel=channel("between"),
            subscriber={"uri": second.url},
            reply=to_end,
        )
        space.make("Broker", "b")
        for name, kind, sink in (("asks", "load", answers), ("hears", "answer", self.ends[1])):
            only = {"attributes": {"type": kind}}
            space.make("Trigger", name, broker="b", subscriber={"uri": sink.url}, filter=only)
        self.loads = [
            Load(loop, f"{server.url}/{path}/{space.name}/{name}", _attributes, RATE)
            for path, name in (("channels", "in"), ("brokers", "b"))
        ]

    def kill(self, part: str, kills: int, longest_wait: float) -> None:
        """Kill a part so often under load, while a function has a request to answer."""
        with self.loads[0], self.loads[1]:
            self._flow(1.0)
            while kills:
                self._flow(random.uniform(0.5, longest_wait))
                kills -= kill(self.server, part, self._work)
            self._flow(1.0)

    def missing(self) -> list[int]:
        """Return how many acknowledged events did not get to each end, after a patient wait."""
        with suppress(AssertionError):
            eventually(lambda: not any(self._open()), PATIENCE, "everything is at its end")
        return self._open()

    def report(self) -> str:
        arrived = [end.events() for end in self.ends]
        duplicates = [len(events) - len(set(events)) for events in arrived]
        acknowledged = [len(load.acknowledged) for load in self.loads]
        return f"{acknowledged} events acknowledged, {duplicates} duplicates at the end of chains"

    def _open(self) -> list[int]:
        return [
            len(set(load.acknowledged).difference(end.events()))
            for load, end in zip(self.loads, self.ends, strict=True)
        ]

    def _work(self) -> None:
        eventually(lambda: self.first.open, PATIENCE, "a function is at work")

    def _flow(self, seconds: float) -> None:
        for load in self.loads:
            goal = len(load.acknowledged) + seconds * RATE / 2
            eventually(lambda: len(load.acknowledged) >= goal, PATIENCE, "events are taken")  # noqa: B023


def _attributes(_number: int) -> dict[str, str]:
    return {"type": "load"}


@pytest.fixture
def chains(server: Server, receiver: Receiver, loop: Loop) -> Chains:
    return Chains(server, receiver, loop)


@pytest.mark.covers("KN-068", "KN-081")
@pytest.mark.parametrize("part", ["spark", "everything"])
def test_every_event_gets_to_the_end_of_its_chain(chains: Chains, part: str, note: Note) -> None:
    chains.kill(part, kills=1, longest_wait=1.0)

    assert chains.missing() == [0, 0]
    note(f"chains of functions, kill -9 of {part}: {chains.report()}")


@pytest.mark.soak
@pytest.mark.covers("KN-068", "KN-081")
@pytest.mark.parametrize("part", PARTS)
def test_every_event_gets_to_the_end_of_its_chain_in_five_kills(
    chains: Chains, part: str, note: Note
) -> None:
    chains.kill(part, kills=5, longest_wait=10.0 if part == "api" else 30.0)

    assert chains.missing() == [0, 0]
    note(f"chains of functions, 5 times kill -9 of {part}: {chains.report()}")
