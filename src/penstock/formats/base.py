"""What an event format does: bytes to events and back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from penstock.events import CloudEvent


class Format(Protocol):
    """A way to write a whole event, or a batch of them, as bytes.

    Reading returns valid events only: it raises FormatError when the bytes are not in the format,
    EventError with all problems when an event breaks its specification.
    """

    media_type: str
    batch_media_type: str

    def read(self, body: bytes) -> CloudEvent: ...

    def write(self, event: CloudEvent) -> bytes: ...

    def read_batch(self, body: bytes) -> list[CloudEvent]: ...

    def write_batch(self, events: Sequence[CloudEvent]) -> bytes: ...
