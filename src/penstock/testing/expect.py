"""How the checks of this room speak."""

from __future__ import annotations


def expect(holds: bool, what: str) -> None:  # noqa: FBT001 - the one thing a check is about
    """Raise AssertionError, saying what was expected, unless it holds."""
    if not holds:
        raise AssertionError(what)
