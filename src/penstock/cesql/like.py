"""LIKE patterns: read once, matched without backtracking."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

# One entry per character; None stands for any one character.
Segment: TypeAlias = tuple[str | None, ...]

LONGEST_WILD = 512
_CHARACTER = re.compile(r"\\([%_])|(.)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Pattern:
    """What stands before, between and after the `%` of a pattern."""

    segments: tuple[Segment, ...]

    @property
    def head(self) -> str:
        """Return the text that every matching value starts with."""
        return _leading(self.segments[0])

    @property
    def tail(self) -> str:
        """Return the text that every matching value ends with."""
        return _leading(self.segments[-1][::-1])[::-1]

    @property
    def literals(self) -> tuple[str, ...] | None:
        """Return the texts between the `%`, or None if some hold a `_`."""
        if any(None in segment for segment in self.segments):
            return None
        return tuple(_leading(segment) for segment in self.segments)


def pattern(text: str) -> Pattern:
    """Read a pattern: `%` is any run, `_` any character, and a backslash takes either literally."""
    segments: list[list[str | None]] = [[]]
    for escaped, plain in _CHARACTER.findall(text):
        if plain == "%":
            segments.append([])
        else:
            segments[-1].append(None if plain == "_" else escaped or plain)
    last = len(segments) - 1
    kept = (one for number, one in enumerate(segments) if one or number in (0, last))
    return Pattern(tuple(map(tuple, kept)))


def fault(text: str) -> str | None:
    """Return why a pattern is refused, if it is."""
    # Only these are searched for at every place of a value, which takes the product of lengths.
    between = pattern(text).segments[1:-1]
    if any(len(segment) > LONGEST_WILD and None in segment for segment in between):
        return f"more than {LONGEST_WILD} characters with a _ among them between two %"
    return None


def matcher(parts: Pattern) -> Callable[[str], bool]:
    """Return the test for a pattern, in time linear in the length of the value."""
    first, *middle, last = parts.segments if len(parts.segments) > 1 else (*parts.segments, ())
    starts, ends = _regex(first).match, _regex(last).match
    finds = [_find(segment) for segment in middle]
    single = len(parts.segments) == 1

    def matches(text: str) -> bool:
        end = len(text) - len(last)
        if end < len(first) or (single and end != len(first)):
            return False
        if not (starts(text) and ends(text, end)):
            return False
        position = len(first)
        for find in finds:
            position = find(text, position, end)
            if position < 0:
                return False
        return True

    return matches


def _leading(segment: Segment) -> str:
    wild = segment.index(None) if None in segment else len(segment)
    return "".join(character for character in segment[:wild] if character is not None)


def _regex(segment: Segment) -> re.Pattern[str]:
    parts = ("." if character is None else re.escape(character) for character in segment)
    return re.compile("".join(parts), re.DOTALL)


def _find(segment: Segment) -> Callable[[str, int, int], int]:
    search = _regex(segment).search

    def find(text: str, start: int, end: int) -> int:
        found = search(text, start, end)
        return found.end() if found else -1

    return find
