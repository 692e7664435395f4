"""The handshake of HTTP web hooks: what a sender asks, and what an answer allows."""

from __future__ import annotations

import enum
import re
from collections.abc import Iterable

import msgspec

ORIGIN = "webhook-request-origin"
CALLBACK = "webhook-request-callback"
RATE = "webhook-request-rate"
ALLOWED_ORIGIN = "webhook-allowed-origin"
ALLOWED_RATE = "webhook-allowed-rate"

_ANY = "*"
_NUMBER = re.compile(r"[0-9]{1,9}")


class Consent(enum.Enum):
    """What an answer says of sending."""

    GIVEN = enum.auto()
    REFUSED = enum.auto()
    """Another origin is allowed, this one is not."""
    SILENT = enum.auto()
    """Nothing: consent may come later, or the sink does not know the handshake."""


class Permission(msgspec.Struct, frozen=True):
    """What a target allows: whether, and how many requests per minute (None: any number)."""

    consent: Consent
    rate: int | None = None


def question(origin: str, callback: str = "", rate: int = 0) -> list[tuple[str, str]]:
    """Return the headers of the validation request (Web Hooks 4.1)."""
    headers = [(ORIGIN, origin)]
    if callback:
        headers.append((CALLBACK, callback))
    if rate:
        headers.append((RATE, str(rate)))
    return headers


def permission(headers: Iterable[tuple[str, str]], origin: str, rate: int = 0) -> Permission:
    """Return what an answer allows; its status says nothing (Web Hooks 4.2)."""
    found = {name.lower(): value.strip() for name, value in headers}
    allowed = found.get(ALLOWED_ORIGIN)
    if allowed is None:
        return Permission(Consent.SILENT)
    if allowed != _ANY and allowed.lower() != origin.lower():
        return Permission(Consent.REFUSED)
    return Permission(Consent.GIVEN, allowed_rate(found.get(ALLOWED_RATE), rate))


def allowed_rate(text: str | None, asked: int = 0) -> int | None:
    """Return the requests per minute that a header grants; without one the rate asked for."""
    value = (text or "").strip()
    if value == _ANY:
        return None
    if _NUMBER.fullmatch(value) and int(value):
        return int(value)
    return asked or None
