"""Of five sinks one is down, one is slow, one fails at random: the others do not feel it."""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass

import pytest

from tests.end_to_end.conftest import Note
from tests.end_to_end.harness import Server
from tests.end_to_end.load import Load
from tests.end_to_end.loop import Loop, eventually
from tests.end_to_end.machine import Watch, computing
from tests.end_to_end.receiver import Answer, Receiver, Sink

PATIENCE = 180.0
LINEAR = {"backoffdelay": "PT1S", "backoffpolicy": "linear"}
DUE = 1.0
LATE = 0.5 + 0.2 * DUE
"""How much later than it is due a retry may come, on a quiet machine."""


@dataclass(frozen=True, slots=True)
class Plan:
    """How long each phase lasts, how much is published, and how slow the slow sink is."""

    seconds: float
    rate: float
    slow_answer: float
    in_flight: int
    slow_share: int
    """One event of so many goes to the slow sink: what it can answer in time."""


SHORT = Plan(seconds=8.0, rate=40.0, slow_answer=3.0, in_flight=16, slow_share=16)
LONG = Plan(seconds=60.0, rate=100.0, slow_answer=10.0, in_flight=16, slow_share=100)


class Five:
    """The five sinks, and the load that they all get."""

    def __init__(self, server: Server, receivers: Callable[[], Receiver], topic: str) -> None:
        receiver, self.own = receivers(), receivers()
        self.good = [receiver.sink("good-1"), receiver.sink("good-2")]
        self.down = self.own.sink("down")
        self.slow, self.failing = receiver.sink("slow"), receiver.sink("failing")
        self._server, self._topic = server, topic

    def subscribe(self, plan: Plan) -> None:
        for sink in (*self.good, self.down):
            self._server.subscribe(sink.url, types=[self._topic])
        self._server.subscribe(self.failing.url, LINEAR, types=[self._topic])
        share = [{"exact": {"subject": "slow"}}]
        chosen = {"maxinflight": plan.in_flight, "timeout": 60}
        self._server.subscribe(self.slow.url, chosen, types=[self._topic], filters=share)

    def trouble(self, plan: Plan) -> None:
        self.own.close()
        self.slow.answers(Answer(delay=plan.slow_answer))
        self.failing.behaviour = lambda _: Answer(random.choice([200, 503]))

    def recover(self) -> None:
        self.own.open()
        for sink in (self.slow, self.failing):
            sink.answers(Answer())


@dataclass(frozen=True, slots=True)
class Result:
    """What was seen in one run."""

    five: Five
    load: Load
    before: float
    during: float
    after: float
    drained: float
    slow_events: set[str]
    factor: float
    """How much slower the machine was than a quiet one."""


def run(server: Server, five: Five, load: Load, plan: Plan) -> Result:
    """Publish through three phases, then wait until everything has arrived."""
    five.subscribe(plan)
    watch, computed = Watch(), sum(computing(server.family()).values())
    with load:
        eventually(lambda: len(five.good[0].received) > plan.rate, PATIENCE, "it has warmed up")
        before = phase(five, load, plan.seconds)
        five.trouble(plan)
        during = phase(five, load, plan.seconds)
        slow = {event for event in list(load.acknowledged) if int(event) % plan.slow_share == 0}
        # It must get everything at its own pace, while it is still slow.
        eventually(lambda: slow <= set(five.slow.events()), PATIENCE, "the slow one got its own")
        five.recover()
        recovered = time.monotonic()
        after = phase(five, load, plan.seconds)
    for sink in (*five.good, five.down, five.failing):
        eventually(lambda: set(load.acknowledged) <= set(sink.events()), PATIENCE, sink.url)  # noqa: B023
    factor = watch.factor(server.family(), computed)
    drained = time.monotonic() - recovered
    return Result(five, load, before, during, after, drained, slow, factor)


def phase(five: Five, load: Load, seconds: float) -> float:
    """Return the 95th percentile of the latencies of both good sinks during some seconds."""
    since = time.time()
    until = since + seconds
    eventually(lambda: time.time() > until, seconds + 5.0, "time passes")
    chosen = {event for event, at in list(load.sent.items()) if since <= at < until}
    chosen.intersection_update(list(load.acknowledged))
    for sink in five.good:
        eventually(lambda: chosen <= set(sink.events()), PATIENCE, f"all at {sink.url}")  # noqa: B023
    late = [
        one.at - load.sent[one.event]
        for sink in five.good
        for one in list(sink.received)
        if one.event in chosen
    ]
    return statistics.quantiles(late, n=20)[-1]


def gaps(sink: Sink) -> list[float]:
    """Return how long after each failure the next attempt came."""
    failed: dict[str, float] = {}
    found = []
    for request in sink.received:
        if request.event in failed:
            found.append(request.at - failed.pop(request.event))
        if request.status == 503 and request.answered is not None:
            failed[request.event] = request.answered
    return found


@pytest.fixture
def make(
    server: Server, receivers: Callable[[], Receiver], loop: Loop, topic: str
) -> Callable[[Plan], Result]:
    def made(plan: Plan) -> Result:
        def attributes(number: int) -> dict[str, str]:
            return {"type": topic, "subject": "fast" if number % plan.slow_share else "slow"}

        load = Load(loop, f"{server.url}/events", attributes, plan.rate)
        return run(server, Five(server, receivers, topic), load, plan)

    return made


@pytest.mark.covers("KN-100", "KN-120")
@pytest.mark.parametrize("plan", [SHORT, pytest.param(LONG, marks=pytest.mark.soak)])
def test_trouble_of_some_sinks_is_not_felt_by_others(
    make: Callable[[Plan], Result], plan: Plan, note: Note
) -> None:
    result = make(plan)

    retries = gaps(result.five.failing)
    note(
        f"five sinks: p95 of the good ones {result.before * 1000:.0f} ms before, "
        f"{result.during * 1000:.0f} during, {result.after * 1000:.0f} after; the slow one got "
        f"{len(result.slow_events)}, at most {result.five.slow.most_open} at once; "
        f"{len(retries)} retries {min(retries):.2f} to {max(retries):.2f} s after a failure; "
        f"{result.drained:.1f} s from recovery until everything had arrived "
        f"(on a machine {result.factor:.1f} times as slow as a quiet one)"
    )
    # The machine may be busier in one phase than in another: both quiet ones are the measure.
    assert result.during < 2 * max(result.before, result.after)
    assert result.five.slow.most_open <= plan.in_flight
    assert min(retries) >= DUE - 0.01
    assert max(retries) <= DUE + LATE * result.factor
