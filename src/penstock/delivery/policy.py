"""When a delivery is tried again, and when it is given up; timing only, no judgement."""

from __future__ import annotations

from penstock.routing.route import Backoff, Policy

_MOST_DOUBLED = 60


def wait(policy: Policy, failed: int) -> float:
    """Return the seconds between the `failed`-th failed attempt and the next (KA-04)."""
    if policy.backoff is Backoff.LINEAR:
        return policy.delay
    # The exponent is capped so that a long-lived delivery cannot overflow a float.
    return min(policy.delay * 2.0 ** min(failed - 1, _MOST_DOUBLED), policy.longest_delay)


def deadline(policy: Policy, first: float) -> float:
    """Return when the whole schedule of a delivery first tried at `first` has passed."""
    if policy.retries is None:
        return first + policy.span
    # The waits grow no more after so many, however many there are.
    growing = min(policy.retries, _MOST_DOUBLED + 1)
    waits = sum(wait(policy, number) for number in range(1, growing + 1))
    waits += wait(policy, growing) * (policy.retries - growing)
    return first + waits + policy.timeout


def next_attempt(
    policy: Policy, failed: int, now: float, last: float, retry_after: float = 0.0
) -> float | None:
    """Return when to try again after the `failed`-th failure, or None to give up.

    `last` is the deadline of the delivery; a Retry-After of the sink only ever lengthens the wait.
    """
    if policy.retries is not None and failed > policy.retries:
        return None
    if policy.retries is None and now >= last:
        return None
    return now + max(wait(policy, failed), retry_after)
