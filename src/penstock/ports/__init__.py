"""All that Penstock asks of the world: protocols, and the plain values they exchange."""

from __future__ import annotations

from penstock.ports.deliveries import (
    SHELVED,
    Caught,
    Dead,
    Health,
    Leg,
    Parked,
    Rates,
    Standing,
    State,
    Steps,
    Tally,
)
from penstock.ports.ledger import CatchUps, DeadLetters, Ledger, Plan, Settlement, WaitingRoom
from penstock.ports.log import Chunk, EventLog, Position, Span
from penstock.ports.resources import Change, Check, Clear, Document, Drop, Put, ResourceStore
from penstock.ports.sinks import Clock, Credential, Guard, Onward, Request, Response, Sink, Vault

__all__ = [
    "SHELVED",
    "CatchUps",
    "Caught",
    "Change",
    "Check",
    "Chunk",
    "Clear",
    "Clock",
    "Credential",
    "Dead",
    "DeadLetters",
    "Document",
    "Drop",
    "EventLog",
    "Guard",
    "Health",
    "Ledger",
    "Leg",
    "Onward",
    "Parked",
    "Plan",
    "Position",
    "Put",
    "Rates",
    "Request",
    "ResourceStore",
    "Response",
    "Settlement",
    "Sink",
    "Span",
    "Standing",
    "State",
    "Steps",
    "Tally",
    "Vault",
    "WaitingRoom",
]
