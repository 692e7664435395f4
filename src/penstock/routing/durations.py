"""Durations as ISO 8601 writes them."""

from __future__ import annotations

import re

_DURATION = re.compile(
    r"P(?=.)(?:(?P<weeks>[0-9]{1,6})W|(?:(?P<days>[0-9]{1,6})D)?"
    r"(?:T(?=.)(?:(?P<hours>[0-9]{1,8})H)?(?:(?P<minutes>[0-9]{1,9})M)?"
    r"(?:(?P<seconds>[0-9]{1,9}(?:[.,][0-9]{1,9})?)S)?)?)"
)
_SECONDS = {"weeks": 604_800.0, "days": 86_400.0, "hours": 3_600.0, "minutes": 60.0, "seconds": 1.0}


def seconds(text: str) -> float | None:
    """Return the seconds of a duration such as PT0.5S or P1DT2H; None if it is none.

    Years and months have no fixed length and are none of ours.
    """
    match = _DURATION.fullmatch(text)
    if match is None:
        return None
    parts = {name: part.replace(",", ".") for name, part in match.groupdict().items() if part}
    return sum(float(part) * _SECONDS[name] for name, part in parts.items())
