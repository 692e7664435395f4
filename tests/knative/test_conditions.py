from __future__ import annotations

import pytest

from penstock.knative.conditions import FALSE, TRUE, UNKNOWN, Condition, documents, ready, summary


@pytest.mark.parametrize(
    ("statuses", "status"),
    [
        ([], TRUE),
        ([TRUE, TRUE], TRUE),
        ([TRUE, UNKNOWN], UNKNOWN),
        ([UNKNOWN, FALSE], FALSE),
        ([FALSE, TRUE], FALSE),
    ],
    ids=str,
)
def test_ready_is_as_good_as_the_worst(statuses: list[str], status: str) -> None:
    found = [Condition(f"C{number}", one) for number, one in enumerate(statuses)]

    assert summary(found).status == status


def test_ready_says_why_not() -> None:
    found = summary([Condition("A"), Condition("B", FALSE, "Broken", "it is broken")])

    assert (found.reason, found.message) == ("Broken", "it is broken")


def test_condition_keeps_its_time_while_its_status_stays() -> None:
    before = documents([Condition("A", FALSE, "X"), Condition("B")], None, "then")

    after = documents([Condition("A", TRUE), Condition("B", TRUE, "Y")], before, "now")

    times = {one["type"]: one["lastTransitionTime"] for one in after}
    assert times == {"A": "now", "B": "then", "Ready": "now"}


@pytest.mark.parametrize(
    "found", [{}, {"status": 1}, {"status": {"conditions": 1}}, {"status": {"conditions": [1]}}]
)
def test_object_without_conditions_is_unknown(found: dict[str, object]) -> None:
    assert ready(found).status == UNKNOWN
