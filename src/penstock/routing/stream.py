"""Streams: named durable sequences of events, each with an ingest address."""

from __future__ import annotations

import enum

import msgspec


class StreamKind(enum.StrEnum):
    """Which Knative resource shows the stream, and below which path it takes events."""

    BROKER = "brokers"
    CHANNEL = "channels"


class Stream(msgspec.Struct, frozen=True):
    """A named durable sequence of events."""

    kind: StreamKind
    namespace: str
    name: str

    @property
    def key(self) -> str:
        """The name under which events and routes refer to the stream; also its ingest path."""
        return f"{self.kind}/{self.namespace}/{self.name}"


DEFAULT = Stream(StreamKind.BROKER, "default", "default")
