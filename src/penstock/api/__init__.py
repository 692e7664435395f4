"""The HTTP API."""

from __future__ import annotations

from penstock.api.app import Api
from penstock.api.protocol import Protocol

__all__ = ["Api", "Protocol"]
