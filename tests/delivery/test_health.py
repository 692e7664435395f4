from __future__ import annotations

from penstock.delivery.health import Sample, after, probe_wait
from penstock.ports import Health, State
from penstock.testing import FakeClock

CLOCK = FakeClock()
NOW = CLOCK.now()
UP = Health("d")
PATIENCE = 0.5


def seen(health: Health, *samples: Sample, now: float = NOW) -> Health:
    for sample in samples:
        health = after(health, sample, now, PATIENCE)
    return health


def test_quick_answers_keep_a_destination_up() -> None:
    assert seen(UP, Sample(delivered=3, slowest=0.1)) == UP


def test_failures_in_a_row_make_it_down_and_hold_requests_back() -> None:
    twice = seen(UP, Sample(failed=1), Sample(failed=1))
    thrice = seen(twice, Sample(failed=1, cause="no answer"))

    assert (twice.state, twice.failures, twice.hold_until) == (State.UP, 2, 0.0)
    assert (thrice.state, thrice.failures, thrice.cause) == (State.DOWN, 3, "no answer")
    assert thrice.hold_until == NOW + probe_wait(3)
    assert thrice.since == NOW


def test_failures_of_one_batch_count_together() -> None:
    assert seen(UP, Sample(failed=3)).state is State.DOWN


def test_refusals_in_a_row_make_it_down_only_when_they_are_many() -> None:
    few = seen(UP, Sample(refused=20), Sample(refused=20))
    many = seen(few, Sample(refused=20))

    assert (few.state, few.failures, few.hold_until) == (State.UP, 40, 0.0)
    assert (many.state, many.hold_until) == (State.DOWN, NOW + probe_wait(60))


def test_refusal_does_not_bring_back_what_is_down() -> None:
    down = seen(UP, Sample(failed=3))

    assert seen(down, Sample(refused=1)).state is State.DOWN


def test_any_quick_answer_makes_it_up_again() -> None:
    down = seen(UP, Sample(failed=5))

    back = seen(down, Sample(delivered=1, failed=1, slowest=0.1), now=NOW + 9.0)

    assert (back.state, back.failures, back.hold_until, back.since) == (
        State.UP,
        0,
        0.0,
        NOW + 9.0,
    )


def test_answer_that_a_batch_cannot_wait_for_makes_it_slow() -> None:
    assert seen(UP, Sample(delivered=1, slowest=0.6)).state is State.SLOW
    assert seen(UP, Sample(unfinished=1)).state is State.SLOW


def test_some_unfinished_among_quick_answers_leave_it_up() -> None:
    assert seen(UP, Sample(delivered=5, unfinished=2, slowest=0.4)).state is State.UP


def test_slow_destination_that_fails_often_is_down() -> None:
    slow = seen(UP, Sample(unfinished=1))

    assert seen(slow, Sample(failed=2)).state is State.SLOW
    assert seen(slow, Sample(failed=3)).state is State.DOWN


def test_retry_after_holds_even_a_destination_that_is_up() -> None:
    one = seen(UP, Sample(failed=1, retry_after=7.0))
    other = seen(UP, Sample(delivered=1, failed=1, retry_after=7.0))

    assert (one.state, one.hold_until) == (State.UP, NOW + 7.0)
    assert (other.state, other.hold_until) == (State.UP, NOW + 7.0)


def test_probes_become_rarer_up_to_a_limit() -> None:
    waits = [probe_wait(failures) for failures in (3, 10, 50, 100, 10_000)]

    assert waits == sorted(waits)
    assert waits[-1] == waits[-2] == 5.0


def test_state_keeps_the_time_at_which_it_began() -> None:
    down = seen(UP, Sample(failed=3))

    assert seen(down, Sample(failed=1), now=NOW + 60.0).since == NOW
