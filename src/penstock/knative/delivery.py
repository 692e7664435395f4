"""Delivery options: their problems, and the policy they make."""

from __future__ import annotations

from collections.abc import Iterator

from penstock.errors import Problem
from penstock.events.values import is_uri_reference
from penstock.knative import faults
from penstock.knative.meta import Object, member
from penstock.routing import Backoff, Policy, durations

# A doubled wait is never shortened; a year is longer than any route lives.
_NO_LIMIT = 31_536_000.0
_LONGEST_SECONDS = 86_400.0
_DELAY = 0.2
DEFAULT_RETRIES = 10
"""Where nobody asked for anything (KA-03)."""


def destination_problems(given: object, path: str) -> Iterator[Problem]:
    """Yield what the schema of a destination cannot say."""
    if not isinstance(given, dict):
        return
    uri = given.get("uri")
    if not given.get("ref") and not uri:
        yield faults.required(path, "expected at least one of ref, uri")
    if isinstance(uri, str) and uri and not is_uri_reference(uri):
        yield faults.invalid(f"{path}.uri", uri, "must be a URI or a relative reference (RFC 3986)")


def problems(given: object, path: str = "spec.delivery") -> Iterator[Problem]:
    """Yield what the schema of delivery options cannot say."""
    if not isinstance(given, dict):
        return
    yield from destination_problems(given.get("deadLetterSink"), f"{path}.deadLetterSink")
    for name in ("backoffDelay", "timeout"):
        text = given.get(name)
        if not isinstance(text, str):
            continue
        seconds = durations.seconds(text)
        if seconds is None or seconds > _LONGEST_SECONDS or (name == "timeout" and not seconds):
            detail = "must be an ISO 8601 duration such as PT0.5S, of a day at most"
            yield faults.invalid(f"{path}.{name}", text, detail)


def chosen(own: Object, parent: Object) -> Object:
    """Return the delivery options that count: any option of its own hides all of the parent's."""
    return _options(own) or _options(parent)


def policy(options: Object, dead_letter: str) -> Policy:
    """Return how deliveries are tried; without any option, as the system does by default."""
    retries = int(options.get("retry") or 0) if options else DEFAULT_RETRIES
    return Policy(
        retries=retries,
        delay=_seconds(options.get("backoffDelay"), _DELAY),
        backoff=Backoff(options.get("backoffPolicy") or Backoff.EXPONENTIAL),
        longest_delay=_NO_LIMIT,
        timeout=_seconds(options.get("timeout"), Policy().timeout),
        dead_letter=dead_letter or None,
    )


def _options(found: Object) -> Object:
    given = member(found, "spec", "delivery")
    return given if isinstance(given, dict) else {}


def _seconds(text: object, default: float) -> float:
    found = durations.seconds(text) if isinstance(text, str) else None
    return default if found is None else found
