"""Doubles for tests, and checks that every log and every sink must pass."""

from __future__ import annotations

from penstock.testing.clock import FakeClock
from penstock.testing.log import check_log
from penstock.testing.sink import MemorySink, check_sink

__all__ = ["FakeClock", "MemorySink", "check_log", "check_sink"]
