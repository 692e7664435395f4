"""Resources and the ledger at rest: SQLAlchemy Core on SQLite or PostgreSQL."""

from __future__ import annotations

from penstock.store.ledger import SqlLedger
from penstock.store.resources import SqlResourceStore
from penstock.store.waiting import SqlDeadLetters, SqlWaitingRoom

__all__ = ["SqlDeadLetters", "SqlLedger", "SqlResourceStore", "SqlWaitingRoom"]
