"""The extension attributes that CloudEvents documents, with the type each one has."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from penstock.events.values import Kind, canonical, fault


@dataclass(frozen=True, slots=True)
class Known:
    """What the definition of a documented extension asks of its value."""

    kind: Kind
    empty: bool = True
    minimum: int | None = None

    def fault(self, value: object) -> str | None:
        """Return what is wrong with the value, or None."""
        message = fault(self.kind, value)
        if message is not None:
            return message
        if value == "" and not self.empty:
            return "must not be empty"
        if self.minimum is not None and isinstance(value, int | str):
            return (
                None if int(canonical(value)) >= self.minimum else f"must be {self.minimum} or more"
            )
        return None


KNOWN: Mapping[str, Known] = {
    "dataref": Known(Kind.URI_REFERENCE),
    "expirytime": Known(Kind.TIMESTAMP),
    "partitionkey": Known(Kind.STRING, empty=False),
    "recordedtime": Known(Kind.TIMESTAMP),
    "sampledrate": Known(Kind.INTEGER, minimum=1),
    "sequence": Known(Kind.STRING, empty=False),
    "traceparent": Known(Kind.STRING, empty=False),
    "tracestate": Known(Kind.STRING),
}
