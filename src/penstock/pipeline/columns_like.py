"""LIKE patterns as columns."""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812 - its usual name

from penstock.cesql import like


def likeness(text: Column, pattern: like.Pattern) -> Column:
    """Return whether texts fit a pattern."""
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
    return text.rlike(_regex(pattern))


def _regex(pattern: like.Pattern) -> str:
    """Return a regular expression that takes linear time: what was found is never given back."""
    first, *rest = map(_written, pattern.segments)
    if not rest:
        return rf"(?s)\A{first}\z"
    *middle, last = rest
    return rf"(?s)\A{first}{''.join(f'(?>.*?{one})' for one in middle)}.*{last}\z"


def _written(segment: like.Segment) -> str:
    return "".join("." if one is None else rf"\x{{{ord(one):x}}}" for one in segment)
