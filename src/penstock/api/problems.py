"""Errors as problem documents (RFC 9457): one table from error class to status."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from typing import NamedTuple

import msgspec

from penstock.errors import (
    ConflictError,
    EventError,
    ExistsError,
    ExpiredError,
    ExpressionError,
    ForbiddenError,
    FormatError,
    LimitError,
    NotFoundError,
    OwnershipError,
    PenstockError,
    PreconditionError,
    Problem,
    ResourceError,
    StoreError,
    UnsupportedError,
)

MEDIA_TYPE = "application/problem+json"
_TYPE = "urn:penstock:problem:"


class _Kind(NamedTuple):
    status: HTTPStatus
    name: str
    error: str | None = None
    """The error of the operation in the words of the Subscriptions API."""


_INVALID = "invalid"
KINDS: Mapping[type[PenstockError], _Kind] = {
    EventError: _Kind(HTTPStatus.BAD_REQUEST, "event", _INVALID),
    FormatError: _Kind(HTTPStatus.BAD_REQUEST, "format", _INVALID),
    ExpressionError: _Kind(HTTPStatus.BAD_REQUEST, "expression", _INVALID),
    ResourceError: _Kind(HTTPStatus.BAD_REQUEST, "resource", _INVALID),
    NotFoundError: _Kind(HTTPStatus.NOT_FOUND, "not-found", "notfound"),
    ConflictError: _Kind(HTTPStatus.CONFLICT, "conflict", "conflict"),
    ExistsError: _Kind(HTTPStatus.CONFLICT, "exists", "conflict"),
    OwnershipError: _Kind(HTTPStatus.CONFLICT, "ownership", "conflict"),
    ExpiredError: _Kind(HTTPStatus.GONE, "expired"),
    ForbiddenError: _Kind(HTTPStatus.FORBIDDEN, "forbidden"),
    PreconditionError: _Kind(HTTPStatus.PRECONDITION_FAILED, "precondition", "conflict"),
    LimitError: _Kind(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "limit", _INVALID),
    UnsupportedError: _Kind(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "unsupported", _INVALID),
    StoreError: _Kind(HTTPStatus.SERVICE_UNAVAILABLE, "store"),
}
# A limit that goes away by itself says when to come back.
_BUSY = _Kind(HTTPStatus.SERVICE_UNAVAILABLE, "busy")
# The registry was asked for more than fits into one answer.
_TOO_MUCH = _Kind(HTTPStatus.NOT_ACCEPTABLE, "limit")
_RETRY_AFTER = 5


class Answer(NamedTuple):
    """A response in parts, for plain ASGI and for Starlette alike."""

    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes


def status(error: PenstockError) -> int:
    """Return the status that tells the client of an error."""
    return _kind(error).status.value


def answer(error: PenstockError) -> Answer:
    """Return the problem document that tells the client of an error."""
    kind = _kind(error)
    document: dict[str, object] = {
        "type": _TYPE + kind.name,
        "title": kind.status.phrase,
        "status": kind.status.value,
        "detail": _detail(error),
    }
    if kind.error:
        document["error"] = kind.error
    problems = _problems(error)
    if problems:
        document["problems"] = [{"path": at.path, "message": at.message} for at in problems]
    if isinstance(error, ConflictError) and error.current is not None:
        document["current"] = error.current
    wait = _wait(error)
    headers = (("retry-after", str(wait)),) if wait is not None else ()
    return _answer(document, headers)


def plain(status: int, detail: str, headers: tuple[tuple[str, str], ...] = ()) -> Answer:
    """Return the problem document for what HTTP itself refuses."""
    title = HTTPStatus(status).phrase
    document = {"type": "about:blank", "title": title, "status": status, "detail": detail}
    return _answer(document, headers)


def _answer(document: Mapping[str, object], headers: tuple[tuple[str, str], ...]) -> Answer:
    body = msgspec.json.encode(document)
    fixed = (("content-type", MEDIA_TYPE), ("content-length", str(len(body))))
    return Answer(int(str(document["status"])), (*fixed, *headers), body)


def _kind(error: PenstockError) -> _Kind:
    if isinstance(error, LimitError) and error.retry_after is not None:
        return _BUSY
    if isinstance(error, LimitError) and error.limit == "inline":
        return _TOO_MUCH
    return next(KINDS[cls] for cls in type(error).__mro__ if cls in KINDS)


def _wait(error: PenstockError) -> int | None:
    if isinstance(error, StoreError):
        return _RETRY_AFTER
    return error.retry_after if isinstance(error, LimitError) else None


def _detail(error: PenstockError) -> str:
    if isinstance(error, EventError | ResourceError):
        number = len(error.problems)
        return f"{error.problems[0]}" if number == 1 else f"there are {number} problems"
    if isinstance(error, FormatError) and error.offset is not None:
        return f"{error} (at byte {error.offset})"
    return str(error)


def _problems(error: PenstockError) -> tuple[Problem, ...]:
    match error:
        case EventError() | ResourceError() | ConflictError():
            return error.problems
        case FormatError():
            return (Problem("", _detail(error)),)
        case ExpressionError():
            return (Problem("", str(error)),)
    return ()
