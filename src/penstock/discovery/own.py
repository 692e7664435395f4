"""The entry of this server itself: derived from what it can do, never stored."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import msgspec

from penstock.discovery import moments
from penstock.discovery.places import subscriptions_at
from penstock.discovery.service import Service
from penstock.errors import ConflictError
from penstock.ports import Clock, Put, ResourceStore

_KIND = "identity"
_KEY = "service"


@dataclass(frozen=True, slots=True)
class Advertisement:
    """What this server says of itself."""

    name: str
    description: str
    protocols: tuple[str, ...]
    specversions: tuple[str, ...]
    config: Mapping[str, str]
    """Keys that a subscription's `config` may always have."""
    stream: str
    """The stream whose subscriptions it advertises."""


class _Stamp(msgspec.Struct, frozen=True):
    """Under which id the entry is known, and which version of it was seen last."""

    id: str
    digest: str
    discversion: int
    updated: str


class Own:
    """Derives the entry; only its id and version are remembered."""

    def __init__(
        self, store: ResourceStore, clock: Clock, ids: Callable[[], str], says: Advertisement
    ) -> None:
        self._store = store
        self._clock = clock
        self._ids = ids
        self._says = says
        self.name = says.name

    def id(self) -> str | None:
        """Return the id of the entry; it has none before it was shown to somebody."""
        found = self._store.get(_KIND, _KEY)
        return None if found is None else _decoded(found.body).id

    def entry(self, services: Iterable[Service], base: str) -> Service:
        """Return the entry, given the services whose subscriptions are taken here."""
        attributes = self._attributes([each for each in services if each.stream is not None])
        stamp = self._stamp(attributes)
        here = {"docsurl": f"{base}/docs", "subscriptionurl": subscriptions_at(base)}
        return Service(stamp.id, stamp.discversion, stamp.updated, {**attributes, **here})

    def _attributes(self, mine: list[Service]) -> dict[str, object]:
        says = self._says
        found: dict[str, object] = {
            "name": says.name,
            "description": says.description,
            "specversions": list(says.specversions),
            "protocols": list(says.protocols),
        }
        if config := allowed([each.config for each in mine], says.config):
            found["subscriptionconfig"] = config
        stream = says.stream
        if events := [event for each in mine if each.stream == stream for event in each.events]:
            found["events"] = events
        return found

    def _stamp(self, attributes: Mapping[str, object]) -> _Stamp:
        """Return id and version of the entry; what changed since the last look is a new version."""
        body = msgspec.json.encode(attributes, order="deterministic")
        digest = hashlib.sha256(body).hexdigest()
        while True:
            found = self._store.get(_KIND, _KEY)
            before = None if found is None else _decoded(found.body)
            if before is not None and before.digest == digest:
                return before
            stamp = self._next(before, digest)
            change = Put(
                _KIND, _KEY, msgspec.json.encode(stamp), found.version if found is not None else 0
            )
            try:
                self._store.write([change])
            except ConflictError:
                continue
            return stamp

    def _next(self, before: _Stamp | None, digest: str) -> _Stamp:
        now = moments.text(self._clock.now())
        if before is None:
            return _Stamp(self._ids(), digest, 1, now)
        return _Stamp(before.id, digest, before.discversion + 1, max(now, before.updated))


def allowed(
    declared: Iterable[Mapping[str, str] | None], always: Mapping[str, str]
) -> dict[str, str] | None:
    """Return the keys that `config` may have; None, which is any, when nobody declares some."""
    found = [each for each in declared if each is not None]
    if not found:
        return None
    return {name: kind for each in (*found, always) for name, kind in each.items()}


def _decoded(body: bytes) -> _Stamp:
    return msgspec.json.decode(body, type=_Stamp)
