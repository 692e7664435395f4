"""What the answer of a sink means; judgement only, no timing."""

from __future__ import annotations

import enum
import re
from email.utils import parsedate_to_datetime

from penstock.ports import Response
from penstock.routing.route import Rules


class Outcome(enum.IntEnum):
    """What became of one attempt."""

    DELIVERED = 0
    RETRY = 1
    REJECTED = 2
    STOPPED = 3
    """Rejected, and the sink wants nothing more of this route (410, CE-124)."""


_RETRIED = {
    Rules.SUBSCRIPTION: frozenset({408, 425, 429}),
    Rules.KNATIVE: frozenset({404, 409, 429}),
}
_GONE = 410
_ABOUT_CONTENT = frozenset({400, 413, 415, 422})
_DIGITS = re.compile(r"\s*[0-9]+\s*")
_LONGEST_HOLD = 3_600.0


def judge(rules: Rules, response: Response) -> Outcome:
    """Return the outcome of an attempt (KN-122 to KN-135, and the webhook rules)."""
    status = response.status
    if 200 <= status < 300:  # noqa: PLR2004 - the HTTP classes of success
        return Outcome.DELIVERED
    if status == 0 or status >= 500 or status in _RETRIED[rules]:  # noqa: PLR2004
        return Outcome.RETRY
    if status == _GONE and rules is Rules.SUBSCRIPTION:
        return Outcome.STOPPED
    return Outcome.REJECTED


def is_apart(status: int) -> bool:
    """Tell whether the events of a batch refused with a status are sent again, each on its own."""
    return status in _ABOUT_CONTENT


def retry_after(response: Response, now: float) -> float:
    """Return the seconds that a 429 or 503 asks to wait, up to an hour; 0 for none (KA-15)."""
    text = response.header("retry-after") if response.status in (429, 503) else None
    if not text:
        return 0.0
    if _DIGITS.fullmatch(text):
        return min(float(text), _LONGEST_HOLD)
    try:
        asked = parsedate_to_datetime(text).timestamp() - now
    except (ValueError, OverflowError):
        return 0.0
    return min(max(asked, 0.0), _LONGEST_HOLD)


def cause(response: Response) -> str:
    """Return in words why an attempt did not succeed."""
    return response.error or f"the sink answered {response.status}"
