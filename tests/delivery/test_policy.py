from __future__ import annotations

import pytest

from penstock.delivery import deadline, next_attempt, wait
from penstock.routing import Backoff, Policy

LINEAR = Policy(retries=3, delay=0.2, backoff=Backoff.LINEAR)
DOUBLING = Policy(retries=3, delay=0.2, backoff=Backoff.EXPONENTIAL)


@pytest.mark.covers("KN-106")
def test_linear_waits_are_all_alike() -> None:
    assert [wait(LINEAR, failed) for failed in (1, 2, 3)] == [0.2, 0.2, 0.2]


@pytest.mark.covers("KN-107")
def test_exponential_waits_double_from_the_first_on() -> None:
    assert [wait(DOUBLING, failed) for failed in (1, 2, 3)] == [0.2, 0.4, 0.8]


def test_waits_grow_no_longer_than_the_longest() -> None:
    policy = Policy(delay=1.0, longest_delay=600.0)

    assert [wait(policy, failed) for failed in (10, 11, 5_000)] == [512.0, 600.0, 600.0]


@pytest.mark.covers("KN-103")
@pytest.mark.parametrize("retries", [0, 1, 3])
def test_after_so_many_retries_it_is_given_up(retries: int) -> None:
    policy = Policy(retries=retries, delay=0.2)

    due = [next_attempt(policy, failed, 100.0, 1e9) for failed in range(1, retries + 2)]

    assert due[-1] is None
    assert None not in due[:-1]


def test_without_a_number_it_is_tried_until_the_deadline() -> None:
    policy = Policy(span=60.0)
    last = deadline(policy, 100.0)

    assert last == 160.0
    assert next_attempt(policy, 7, 159.9, last) == 159.9 + 64.0
    assert next_attempt(policy, 7, 160.0, last) is None


def test_deadline_is_the_end_of_the_whole_schedule() -> None:
    assert deadline(DOUBLING, 100.0) == pytest.approx(100.0 + 0.2 + 0.4 + 0.8 + 30.0)
    assert deadline(Policy(retries=0, timeout=5.0), 100.0) == 105.0


@pytest.mark.timeout(5)
def test_deadline_of_countless_retries_is_known_at_once() -> None:
    policy = Policy(retries=10**12, delay=1.0, longest_delay=4.0, timeout=0.0)

    assert deadline(policy, 0.0) == pytest.approx(1.0 + 2.0 + 4.0 * (10**12 - 2))


def test_retry_after_only_ever_lengthens_the_wait() -> None:
    assert next_attempt(DOUBLING, 1, 100.0, 1e9, retry_after=5.0) == 105.0
    assert next_attempt(DOUBLING, 3, 100.0, 1e9, retry_after=0.1) == 100.8
    assert next_attempt(DOUBLING, 4, 100.0, 1e9, retry_after=5.0) is None
