"""What every binding speaks of: the mode of a message, and the message itself."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import TypeAlias

import msgspec

Headers: TypeAlias = Sequence[tuple[bytes, bytes]]


class Mode(enum.StrEnum):
    """Where the parts of an event go in a message."""

    BINARY = "binary"
    STRUCTURED = "structured"
    BATCHED = "batched"


class Message(msgspec.Struct, frozen=True, gc=False):
    """One message of a protocol: headers with names in lower case, and a body."""

    headers: tuple[tuple[bytes, bytes], ...]
    body: bytes

    def header(self, name: bytes) -> bytes | None:
        """Return the value of the first header of that name."""
        return next((value for key, value in self.headers if key == name), None)
