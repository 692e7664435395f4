"""Answers that refuse, as the errors of Penstock."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import Any

import msgspec

from penstock.client.answer import Answer
from penstock.errors import (
    ConflictError,
    EventError,
    LimitError,
    NotFoundError,
    PenstockError,
    PreconditionError,
    Problem,
    ResourceError,
    StoreError,
    UnsupportedError,
)


class _Document(msgspec.Struct, frozen=True):
    """A problem document (RFC 9457)."""

    type: str = ""
    title: str = ""
    detail: str = ""
    problems: tuple[dict[str, Any], ...] = ()


def refusal(answer: Answer, address: str, fault: type[EventError | ResourceError]) -> PenstockError:
    """Return the error that an answer means; `fault` is the one that carries problems."""
    document = _document(answer.body)
    text = document.detail or document.title or _phrase(answer.status)
    if answer.status in _FAULTY:
        return fault(_problems(document) or [Problem("", text)])
    make = _ERRORS.get(answer.status)
    if make is None or document.type.endswith(":store"):
        return StoreError(f"the server answered {answer.status}: {text}", address=address)
    return make(text, address, answer)


def _limited(limit: str) -> Callable[[str, str, Answer], PenstockError]:
    return lambda text, _, answer: LimitError(text, limit=limit, retry_after=_wait(answer))


_FAULTY = frozenset({400, 422})
_ERRORS: Mapping[int, Callable[[str, str, Answer], PenstockError]] = {
    404: lambda text, address, _: NotFoundError(text, address=address),
    405: lambda text, address, _: UnsupportedError(text, what=address),
    406: _limited("inline"),
    409: lambda text, address, answer: ConflictError(
        text, address=address, problems=_problems(_document(answer.body))
    ),
    412: lambda text, address, _: PreconditionError(text, address=address),
    413: _limited("size"),
    415: lambda text, address, _: UnsupportedError(text, what=address),
    429: _limited("load"),
    503: _limited("load"),
}


def _problems(document: _Document) -> list[Problem]:
    return [
        Problem(str(one.get("path", "")), str(one.get("message", ""))) for one in document.problems
    ]


def _document(body: bytes) -> _Document:
    try:
        return msgspec.json.decode(body, type=_Document)
    except msgspec.MsgspecError:
        return _Document()


def _phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return f"status {status}"


def _wait(answer: Answer) -> int | None:
    text = answer.headers.get("retry-after", "")
    return int(text) if text.isascii() and text.isdigit() else None
