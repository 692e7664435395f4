"""Errors below /api and /apis: the Status object of Kubernetes."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, NamedTuple

from starlette.responses import Response

from penstock.api.resource import json
from penstock.errors import (
    ConflictError,
    ExistsError,
    ExpiredError,
    ForbiddenError,
    FormatError,
    LimitError,
    NotFoundError,
    OwnershipError,
    PenstockError,
    Problem,
    ResourceError,
    StoreError,
    UnsupportedError,
)
from penstock.knative import faults
from penstock.knative.kinds import Kind

_RETRY_SECONDS = 5


class _Meaning(NamedTuple):
    code: int
    reason: str


MEANINGS: Mapping[type[PenstockError], _Meaning] = {
    FormatError: _Meaning(400, "BadRequest"),
    ForbiddenError: _Meaning(403, "Forbidden"),
    NotFoundError: _Meaning(404, "NotFound"),
    ExistsError: _Meaning(409, "AlreadyExists"),
    OwnershipError: _Meaning(409, "Conflict"),
    ConflictError: _Meaning(409, "Conflict"),
    ExpiredError: _Meaning(410, "Expired"),
    LimitError: _Meaning(413, "RequestEntityTooLarge"),
    UnsupportedError: _Meaning(415, "UnsupportedMediaType"),
    ResourceError: _Meaning(422, "Invalid"),
    StoreError: _Meaning(503, "ServiceUnavailable"),
}
_FAULT = _Meaning(500, "InternalError")


class About(NamedTuple):
    """Which object an error is about."""

    kind: Kind | None = None
    name: str = ""


def status(error: PenstockError, about: About = About()) -> dict[str, Any]:  # noqa: B008 - frozen
    """Return the Status object that tells a client of an error."""
    mro = type(error).__mro__
    meaning = next((MEANINGS[one] for one in mro if one in MEANINGS), _FAULT)
    details = _details(about)
    problems = error.problems if isinstance(error, ResourceError | OwnershipError) else ()
    if problems:
        details["causes"] = [_cause(error, at) for at in problems]
    if meaning.code == HTTPStatus.SERVICE_UNAVAILABLE:
        details["retryAfterSeconds"] = _RETRY_SECONDS
    return failure(meaning.code, meaning.reason, _message(error, about), details)


def failure(
    code: int, reason: str, message: str, details: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Return a Status object that says no."""
    made = {"status": "Failure", "message": message, "reason": reason, "code": code}
    return {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        **made,
        **({"details": dict(details)} if details else {}),
    }


def deleted(kind: Kind, name: str, uid: str) -> dict[str, Any]:
    """Return the Status object that says that an object is gone."""
    return {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Success",
        "details": {"name": name, "group": kind.group, "kind": kind.plural, "uid": uid},
    }


def refusal(document: Mapping[str, Any]) -> Response:
    """Return a Status object as a response."""
    wait = document.get("details", {}).get("retryAfterSeconds")
    return json(document, document["code"], {"retry-after": str(wait)} if wait else None)


def _details(about: About) -> dict[str, Any]:
    if about.kind is None:
        return {}
    made = {"name": about.name, "group": about.kind.group, "kind": about.kind.plural}
    return {key: value for key, value in made.items() if value}


def _message(error: PenstockError, about: About) -> str:
    if not isinstance(error, ResourceError) or about.kind is None:
        return str(error)
    found = [str(problem) for problem in error.problems]
    text = found[0] if len(found) == 1 else f"[{', '.join(found)}]"
    group = f".{about.kind.group}" if about.kind.group else ""
    return f'{about.kind.kind}{group} "{about.name}" is invalid: {text}'


def _cause(error: PenstockError, problem: Problem) -> dict[str, str]:
    is_conflict = isinstance(error, OwnershipError)
    reason = "FieldManagerConflict" if is_conflict else faults.reason(problem)
    return {"reason": reason, "message": problem.message, "field": problem.path}
