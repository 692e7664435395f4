"""The subscription manager: create, retrieve, query, update, delete."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

import msgspec

from penstock.errors import ConflictError, NotFoundError, PreconditionError, Problem, ResourceError
from penstock.ports import Change, Check, Clear, Document, Drop, EventLog, Put, ResourceStore
from penstock.routing import ROUTE, STREAM, TOKEN, Handshake, Route
from penstock.subscriptions import patch, starting, subscription
from penstock.subscriptions.credentials import Seal
from penstock.subscriptions.listing import (
    ANY,
    INDEX,
    SUBSCRIPTION,
    Count,
    Listing,
    Page,
    Wanted,
    decoded,
    index_keys,
    key_of,
)
from penstock.subscriptions.protocols import PROTOCOLS
from penstock.subscriptions.subscription import Subscription

_ATTEMPTS = 100

Allowed = Callable[[int], bool]
"""Whether a change may be made to the version that is there."""


def _accept(_config: Mapping[str, object]) -> Sequence[Problem]:
    return ()


def always(_version: int) -> bool:
    """Allow a change whatever the version is."""
    return True


@dataclass(frozen=True, slots=True)
class Terms:
    """What is accepted here, beyond what the specification says."""

    deliverable: Collection[str] = tuple(PROTOCOLS)
    """The protocols over which this build delivers."""
    most: int = 100_000
    """How many subscriptions there may be (SUB-008)."""
    config_problems: Callable[[Mapping[str, object]], Sequence[Problem]] = _accept
    """Tells what is wrong with a `config` (SUB-026)."""
    now: Callable[[], float] = lambda: math.inf
    """The present; nothing can start later."""
    seal: Seal = subscription.no_seal
    """Seals secrets before they are kept."""
    handshake: Handshake = Handshake.OFF
    """What holds where a subscription says nothing."""


class SubscriptionManager:
    """Keeps subscriptions, each together with the route that serves it."""

    def __init__(
        self,
        store: ResourceStore,
        log: EventLog,
        ids: Callable[[], str],
        terms: Terms = Terms(),  # noqa: B008 - frozen
    ) -> None:
        self._store = store
        self._log = log
        self._ids = ids
        self._terms = terms
        self._listing = Listing(store)
        self._count = Count(store)

    def create(self, stream: str, document: object) -> Subscription:
        """Store what a document proposes; every event published from now on is evaluated."""
        for _ in range(_ATTEMPTS):
            found = self._expect(stream)
            proposed = self._read(document)
            self._count.expect_room(self._terms.most)
            made = msgspec.structs.replace(proposed, id=self._ids(), stream=stream)
            # The log is read before the write: an event published after the answer lies at that
            # head or behind.
            wanted = starting.wish(made.config)
            route = starting.started(made.route(()), wanted, self._log, self._terms.now())
            here = Check(STREAM, stream, expected=found.version)
            version = self._written([here, *_adding(made, route)])
            if version is not None:
                return msgspec.structs.replace(made, version=version)
        raise _busy(stream)

    def retrieve(self, stream: str, key: str) -> Subscription:
        """Return a subscription of a stream, or raise NotFoundError."""
        # A key with NUL cannot even be asked for everywhere.
        found = None if "\0" in key else self._store.get(SUBSCRIPTION, key_of(stream, key))
        if found is None:
            raise NotFoundError(f"there is no subscription {key!r}", address=key)
        return decoded(found)

    def route(self, key: str) -> Route:
        """Return the route that serves a subscription, its gaps dated."""
        found = self._store.get(ROUTE, key)
        if found is None:
            raise NotFoundError(f"there is no subscription {key!r}", address=key)
        return _route(found)

    def query(self, stream: str, wanted: Wanted = ANY, after: str = "") -> Iterator[Subscription]:
        """Yield subscriptions of a stream in the order of their ids, those after an id."""
        self._expect(stream)
        return self._listing.all(stream, wanted, after)

    def page(self, stream: str, wanted: Wanted, after: str, limit: int) -> Page:
        """Return up to `limit` of what `query` yields, in a time that does not grow with all."""
        self._expect(stream)
        return self._listing.page(stream, wanted, after, limit)

    def update(
        self, stream: str, key: str, document: object, allowed: Allowed = always
    ) -> Subscription:
        """Replace a subscription; its route goes on from where it started."""

        def made(before: Subscription) -> Subscription:
            return self._read(document, before).keeping(before)

        return self._change(stream, key, made, allowed)

    def patch(
        self, stream: str, key: str, document: object, allowed: Allowed = always
    ) -> Subscription:
        """Change some properties of a subscription by a JSON merge patch (RFC 7396)."""

        def made(before: Subscription) -> Subscription:
            # The patch was made on top of the secrets: one that it removed must not come back.
            return self._read(patch.proposal(before, document), before).patching(before)

        return self._change(stream, key, made, allowed)

    def pause(self, stream: str, key: str) -> Subscription:
        """Start no more deliveries of a subscription; its events wait until it is resumed."""
        return self._paused(stream, key, paused=True)

    def resume(self, stream: str, key: str) -> Subscription:
        """Deliver what waited, and what comes from now on."""
        return self._paused(stream, key, paused=False)

    def _paused(self, stream: str, key: str, *, paused: bool) -> Subscription:
        found = self.retrieve(stream, key)
        if found.paused is paused:
            return found
        return self._change(
            stream, key, lambda before: msgspec.structs.replace(before, paused=paused), always
        )

    def delete(self, stream: str, key: str, allowed: Allowed = always) -> Subscription:
        """Remove a subscription and return it as it was."""
        for _ in range(_ATTEMPTS):
            before = self.retrieve(stream, key)
            _expect_allowed(before, allowed)
            changes: list[Change] = [
                Drop(SUBSCRIPTION, key_of(stream, key), expected=before.version),
                Drop(ROUTE, key),
                *(Drop(INDEX, entry) for entry in sorted(index_keys(before))),
                *([] if before.credential is None else [Clear(TOKEN, key)]),
            ]
            if self._written(changes) is not None:
                return before
        raise _busy(key)

    def _change(
        self,
        stream: str,
        key: str,
        make: Callable[[Subscription], Subscription],
        allowed: Allowed,
    ) -> Subscription:
        # Whoever set no condition wants the change whatever was there, so it is made again on top
        # of what somebody else wrote meanwhile; nothing that was read before is written back.
        for _ in range(_ATTEMPTS):
            before = self.retrieve(stream, key)
            proposed = make(before)
            _expect_id(proposed, key)
            _expect_allowed(before, allowed)
            made = msgspec.structs.replace(proposed, id=key, stream=stream, version=0)
            version = self._written(self._replacing(before, made))
            if version is not None:
                return msgspec.structs.replace(made, version=version)
        raise _busy(key)

    def _replacing(self, before: Subscription, made: Subscription) -> list[Change]:
        route = self._store.get(ROUTE, made.id)
        body, place = msgspec.json.encode(made), key_of(made.stream, made.id)
        old, new = index_keys(before), index_keys(made)
        return [
            Put(SUBSCRIPTION, place, body, expected=before.version),
            Put(
                ROUTE,
                made.id,
                msgspec.json.encode(self._continued(route, made)),
                expected=route.version if route else 0,
            ),
            *(Drop(INDEX, key) for key in sorted(old - new)),
            *(Put(INDEX, key, b"") for key in sorted(new - old)),
        ]

    def _continued(self, before: Document | None, made: Subscription) -> Route:
        """Return the route of a changed subscription, which goes on where the old one was."""
        # Without its route the subscription was never served: it starts now.
        if before is None:
            return made.route(self._log.bounds()[1])
        old = _route(before)
        route = msgspec.structs.replace(
            made.route(old.start),
            held=old.held,
            gaps=old.gaps,
            clipped=old.clipped,
            # To pause or to resume is no sign that the sink is back; any other change is.
            stopped=old.stopped and old.held is not made.paused,
        )
        return route.hold() if made.paused else route.resume()

    def _written(self, changes: Sequence[Change]) -> int | None:
        """Return the version that changes made, or None when somebody else changed something."""
        try:
            return self._store.write(changes)
        except (ConflictError, NotFoundError):
            return None

    def _read(self, document: object, before: Subscription | None = None) -> Subscription:
        problems: tuple[Problem, ...] = ()
        found = None
        try:
            terms = self._terms
            found = subscription.read(
                document, terms.deliverable, terms.seal, before, terms.handshake
            )
        except ResourceError as exc:
            problems = exc.problems
        config = _config(document)
        if config is not None:
            problems = (*problems, *self._terms.config_problems(config))
        if found is None or problems:
            raise ResourceError(problems)
        return found

    def _expect(self, stream: str) -> Document:
        found = None if "\0" in stream else self._store.get(STREAM, stream)
        if found is None:
            raise NotFoundError(f"there is no stream {stream}", address=stream)
        return found


def _adding(made: Subscription, route: Route) -> list[Change]:
    return [
        Put(SUBSCRIPTION, key_of(made.stream, made.id), msgspec.json.encode(made), expected=0),
        Put(ROUTE, made.id, msgspec.json.encode(route), expected=0),
        *(Put(INDEX, key, b"") for key in sorted(index_keys(made))),
    ]


def _config(document: object) -> Mapping[str, object] | None:
    """Return the `config` that a document proposes, if it is one at all."""
    if not isinstance(document, Mapping):
        return None
    found = [value for name, value in document.items() if name.lower() == "config"]
    config = found[0] if len(found) == 1 else None
    return config if isinstance(config, Mapping) and "" not in config else None


def _expect_id(proposed: Subscription, key: str) -> None:
    if proposed.id not in ("", key):
        raise ResourceError([Problem("id", f"must be {key} or absent: it never changes")])


def _expect_allowed(before: Subscription, allowed: Allowed) -> None:
    if not allowed(before.version):
        msg = f"subscription {before.id!r} is not what you expected: read it and try again"
        raise PreconditionError(msg, address=before.id)


def _busy(key: str) -> ConflictError:
    msg = f"subscription {key!r} is changed by others all the time: try again"
    return ConflictError(msg, address=key)


def _route(document: Document) -> Route:
    return msgspec.json.decode(document.body, type=Route).dated(document.version)
