"""Streams and routes: the two nouns behind every API, and the index that matches them."""

from __future__ import annotations

from penstock.routing.route import (
    Backoff,
    ContentMode,
    Gap,
    Handling,
    Handshake,
    Policy,
    Route,
    Rules,
    Target,
)
from penstock.routing.stream import DEFAULT, Stream, StreamKind
from penstock.routing.table import ROUTE, STREAM, TOKEN, RoutingTable

__all__ = [
    "DEFAULT",
    "ROUTE",
    "STREAM",
    "TOKEN",
    "Backoff",
    "ContentMode",
    "Gap",
    "Handling",
    "Handshake",
    "Policy",
    "Route",
    "RoutingTable",
    "Rules",
    "Stream",
    "StreamKind",
    "Target",
]
