from __future__ import annotations

import json

import pytest

from penstock.client.answer import Answer
from penstock.client.refusal import refusal
from penstock.errors import (
    ConflictError,
    EventError,
    LimitError,
    NotFoundError,
    PenstockError,
    Problem,
    ResourceError,
    StoreError,
    UnsupportedError,
)

ADDRESS = "http://host/events"


def refused(status: int, document: object = None, **headers: str) -> PenstockError:
    body = b"" if document is None else json.dumps(document).encode()
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return refusal(Answer(status, named, body), ADDRESS, EventError)


def test_problems_of_the_server_are_kept() -> None:
    problems = [{"path": "id", "message": "is missing"}, {"path": "type", "message": "is empty"}]

    error = refused(400, {"detail": "there are 2 problems", "problems": problems})

    assert isinstance(error, EventError)
    assert error.problems == (Problem("id", "is missing"), Problem("type", "is empty"))


def test_refusal_without_problems_has_its_detail_as_one() -> None:
    error = refused(400, {"title": "Bad Request", "detail": "no JSON"})

    assert isinstance(error, EventError)
    assert error.problems == (Problem("", "no JSON"),)


def test_call_says_which_error_problems_become() -> None:
    error = refusal(Answer(400, {}, b""), ADDRESS, ResourceError)

    assert isinstance(error, ResourceError)


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (404, NotFoundError),
        (405, UnsupportedError),
        (409, ConflictError),
        (413, LimitError),
        (415, UnsupportedError),
        (429, LimitError),
        (503, LimitError),
        (302, StoreError),
        (500, StoreError),
        (599, StoreError),
    ],
)
def test_each_status_has_its_error(status: int, kind: type[PenstockError]) -> None:
    error = refused(status, {"detail": "so it is"})

    assert type(error) is kind
    assert "so it is" in str(error)


def test_failing_store_is_no_limit() -> None:
    error = refused(503, {"type": "urn:penstock:problem:store", "detail": "the disk failed"})

    assert isinstance(error, StoreError)
    assert error.address == ADDRESS


@pytest.mark.parametrize(
    ("text", "seconds"), [("7", 7), ("Wed, 21 Oct 2026 07:28:00 GMT", None), ("-1", None)]
)
def test_wait_is_taken_from_the_header(text: str, seconds: int | None) -> None:
    error = refused(503, retry_after=text)

    assert isinstance(error, LimitError)
    assert error.retry_after == seconds


def test_answer_of_a_stranger_is_told_by_its_status() -> None:
    error = refusal(Answer(404, {}, b"<html>"), ADDRESS, EventError)

    assert str(error) == "Not Found"
