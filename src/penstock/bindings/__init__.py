"""Protocol bindings: messages to events and back."""

from __future__ import annotations

from penstock.bindings.base import Headers, Message, Mode

__all__ = ["Headers", "Message", "Mode"]
