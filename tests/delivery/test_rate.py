from __future__ import annotations

import itertools

import pytest

from penstock.delivery.rate import Limit, Pacer
from penstock.testing import FakeClock


def sent(limits: list[Limit], clock: FakeClock, seconds: float, step: float = 0.01) -> list[float]:
    """The times of requests when somebody always has one to make."""
    pacer, times, start = Pacer(), [], clock.now()
    while clock.now() < start + seconds:
        if pacer.slot(limits, clock.now()) <= clock.now():
            times.append(clock.now() - start)
        clock.advance(step)
    return times


def test_requests_of_a_slow_rate_are_evenly_apart(clock: FakeClock) -> None:
    times = sent([Limit("r", 1.0)], clock, 10.0)

    gaps = [after - before for before, after in itertools.pairwise(times)]
    assert len(times) == 10
    assert min(gaps) >= 0.999


@pytest.mark.parametrize("rate", [5.0, 50.0, 500.0])
def test_no_second_has_more_than_the_rate_and_a_tenth(clock: FakeClock, rate: float) -> None:
    times = sent([Limit("r", rate)], clock, 4.0, step=0.0013)

    most = max(sum(start <= time < start + 1.0 for time in times) for start in times)
    assert most <= rate * 1.1 + 1
    assert len(times) >= 4.0 * rate * 0.95


def test_clock_that_is_looked_at_rarely_still_reaches_the_rate(clock: FakeClock) -> None:
    pacer, limit, count = Pacer(), Limit("r", 100.0), 0
    for _ in range(100):
        while pacer.slot([limit], clock.now()) <= clock.now():
            count += 1
        clock.advance(0.04)

    assert 380 <= count <= 410


def test_strictest_of_several_limits_counts(clock: FakeClock) -> None:
    assert len(sent([Limit("r", 100.0), Limit("s", 2.0)], clock, 5.0)) == 10


def test_names_do_not_disturb_each_other(clock: FakeClock) -> None:
    pacer = Pacer()
    pacer.slot([Limit("a", 0.1)], clock.now())

    assert pacer.slot([Limit("b", 0.1)], clock.now()) == clock.now()
    assert pacer.slot([Limit("a", 0.1)], clock.now()) > clock.now()


def test_those_who_wait_are_promised_different_times(clock: FakeClock) -> None:
    pacer, limit, now = Pacer(), Limit("r", 2.0), clock.now()

    found = [pacer.slot([limit], now) - now for _ in range(4)]

    assert found == [0.0, 0.5, 1.0, 1.5]


def test_promise_is_kept(clock: FakeClock) -> None:
    pacer, limit = Pacer(), Limit("r", 2.0)
    promised = [pacer.slot([limit], clock.now()) for _ in range(4)]

    for time in promised[1:]:
        clock.advance(time - clock.now())
        assert pacer.slot([limit], clock.now()) == clock.now()


def test_last_request_of_another_process_counts(clock: FakeClock) -> None:
    pacer, limit = Pacer(), Limit("r", 0.5)
    pacer.learn(limit, clock.now() - 0.5)

    assert pacer.slot([limit], clock.now()) == clock.now() + 1.5


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()
