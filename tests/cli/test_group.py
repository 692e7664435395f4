from __future__ import annotations

import pytest

from penstock.cli.group import message
from penstock.errors import EventError, LimitError, PenstockError, Problem, StoreError


@pytest.mark.parametrize(
    ("error", "lines"),
    [
        (StoreError("it failed", address="/x"), ["error: it failed"]),
        (
            EventError([Problem("id", "is missing"), Problem("", "is odd")]),
            ["error: id: is missing", "error: is odd"],
        ),
        (
            LimitError("too busy", limit="load", retry_after=5),
            ["error: too busy", "       try again in 5 s"],
        ),
        (LimitError("too large", limit="size"), ["error: too large"]),
    ],
    ids=["one", "problems", "busy", "large"],
)
def test_message_has_a_line_for_each_thing_to_know(error: PenstockError, lines: list[str]) -> None:
    assert message(error) == lines


def test_very_many_problems_are_cut_short() -> None:
    lines = message(EventError([Problem(str(number), "is wrong") for number in range(30)]))

    assert len(lines) == 21
    assert lines[-1] == "error: and 10 more problems"
