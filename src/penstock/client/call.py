"""Requests as values: what to send, and how to read the answer. Nothing here does I/O."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar
from urllib.parse import urlsplit

import msgspec

from penstock.client.answer import Answer
from penstock.client.refusal import refusal
from penstock.errors import EventError, ResourceError, StoreError

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Call(Generic[T]):
    """One request, and what its answer means."""

    method: str
    path: str
    reader: Callable[[Answer], T]
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = b""
    fault: type[EventError | ResourceError] = ResourceError
    """What a refusal with problems becomes."""
    accepted: frozenset[int] = frozenset()
    """Refusing statuses that are answers nevertheless."""

    def read(self, answer: Answer, address: str) -> T:
        """Return what the answer says, or raise what it refuses with."""
        if not answer.succeeded and answer.status not in self.accepted:
            raise refusal(answer, f"{address}{self.path}", self.fault)
        try:
            return self.reader(answer)
        except msgspec.MsgspecError as exc:
            msg = f"the answer of {address} is not understood: is it Penstock? ({exc})"
            raise StoreError(msg, address=address) from exc


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """Some of many items, and the call that gets the next ones."""

    items: tuple[T, ...]
    following: Call[Page[T]] | None


def following(path: str, answer: Answer) -> str | None:
    """Return the path of the page after the one at a path."""
    query = _next_query(answer.headers.get("link", ""))
    after = f"{path.partition('?')[0]}?{query}"
    # An empty page need not be the last, but one that leads to itself leads nowhere.
    return after if query and after != path else None


def _next_query(link: str) -> str:
    # Only the query is taken: behind a proxy the server does not know the address we reach it at.
    for part in link.split(","):
        target, _, parameters = part.partition(";")
        if 'rel="next"' in parameters or "rel=next" in parameters:
            return urlsplit(target.strip().strip("<>")).query
    return ""
