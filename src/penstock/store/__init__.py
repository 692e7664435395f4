"""Resources and the ledger at rest: SQLAlchemy Core on SQLite or PostgreSQL."""

from __future__ import annotations

from penstock.store.catchups import SqlCatchUps
from penstock.store.ledger import SqlLedger
from penstock.store.resources import SqlResourceStore
from penstock.store.vault import KeyVault
from penstock.store.waiting import SqlDeadLetters, SqlWaitingRoom

__all__ = [
    "KeyVault",
    "SqlCatchUps",
    "SqlDeadLetters",
    "SqlLedger",
    "SqlResourceStore",
    "SqlWaitingRoom",
]
