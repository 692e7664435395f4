from __future__ import annotations

import json

import pytest

from penstock import errors
from penstock.api import problems
from penstock.errors import (
    EventError,
    ExpressionError,
    FormatError,
    LimitError,
    PenstockError,
    Problem,
    StoreError,
)


def test_every_error_has_a_status() -> None:
    tree = {
        value
        for name, value in vars(errors).items()
        if isinstance(value, type) and issubclass(value, PenstockError) and not name.startswith("_")
    }

    assert tree - {PenstockError} == set(problems.KINDS)


def test_document_names_every_problem() -> None:
    answer = problems.answer(EventError([Problem("id", "is empty"), Problem("time", "is none")]))

    document = json.loads(answer.body)
    assert answer.status == document["status"] == 400
    assert document["title"] == "Bad Request"
    assert document["detail"] == "there are 2 problems"
    assert document["problems"] == [
        {"path": "id", "message": "is empty"},
        {"path": "time", "message": "is none"},
    ]


def test_position_of_a_fault_is_told() -> None:
    answer = problems.answer(FormatError("unexpected end", format="json", offset=7))

    assert "byte 7" in json.loads(answer.body)["problems"][0]["message"]


def test_expression_is_underlined() -> None:
    answer = problems.answer(ExpressionError("expected a value", text="a =", offset=3))

    assert json.loads(answer.body)["problems"][0]["message"].endswith("   ^")


@pytest.mark.parametrize(
    ("error", "status", "wait"),
    [
        (LimitError("too large", limit="event_bytes"), 413, None),
        (LimitError("too many", limit="backlog_events", retry_after=10), 503, "10"),
        (StoreError("broken", address="log"), 503, "5"),
    ],
)
def test_only_what_passes_by_itself_says_when_to_come_back(
    error: PenstockError, status: int, wait: str | None
) -> None:
    answer = problems.answer(error)

    assert answer.status == status
    assert dict(answer.headers).get("retry-after") == wait
