"""What one task of a micro-batch leaves to be settled."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from penstock.events.entry import Entry
from penstock.ports import Settlement, Span


class Done(msgspec.Struct, frozen=True):
    """The events a task worked on, and what became of them."""

    span: Span
    settlement: Settlement
    replies: Sequence[Entry] = ()
    stopped: Sequence[str] = ()
