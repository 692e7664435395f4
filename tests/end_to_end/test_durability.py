"""Whatever is killed, at whatever moment: every acknowledged event reaches every matching sink."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from contextlib import suppress

import psutil
import pytest

from tests.end_to_end.conftest import Note
from tests.end_to_end.harness import Server
from tests.end_to_end.load import Load
from tests.end_to_end.loop import Loop, eventually
from tests.end_to_end.receiver import Answer, Receiver

RATE = 500.0
MARGIN = 1.2
"""So much more is sent than must be acknowledged, for a busy machine takes its share."""
PATIENCE = 120.0

PARTS: Mapping[str, Callable[[Server], list[psutil.Process]]] = {
    "api": lambda server: [server.api],
    "pipeline": lambda server: [server.pipeline],
    "jvm": lambda server: [server.jvm],
    "spark": lambda server: [server.pipeline, *server.pipeline.children(recursive=True)],
    "workers": lambda server: server.workers(),
    "supervisor": lambda server: [server.supervisor],
    "everything": lambda server: [server.supervisor, *server.family()],
}


def kill(server: Server, part: str, wait: Callable[[], object]) -> bool:
    """Kill -9 a part of a server, if it lives, after a wait; start it where nobody else does."""
    try:
        victims = PARTS[part](server)
    except (StopIteration, psutil.NoSuchProcess):
        return False
    wait()
    for victim in victims:
        with suppress(psutil.NoSuchProcess):
            victim.kill()
    if part in ("supervisor", "everything"):
        server.bury()
        # As a service manager does it: at once, and again while what is left holds the port.
        eventually(lambda: revived(server), 60.0, "the server starts again")
    return bool(victims)


def revived(server: Server) -> bool:
    if server.has_ended():
        server.start()
    try:
        return server.api.is_running()
    except (StopIteration, psutil.NoSuchProcess):
        return False


class Trial:
    """Two sinks under load, and what must have reached them in the end."""

    def __init__(self, server: Server, receiver: Receiver, load: Load, topic: str) -> None:
        self.server = server
        self.load = load
        # Sinks that take a moment keep requests open nearly always: a kill hits work, not a pause.
        self.every, self.even = (
            receiver.sink(name, lambda _: Answer(delay=0.02)) for name in ("every", "even")
        )
        even = [{"suffix": {"subject": "/even"}}]
        server.subscribe(self.every.url, {"maxinflight": 64}, types=[topic])
        server.subscribe(self.even.url, {"maxinflight": 64}, types=[topic], filters=even)

    def kill_at_work(self, part: str) -> None:
        """Kill once, under full load, while a sink has a request to answer."""
        with self.load:
            self._flow(1.0 + random.random())
            assert kill(self.server, part, self._work)
            self._flow(1.0)

    def kill_often(self, part: str, kills: int, longest_wait: float) -> None:
        """Kill under full load, each time at a moment that nobody can foresee."""
        with self.load:
            self._flow(1.0)
            eventually(lambda: self.every.received, PATIENCE, "the first events arrive")
            while kills:
                self._flow(random.uniform(0.0, longest_wait))
                kills -= kill(self.server, part, lambda: None)
            self._flow(1.0)

    def _work(self) -> None:
        eventually(lambda: self.every.open, PATIENCE, "a request is open")

    def _flow(self, seconds: float) -> None:
        load, what = self.load, f"{RATE:.0f} events/s are acknowledged"
        eventually(lambda: load.pace() >= RATE, PATIENCE, what)
        goal = len(load.acknowledged) + seconds * RATE
        eventually(lambda: len(load.acknowledged) >= goal, PATIENCE, what)

    def missing(self) -> dict[str, int]:
        """Return how many acknowledged events have not reached each sink, after a patient wait."""
        with suppress(AssertionError):
            eventually(lambda: not any(map(len, self._open().values())), PATIENCE, "all arrived")
        return {url: len(events) for url, events in self._open().items() if events}

    def _open(self) -> dict[str, set[str]]:
        every = set(self.load.acknowledged)
        even = {event for event in every if int(event) % 2 == 0}
        return {
            self.every.url: every.difference(self.every.events()),
            self.even.url: even.difference(self.even.events()),
        }

    def report(self) -> str:
        arrived = [sink.events() for sink in (self.every, self.even)]
        duplicates = sum(len(events) - len(set(events)) for events in arrived)
        return (
            f"{len(self.load.acknowledged)} events acknowledged, {self.load.broken} requests cut "
            f"off, {sum(map(len, arrived))} deliveries, {duplicates} of them duplicates"
        )


@pytest.fixture
def trial(server: Server, receiver: Receiver, loop: Loop, topic: str) -> Trial:
    def attributes(number: int) -> dict[str, str]:
        return {"type": topic, "subject": f"{number}/{'odd' if number % 2 else 'even'}"}

    load = Load(loop, f"{server.url}/events", attributes, RATE * MARGIN)
    return Trial(server, receiver, load, topic)


@pytest.mark.covers("KN-061")
@pytest.mark.parametrize("part", ["api", "spark", "workers", "everything"])
def test_nothing_acknowledged_is_lost(trial: Trial, part: str, note: Note) -> None:
    trial.kill_at_work(part)

    assert trial.missing() == {}
    note(f"kill -9 of {part}: {trial.report()}")


@pytest.mark.soak
@pytest.mark.covers("KN-061")
@pytest.mark.parametrize("part", PARTS)
def test_nothing_acknowledged_is_lost_in_ten_kills(trial: Trial, part: str, note: Note) -> None:
    # Long enough that some kills hit a server at work, short enough that some hit one that starts.
    trial.kill_often(part, kills=10, longest_wait=10.0 if part == "api" else 40.0)

    assert trial.missing() == {}
    note(f"10 times kill -9 of {part}: {trial.report()}")
