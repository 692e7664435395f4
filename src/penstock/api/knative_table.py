"""Tables: lists of objects as `kubectl get` shows them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from penstock.knative import conditions
from penstock.knative.kinds import (
    BROKER,
    CHANNEL,
    CONFIG_MAP,
    DEFINITION,
    NAMESPACE,
    SERVICE,
    SUBSCRIPTION,
    TRIGGER,
    Kind,
)
from penstock.knative.meta import Object, member, metadata, name
from penstock.knative.subscription import channel

_MINUTE, _HOUR, _DAY, _YEAR = 60, 3_600, 86_400, 31_536_000


class Column(NamedTuple):
    """One column: its name, what it shows of an object, and whether only wide tables have it."""

    name: str
    cell: Callable[[Object], object]
    wide: bool = False
    format: str = ""


def _at(*path: str) -> Callable[[Object], object]:
    return lambda found: member(found, *path) or ""


def _ports(found: Object) -> str:
    ports = member(found, "spec", "ports")
    known = ports if isinstance(ports, list) else []
    return ",".join(f"{one.get('port')}/{one.get('protocol', 'TCP')}" for one in known) or "<none>"


_NAME = Column("Name", name, format="name")
_URL = Column("URL", _at("status", "address", "url"))
_READY = (
    Column("Ready", lambda found: conditions.ready(found).status),
    Column("Reason", lambda found: conditions.ready(found).reason),
)
_COLUMNS: Mapping[Kind, Sequence[Column]] = {
    BROKER: (_URL, *_READY),
    TRIGGER: (
        Column("Broker", _at("spec", "broker")),
        Column("Subscriber_URI", _at("status", "subscriberUri")),
        *_READY,
    ),
    CHANNEL: (_URL, *_READY),
    SUBSCRIPTION: (
        Column("Channel", lambda found: channel(found)[3]),
        Column("Subscriber_URI", _at("status", "physicalSubscription", "subscriberUri"), wide=True),
        Column("Reply_URI", _at("status", "physicalSubscription", "replyUri"), wide=True),
        *_READY,
    ),
    NAMESPACE: (Column("Status", _at("status", "phase")),),
    SERVICE: (
        Column("Type", lambda found: member(found, "spec", "type") or "ClusterIP"),
        Column("Cluster-IP", lambda found: member(found, "spec", "clusterIP") or "<none>"),
        Column("External-IP", lambda found: member(found, "spec", "externalName") or "<none>"),
        Column("Port(s)", _ports),
    ),
    CONFIG_MAP: (Column("Data", lambda found: len(found.get("data") or {})),),
    DEFINITION: (Column("Created At", _at("metadata", "creationTimestamp")),),
}


def columns(kind: Kind) -> list[Column]:
    """Return the columns of a kind, less its age."""
    return [_NAME, *_COLUMNS.get(kind, (_URL,))]


def table(kind: Kind, found: Sequence[Object], now: float, include: str) -> dict[str, Any]:
    """Return objects as a table; its rows carry of each object what the client wants."""
    shown = columns(kind)
    definitions = [
        {
            "name": one.name,
            "type": "string",
            "format": one.format,
            "description": one.name,
            "priority": int(one.wide),
        }
        for one in (*shown, Column("Age", name))
    ]
    return {
        "kind": "Table",
        "apiVersion": "meta.k8s.io/v1",
        "columnDefinitions": definitions,
        "rows": [
            {
                "cells": [*(one.cell(each) for one in shown), age(each, now)],
                "object": _included(each, include),
            }
            for each in found
        ],
    }


def age(found: Object, now: float) -> str:
    """Return how old an object is, in a few characters."""
    made = metadata(found).get("creationTimestamp")
    seconds = max(int(now - _seconds(made)), 0) if isinstance(made, str) else 0
    for unit, letter in ((_YEAR, "y"), (_DAY, "d"), (_HOUR, "h"), (_MINUTE, "m")):
        if seconds >= 2 * unit:
            return f"{seconds // unit}{letter}"
    return f"{seconds}s"


def _seconds(text: str) -> float:
    return datetime.fromisoformat(text).timestamp()


def _included(found: Object, include: str) -> object:
    if include == "Object":
        return found
    if include == "None":
        return None
    return {
        "kind": "PartialObjectMetadata",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": metadata(found),
    }
