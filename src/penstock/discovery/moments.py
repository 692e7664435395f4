"""Times as the catalogue writes them: UTC, upper case, whole seconds."""

from __future__ import annotations

from datetime import UTC, datetime


def text(seconds: float) -> str:
    """Return a moment so that the order of texts is the order of moments."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
