"""LIKE patterns as columns."""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812 - its usual name

from penstock.cesql import like

LONGEST = 256
"""Characters; Java recurses into a regular expression, and its stack ends."""


def likeness(text: Column, pattern: like.Pattern) -> Column | None:
    """Return whether texts fit a pattern, or None if Spark had better not be asked."""
    match pattern.literals:
        case (whole,):
            return text == whole
        case ("", ""):
            return F.when(text.isNotNull(), F.lit(True))  # noqa: FBT003 - a value
        case (head, ""):
            return text.startswith(head)
        case ("", tail):
            return text.endswith(tail)
        case ("", middle, ""):
            return text.contains(middle)
    is_long = sum(map(len, pattern.segments)) > LONGEST
    return None if is_long else text.rlike(_regex(pattern))


def _regex(pattern: like.Pattern) -> str:
    """Return a regular expression that takes linear time: what was found is never given back."""
    first, *rest = map(_written, pattern.segments)
    if not rest:
        return rf"(?s)\A{first}\z"
    *middle, last = rest
    return rf"(?s)\A{first}{''.join(f'(?>.*?{one})' for one in middle)}.*{last}\z"


def _written(segment: like.Segment) -> str:
    return "".join("." if one is None else rf"\x{{{ord(one):x}}}" for one in segment)
