"""The Python client: publish, subscribe, look after dead letters; synchronous and asynchronous."""

from __future__ import annotations

from penstock.bindings.base import Mode
from penstock.client.awaiting import AsyncClient
from penstock.client.blocking import Client
from penstock.client.files import batches, check_events, document, read_events
from penstock.client.models import (
    DeadLetter,
    Deliveries,
    Readiness,
    Retried,
    SinkHealth,
    Skipped,
    Status,
    Subscription,
)
from penstock.events import CloudEvent, event

__all__ = [
    "AsyncClient",
    "Client",
    "CloudEvent",
    "DeadLetter",
    "Deliveries",
    "Mode",
    "Readiness",
    "Retried",
    "SinkHealth",
    "Skipped",
    "Status",
    "Subscription",
    "batches",
    "check_events",
    "document",
    "event",
    "read_events",
]
