"""What is known of destinations: which are up, slow or down; pure decisions."""

from __future__ import annotations

import msgspec

from penstock.ports import Health, State

_DOWN_AFTER = 3
# Who answers, if only to refuse, is there: every delivery follows its own schedule (KN-088) until
# so many refusals in a row show that more requests only make it worse.
_DOWN_AFTER_REFUSALS = 50
_PROBE_STEP = 0.05
_LONGEST_PROBE_WAIT = 5.0


class Sample(msgspec.Struct, frozen=True):
    """What one batch, or one group of retries, saw of a destination."""

    delivered: int = 0
    failed: int = 0
    """Attempts that got no answer."""
    refused: int = 0
    """Attempts whose answer asks for another one; a refusal of one event for good is an answer."""
    unfinished: int = 0
    """Attempts that the batch could not wait for."""
    slowest: float = 0.0
    retry_after: float = 0.0
    cause: str = ""


def after(health: Health, sample: Sample, now: float, patience: float) -> Health:
    """Return the health of a destination after a sample.

    `patience` is how long a micro-batch can wait for one answer.
    """
    if sample.delivered and sample.slowest < patience:
        return _up(health, sample, now)
    if sample.delivered or sample.unfinished:
        return _turned(health, State.SLOW, 0, now, sample.cause or "answers slowly")
    failures = health.failures + sample.failed + sample.refused
    limit = _DOWN_AFTER if sample.failed else _DOWN_AFTER_REFUSALS
    state = State.DOWN if failures >= limit else health.state
    pause = max(sample.retry_after, probe_wait(failures) if state is State.DOWN else 0.0)
    held = now + pause if pause else 0.0
    return msgspec.structs.replace(
        _turned(health, state, failures, now, sample.cause), hold_until=held
    )


def probe_wait(failures: int) -> float:
    """Return the seconds between two requests to a destination that keeps failing."""
    return min(_PROBE_STEP * failures, _LONGEST_PROBE_WAIT)


def _up(health: Health, sample: Sample, now: float) -> Health:
    turned = _turned(health, State.UP, 0, now, sample.cause)
    held = now + sample.retry_after if sample.retry_after else 0.0
    return msgspec.structs.replace(turned, hold_until=held)


def _turned(health: Health, state: State, failures: int, now: float, cause: str) -> Health:
    since = health.since if health.state is state else now
    return Health(health.destination, state, failures, 0.0, cause, since)
