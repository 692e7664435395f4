"""How many events wait for the pipeline."""

from __future__ import annotations

from penstock.control import Books
from penstock.errors import LimitError
from penstock.ports import EventLog

_RETRY_AFTER = 10


class Backlog:
    """The number of events that are stored and not settled, as last looked up."""

    def __init__(self, log: EventLog, ledger: Books, most: int) -> None:
        self._log = log
        self._ledger = ledger
        self._most = most
        self.events = 0

    def refresh(self) -> None:
        """Look it up."""
        first, head = self._log.bounds()
        settled = self._ledger.position() or first
        self.events = max(sum(head) - sum(settled), 0)

    def check(self) -> None:
        """Refuse more events while too many wait."""
        if self.events > self._most:
            msg = f"{self.events} events wait for delivery, {self._most} may: send again later"
            raise LimitError(msg, limit="backlog_events", retry_after=_RETRY_AFTER)
