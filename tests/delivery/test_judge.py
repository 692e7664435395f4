from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.delivery import Outcome, judge
from penstock.delivery.judge import cause, retry_after
from penstock.ports import Response
from penstock.routing import Rules

NOW = 784_111_777.0
"""Sun, 06 Nov 1994 08:49:37 GMT."""


@pytest.mark.parametrize(
    ("status", "knative", "subscription"),
    [
        (0, Outcome.RETRY, Outcome.RETRY),
        (101, Outcome.REJECTED, Outcome.REJECTED),
        (200, Outcome.DELIVERED, Outcome.DELIVERED),
        (202, Outcome.DELIVERED, Outcome.DELIVERED),
        (299, Outcome.DELIVERED, Outcome.DELIVERED),
        (301, Outcome.REJECTED, Outcome.REJECTED),
        (307, Outcome.REJECTED, Outcome.REJECTED),
        (400, Outcome.REJECTED, Outcome.REJECTED),
        (404, Outcome.RETRY, Outcome.REJECTED),
        (408, Outcome.REJECTED, Outcome.RETRY),
        (409, Outcome.RETRY, Outcome.REJECTED),
        (410, Outcome.REJECTED, Outcome.STOPPED),
        (413, Outcome.REJECTED, Outcome.REJECTED),
        (425, Outcome.REJECTED, Outcome.RETRY),
        (429, Outcome.RETRY, Outcome.RETRY),
        (500, Outcome.RETRY, Outcome.RETRY),
        (503, Outcome.RETRY, Outcome.RETRY),
        (599, Outcome.RETRY, Outcome.RETRY),
    ],
)
def test_status_decides(status: int, knative: Outcome, subscription: Outcome) -> None:
    assert judge(Rules.KNATIVE, Response(status)) is knative
    assert judge(Rules.SUBSCRIPTION, Response(status)) is subscription


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("5", 5.0),
        (" 5 ", 5.0),
        ("0", 0.0),
        ("Sun, 06 Nov 1994 08:49:47 GMT", 10.0),
        ("Sun, 06 Nov 1994 08:49:27 GMT", 0.0),
        ("3600", 3_600.0),
        ("999999999", 3_600.0),
        ("9" * 400, 3_600.0),
        ("Fri, 31 Dec 9999 23:59:59 GMT", 3_600.0),
        ("-5", 0.0),
        ("1.5", 0.0),
        ("²", 0.0),
        ("٣", 0.0),
        ("", 0.0),
        ("soon", 0.0),
    ],
)
def test_retry_after_is_understood_and_bounded(text: str, seconds: float) -> None:
    response = Response(503, (("retry-after", text),))

    assert retry_after(response, NOW) == pytest.approx(seconds)


@given(st.text())
def test_no_retry_after_breaks_anything(text: str) -> None:
    assert 0.0 <= retry_after(Response(429, (("retry-after", text),)), NOW) <= 3_600.0


@pytest.mark.parametrize(
    ("status", "heard"), [(429, True), (503, True), (500, False), (202, False)]
)
def test_only_429_and_503_ask_to_wait(status: int, *, heard: bool) -> None:
    assert (retry_after(Response(status, (("retry-after", "5"),)), NOW) > 0) is heard


def test_cause_is_the_error_or_the_status() -> None:
    assert cause(Response(0, error="nobody there")) == "nobody there"
    assert cause(Response(503)) == "the sink answered 503"
