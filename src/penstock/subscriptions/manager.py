"""The subscription manager: create, retrieve, query, update, delete."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import msgspec

from penstock.errors import NotFoundError, Problem, ResourceError
from penstock.ports import Document, Drop, EventLog, Put, ResourceStore
from penstock.routing import ROUTE, STREAM, Route
from penstock.subscriptions import subscription
from penstock.subscriptions.subscription import Subscription

SUBSCRIPTION = "subscription"
_PAGE = 500


class SubscriptionManager:
    """Keeps subscriptions, each together with the route that serves it."""

    def __init__(self, store: ResourceStore, log: EventLog, ids: Callable[[], str]) -> None:
        self._store = store
        self._log = log
        self._ids = ids

    def create(self, stream: str, document: object) -> Subscription:
        """Store what a document proposes; every event published from now on is evaluated."""
        self._expect(stream)
        proposed = subscription.read(document)
        made = msgspec.structs.replace(proposed, id=self._ids(), stream=stream)
        # Read before the write: an event published after the answer lies at this head or behind.
        _, start = self._log.bounds()
        self._store.write(
            [
                Put(SUBSCRIPTION, made.id, msgspec.json.encode(made), expected=0),
                Put(ROUTE, made.id, msgspec.json.encode(made.route(start)), expected=0),
            ]
        )
        return made

    def retrieve(self, stream: str, key: str) -> Subscription:
        """Return a subscription of a stream, or raise NotFoundError."""
        return _decoded(self._document(stream, key))

    def query(self, stream: str, after: str = "") -> Iterator[Subscription]:
        """Yield the subscriptions of a stream in the order of their ids, those after an id."""
        self._expect(stream)
        while page := self._store.page(SUBSCRIPTION, after, _PAGE):
            yield from (found for found in map(_decoded, page) if found.stream == stream)
            after = page[-1].key

    def update(self, stream: str, key: str, document: object) -> Subscription:
        """Replace a subscription; its route goes on from where it started."""
        before = self._document(stream, key)
        proposed = subscription.read(document)
        if proposed.id not in ("", key):
            raise ResourceError([Problem("id", f"must be {key} or absent: it never changes")])
        kept = proposed.keeping(_decoded(before))
        made = msgspec.structs.replace(kept, id=key, stream=stream)
        route = made.route(self._start(key))
        self._store.write(
            [
                Put(SUBSCRIPTION, key, msgspec.json.encode(made), expected=before.version),
                Put(ROUTE, key, msgspec.json.encode(route)),
            ]
        )
        return made

    def delete(self, stream: str, key: str) -> Subscription:
        """Remove a subscription and return it as it was."""
        before = self._document(stream, key)
        self._store.write([Drop(SUBSCRIPTION, key, expected=before.version), Drop(ROUTE, key)])
        return _decoded(before)

    def _expect(self, stream: str) -> None:
        if self._store.get(STREAM, stream) is None:
            raise NotFoundError(f"there is no stream {stream}", address=stream)

    def _document(self, stream: str, key: str) -> Document:
        found = self._store.get(SUBSCRIPTION, key)
        if found is None or _decoded(found).stream != stream:
            raise NotFoundError(f"there is no subscription {key!r}", address=key)
        return found

    def _start(self, key: str) -> tuple[int, ...]:
        found = self._store.get(ROUTE, key)
        # Without its route the subscription was never served: it starts now.
        if found is None:
            return self._log.bounds()[1]
        return msgspec.json.decode(found.body, type=Route).start


def _decoded(document: Document) -> Subscription:
    return msgspec.json.decode(document.body, type=Subscription)
