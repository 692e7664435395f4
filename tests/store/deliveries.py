"""Parked and dead deliveries for tests of whatever keeps them."""

from __future__ import annotations

from typing import Any

import msgspec

from penstock.ports import Dead, Parked, Settlement
from penstock.store import SqlLedger

SINK = "http://sink.example/"


def parked(offset: int = 0, **changes: Any) -> Parked:  # noqa: ANN401
    """A delivery of route `r` that is due at 100 and has time until 1000."""
    plain = Parked("r", SINK, 0, offset, 100.0, 1_000.0, attempts=1, cause="it failed")
    return msgspec.structs.replace(plain, **changes)


def a_dead_one(offset: int = 0, **changes: Any) -> Dead:  # noqa: ANN401
    plain = Dead("r", SINK, 0, offset, 3, 500, "the sink answered 500", 50.0, b"entry")
    return msgspec.structs.replace(plain, **changes)


def settle(ledger: SqlLedger, generation: int = 1, **fields: Any) -> None:  # noqa: ANN401
    ledger.settle(Settlement(generation, **fields))
