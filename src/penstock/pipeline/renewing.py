"""Access tokens renewed by one process for all, under a lease in the store."""

from __future__ import annotations

import asyncio
from typing import NamedTuple

import msgspec

from penstock.delivery import tokens
from penstock.delivery.dispatch import attempt
from penstock.delivery.tokens import PURPOSE, Obstacle, Renewal, Secrets
from penstock.errors import ConflictError, NotFoundError
from penstock.ports import Clock, Credential, Put, ResourceStore, Sink, Vault
from penstock.routing import TOKEN

_LOOK = 0.05
_TRUSTED = 1.0
"""Seconds for which a token is used without a look into the store."""
_FRESH = 60.0
"""A token that is refused so soon after it was renewed is not renewed again for that."""


class Known(NamedTuple):
    """What the store says of the token of a route, under which version, and when it was read."""

    renewal: Renewal
    version: int
    at: float


class Renewals:
    """Finds the token of a route that counts now, and renews it."""

    def __init__(self, store: ResourceStore, vault: Vault, sink: Sink, clock: Clock) -> None:
        self._store = store
        self._vault = vault
        self._sink = sink
        self._clock = clock
        self._seen: dict[str, Known] = {}

    def current(self, route: str, credential: Credential) -> Credential | None:
        """Return the credential to use, or None while a renewal is due."""
        now = self._clock.now()
        known = self._seen.get(route)
        if known is None or now - known.at > _TRUSTED or not _belongs(known, credential):
            known = self._look(route, credential)
        used = known.renewal.renewed or credential
        return None if tokens.is_ripe(used, known.renewal.since, now) else used

    async def renewed(
        self, route: str, credential: Credential, refused: Credential | None = None
    ) -> Credential | Obstacle:
        """Return a token that is good and not the one that was refused; one process renews it."""
        while True:
            known = self._look(route, credential)
            renewal, now = known.renewal, self._clock.now()
            used = renewal.renewed or credential
            if used != refused and not tokens.is_ripe(used, renewal.since, now):
                return used
            if used == refused and now - renewal.since < _FRESH:
                return Obstacle("the sink refuses a token that was just renewed", final=True)
            if renewal.pause > now:
                return self._fallback(used, refused, now) or Obstacle(renewal.why)
            if renewal.lease > now:
                await asyncio.sleep(_LOOK)
                continue
            lease = self._lease(route, known, now)
            if lease is not None:
                return await self._trade(route, lease, used, refused)

    def _look(self, route: str, credential: Credential) -> Known:
        found = self._store.get(TOKEN, route)
        renewal = Renewal(tokens.fingerprint(credential))
        if found is not None:
            stored = msgspec.json.decode(found.body, type=Renewal)
            renewal = stored if stored.of == renewal.of else renewal
        known = Known(renewal, 0 if found is None else found.version, self._clock.now())
        self._seen[route] = known
        return known

    def _lease(self, route: str, known: Known, now: float) -> Known | None:
        """Return the renewal under our lease, or None where another process was faster."""
        leased = msgspec.structs.replace(known.renewal, lease=now + tokens.LEASE_SECONDS)
        version = self._write(route, leased, known.version)
        return None if version is None else Known(leased, version, now)

    async def _trade(
        self, route: str, known: Known, used: Credential, refused: Credential | None
    ) -> Credential | Obstacle:
        secrets = self.unsealed(used)
        response = await attempt(self._sink, tokens.grant(used.endpoint, secrets.refresh_token))
        now = self._clock.now()
        match tokens.granted(response, used, secrets, now):
            case Obstacle(why=why) as obstacle:
                self._write(route, tokens.paused(known.renewal, why, now), known.version)
                return self._fallback(used, refused, now) or obstacle
            case (credential, fresh):
                sealed = self._vault.seal(msgspec.json.encode(fresh).decode(), PURPOSE)
                renewed = msgspec.structs.replace(credential, sealed=sealed)
                self._write(route, Renewal(known.renewal.of, renewed, now), known.version)
                return renewed

    def _fallback(
        self, used: Credential, refused: Credential | None, now: float
    ) -> Credential | None:
        """Return the old token where it is still good: it was to be renewed early."""
        return None if used == refused or tokens.is_expired(used, now) else used

    def _write(self, route: str, renewal: Renewal, version: int) -> int | None:
        self._seen.pop(route, None)
        try:
            put = Put(TOKEN, route, msgspec.json.encode(renewal), expected=version)
            return self._store.write([put])
        except (ConflictError, NotFoundError):
            return None

    def unsealed(self, credential: Credential) -> Secrets:
        """Return the secrets of a credential; nobody keeps them longer than a request takes."""
        return msgspec.json.decode(self._vault.unseal(credential.sealed, PURPOSE), type=Secrets)


def _belongs(known: Known, credential: Credential) -> bool:
    return known.renewal.of == tokens.fingerprint(credential)
