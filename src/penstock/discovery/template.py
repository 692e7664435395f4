"""URI templates of level 1 (RFC 6570)."""

from __future__ import annotations

import re

_ENCODED = "%[0-9A-Fa-f]{2}"
# RFC 6570 2.1: everything but controls, space, and these.
_LITERAL = rf"""(?:[^\x00-\x20\x7f-\x9f"'%<>\\^`{{|}}\ud800-\udfff]|{_ENCODED})"""
_LETTER = rf"(?:[A-Za-z0-9_]|{_ENCODED})"
_NAME = rf"{_LETTER}(?:\.?{_LETTER})*"
_LEVEL_1 = re.compile(rf"(?:{_LITERAL}|\{{{_NAME}\}})*+")


def fault(text: str) -> str | None:
    """Return what keeps a text from being a level 1 template."""
    if not text:
        return "must not be empty"
    if _LEVEL_1.fullmatch(text):
        return None
    return "must be a level 1 URI template (RFC 6570), like http://blob.store/{bucket}"
