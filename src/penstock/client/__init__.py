"""The Python client: publish, subscribe, look after dead letters; synchronous and asynchronous."""

from __future__ import annotations

from penstock.bindings.base import Mode
from penstock.client.awaiting import AsyncClient
from penstock.client.blocking import Client
from penstock.client.files import batches, check_events, document, read_events
from penstock.client.models import (
    Backlog,
    CatchUp,
    DeadLetter,
    Deliveries,
    LastError,
    Readiness,
    Retried,
    SinkHealth,
    Skipped,
    Status,
    Subscription,
)
from penstock.client.registry import REGISTRY_JSON, REGISTRY_YAML, Imported, Judged, Stored
from penstock.client.service import Service
from penstock.events import CloudEvent, event

__all__ = [
    "REGISTRY_JSON",
    "REGISTRY_YAML",
    "AsyncClient",
    "Backlog",
    "CatchUp",
    "Client",
    "CloudEvent",
    "DeadLetter",
    "Deliveries",
    "Imported",
    "Judged",
    "LastError",
    "Mode",
    "Readiness",
    "Retried",
    "Service",
    "SinkHealth",
    "Skipped",
    "Status",
    "Stored",
    "Subscription",
    "batches",
    "check_events",
    "document",
    "event",
    "read_events",
]
