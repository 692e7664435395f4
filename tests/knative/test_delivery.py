from __future__ import annotations

import pytest

from penstock.knative.delivery import chosen, policy, problems
from penstock.routing import Backoff


def test_absent_options_mean_the_default_of_the_system() -> None:
    made = policy({}, "")

    assert (made.retries, made.delay, made.backoff) == (10, 0.2, Backoff.EXPONENTIAL)
    assert made.dead_letter is None


def test_absent_retry_beside_other_options_means_none() -> None:
    assert policy({"backoffDelay": "PT1S"}, "").retries == 0


def test_doubled_wait_is_not_shortened() -> None:
    assert policy({"retry": 20, "backoffDelay": "PT1H"}, "").longest_delay > 3_600 * 2**13


def test_options_are_read() -> None:
    given = {"retry": 3, "backoffDelay": "PT2S", "backoffPolicy": "linear", "timeout": "PT5S"}

    made = policy(given, "http://dead/")

    assert (made.retries, made.delay, made.backoff) == (3, 2.0, Backoff.LINEAR)
    assert (made.timeout, made.dead_letter) == (5.0, "http://dead/")


@pytest.mark.parametrize("own", [{}, {"delivery": {}}, {"delivery": None}], ids=str)
def test_empty_options_are_none(own: dict[str, object]) -> None:
    parent = {"spec": {"delivery": {"retry": 5}}}

    assert chosen({"spec": own}, parent) == {"retry": 5}


def test_any_option_hides_the_parent() -> None:
    parent = {"spec": {"delivery": {"retry": 5, "backoffDelay": "PT1S"}}}

    assert chosen({"spec": {"delivery": {"retry": 0}}}, parent) == {"retry": 0}


@pytest.mark.parametrize("text", ["1s", "PT", "P1Y", "P2D", "-PT1S", ""])
def test_wrong_durations_are_refused(text: str) -> None:
    assert [one.path for one in problems({"backoffDelay": text})] == ["spec.delivery.backoffDelay"]
