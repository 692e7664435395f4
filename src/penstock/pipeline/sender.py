"""Requests that need secrets: these are unsealed here, just before a request is sent."""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from penstock.delivery import tokens
from penstock.delivery.tokens import Obstacle
from penstock.errors import PenstockError
from penstock.pipeline.renewing import Renewals
from penstock.ports import Clock, Credential, Guard, Request, Response, Sink, Vault

HEADERS = "headers"
"""For what secret headers are sealed."""
_UNAUTHORIZED = 401
_REFRESHED = "REFRESHTOKEN"
_EXPIRED = "the access token has expired: update the subscription with a new one"
_RIPE = "the access token is renewed first"
_REFUSED = "the sink refused the access token, which is renewed first"


class Means(NamedTuple):
    """What a sender works with."""

    sink: Sink
    vault: Vault
    renewals: Renewals
    clock: Clock


class Sender:
    """A `Sink` that adds what guarded requests need.

    A hasty one is for micro-batches, which can be cut off at any moment: a renewal must not be, for
    its answer may hold the only refresh token there is. So it leaves those to the retry query.
    """

    def __init__(self, means: Means, *, hasty: bool = False) -> None:
        self._means = means
        self._hasty = hasty

    async def send(self, request: Request) -> Response:
        """Return the answer; what could not be unsealed or renewed is our own obstacle."""
        guard = request.guard
        if guard is None:
            return await self._means.sink.send(request)
        try:
            return await self._guarded(request, guard)
        except (PenstockError, msgspec.MsgspecError) as exc:
            why = str(exc) if isinstance(exc, PenstockError) else "a secret is damaged"
            return Response(0, error=why, ours=True)

    async def close(self) -> None:
        await self._means.sink.close()

    async def _guarded(self, request: Request, guard: Guard) -> Response:
        if guard.credential is None:
            return await self._means.sink.send(self._opened(request, guard, None))
        used = await self._usable(guard.route, guard.credential)
        if isinstance(used, Obstacle):
            return Response(0, error=used.why, ours=True)
        response = await self._means.sink.send(self._opened(request, guard, used))
        if response.status != _UNAUTHORIZED or used.kind != _REFRESHED:
            return response
        return await self._again(request, guard, used, response)

    async def _usable(self, route: str, credential: Credential) -> Credential | Obstacle:
        if credential.kind != _REFRESHED:
            expired = tokens.is_expired(credential, self._means.clock.now())
            return Obstacle(_EXPIRED) if expired else credential
        current = self._means.renewals.current(route, credential)
        if current is not None:
            return current
        if self._hasty:
            return Obstacle(_RIPE)
        return await self._means.renewals.renewed(route, credential)

    async def _again(
        self, request: Request, guard: Guard, used: Credential, response: Response
    ) -> Response:
        """Renew a token that was refused, and send once more; once, whatever comes of it."""
        if guard.credential is None or self._hasty:
            return Response(0, error=_REFUSED, ours=True)
        fresh = await self._means.renewals.renewed(guard.route, guard.credential, used)
        if isinstance(fresh, Obstacle):
            return response if fresh.final else Response(0, error=fresh.why, ours=True)
        return await self._means.sink.send(self._opened(request, guard, fresh))

    def _opened(self, request: Request, guard: Guard, used: Credential | None) -> Request:
        vault = self._means.vault
        added = {name: vault.unseal(text, HEADERS) for name, text in guard.headers.items()}
        if used is not None:
            # The dedicated way wins over a header of the same meaning.
            added = {name: text for name, text in added.items() if name.lower() != "authorization"}
            added["authorization"] = tokens.authorization(used, self._means.renewals.unsealed(used))
        headers = [*request.headers, *added.items()]
        return msgspec.structs.replace(request, headers=headers, guard=None)
