"""Sinks: one way to deliver messages per protocol."""

from __future__ import annotations

import importlib
from collections.abc import Mapping

from penstock.errors import UnsupportedError
from penstock.ports import Sink

SINKS: Mapping[str, str] = {"HTTP": "penstock.sinks.http:HttpSink"}


def sink(protocol: str) -> Sink:
    """Return a new sink for a protocol."""
    if protocol not in SINKS:
        msg = f"this build cannot deliver over {protocol}: it knows {', '.join(SINKS)}"
        raise UnsupportedError(msg, what=protocol)
    module, _, name = SINKS[protocol].partition(":")
    made: Sink = getattr(importlib.import_module(module), name)()
    return made


__all__ = ["SINKS", "sink"]
