"""Patterns of XML Schema, matched in linear time.

The XML Schema library compiles them for Python's engine, which some patterns keep busy for
years; the engine of the JSON Schema library never goes back.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import jsonschema_rs
from xmlschema.validators import XMLSchemaBase
from xmlschema.validators.facets import XsdPatternFacets

from penstock.errors import Problem

_END = r"(?!\n\Z)"
_SHORTHAND = re.compile(r"\\(.)", re.DOTALL)
# Both engines know these letters, but mean other characters by them.
_MEANINGS = {
    "d": r"\p{Nd}",
    "D": r"\P{Nd}",
    "w": r"[^\p{P}\p{Z}\p{C}]",
    "W": r"[\p{P}\p{Z}\p{C}]",
    "s": r"[ \t\n\r]",
    "S": r"[^ \t\n\r]",
}
_OPTIONS = jsonschema_rs.RegexOptions(size_limit=10_000_000)


class LinearPattern:
    """What the XML Schema library wants of a compiled pattern."""

    def __init__(self, pattern: str) -> None:
        self.pattern = _SHORTHAND.sub(_meaning, pattern.removesuffix(_END))
        self._validator = jsonschema_rs.Draft202012Validator(
            {"pattern": self.pattern}, pattern_options=_OPTIONS, offline=True
        )

    def match(self, text: str) -> LinearPattern | None:
        """Return something true where the whole text matches."""
        if not isinstance(text, str):
            raise TypeError(f"{text!r} is not a text")
        return self if self._validator.is_valid(text) else None


def replace_patterns(schema: XMLSchemaBase) -> Iterator[Problem]:
    """Replace the patterns of a schema, and yield those that cannot be."""
    for part in schema.iter_components():
        if isinstance(part, XsdPatternFacets):
            try:
                linear: list[Any] = [LinearPattern(one.pattern) for one in part.patterns]
            except ValueError:
                listed = ", ".join(f"{one!r:.100}" for one in part.regexps)
                yield Problem(_place(part), f"the pattern {listed} is too large or not supported")
            else:
                part.patterns = linear


def _place(part: XsdPatternFacets) -> str:
    named = next((one for one in _above(part) if one.name), None)
    return named.local_name if named is not None else ""


def _above(part: Any) -> Iterator[Any]:  # noqa: ANN401
    while part is not None:
        yield part
        part = part.parent


def _meaning(found: re.Match[str]) -> str:
    return _MEANINGS.get(found[1], found[0])
