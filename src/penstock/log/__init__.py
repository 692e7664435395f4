"""The event log: embedded in SQLite."""

from __future__ import annotations

from penstock.log.sqlite import SqliteLog

__all__ = ["SqliteLog"]
