"""Problems in the words of Kubernetes, so that clients and people recognize them."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from penstock.errors import Problem

_REASONS = {
    "Required value": "FieldValueRequired",
    "Unsupported value": "FieldValueNotSupported",
    "Forbidden": "FieldValueForbidden",
    "Duplicate value": "FieldValueDuplicate",
}


def required(path: str, detail: str = "") -> Problem:
    return Problem(path, f"Required value: {detail}" if detail else "Required value")


def invalid(path: str, value: object, detail: str) -> Problem:
    return Problem(path, f"Invalid value: {_shown(value)}: {detail}")


def unsupported(path: str, value: object, known: Iterable[str]) -> Problem:
    choices = ", ".join(f'"{name}"' for name in known)
    return Problem(path, f"Unsupported value: {_shown(value)}: supported values: {choices}")


def forbidden(path: str, detail: str) -> Problem:
    return Problem(path, f"Forbidden: {detail}")


def immutable(path: str, value: object) -> Problem:
    return invalid(path, value, "field is immutable: delete the object and create it anew")


def reason(problem: Problem) -> str:
    """Return the reason that a cause in a Status object gives for a problem."""
    return _REASONS.get(problem.message.partition(":")[0], "FieldValueInvalid")


def _shown(value: object) -> str:
    text = msgspec.json.encode(value).decode()
    return text if len(text) <= 200 else f"{text[:200]}…"  # noqa: PLR2004 - enough to recognize it
