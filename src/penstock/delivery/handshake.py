"""Whether a sink agreed to be sent to: asked, remembered, granted later; pure decisions."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Callable

import msgspec

from penstock.bindings import webhook
from penstock.bindings.webhook import Consent
from penstock.delivery.rate import Limit
from penstock.errors import ConflictError, NotFoundError
from penstock.ports import Put, Request, ResourceStore, Response, Vault
from penstock.routing.route import Handling, Handshake, Route

PERMISSION = "permission"
_PURPOSE = "callback"
_DAY = 86_400.0
_AGAIN_AFTER_REFUSAL = 300.0
_AGAIN_AFTER_FAILURE = 15.0
_WHILE_ASKING = 0.25
_TIMEOUT = 10.0
_MINUTE = 60.0
_FAILURE = 500
_TOO_MANY = 429


class Permission(msgspec.Struct, frozen=True, omit_defaults=True):
    """What is known of the consent of one destination."""

    destination: str
    origin: str
    consent: str = ""
    """GIVEN, REFUSED or SILENT; empty before it was asked."""
    rate: int | None = None
    """Requests per minute; None for any number."""
    asked: int = 0
    """The rate that was asked for."""
    at: float = 0.0
    until: float = 0.0
    """When it is asked again."""
    why: str = ""
    key: str = ""
    """The sealed key with which the destination can grant later."""
    unaware: bool = False
    """Whether the sink answered, and said nothing: it does not seem to know the handshake."""


class Hold(msgspec.Struct, frozen=True):
    """Nothing is sent before a time, and why; `ask` where the sink is to be asked first."""

    until: float
    why: str
    ask: bool = False


def key(destination: str, origin: str) -> str:
    """Return the name of a permission in the store."""
    return hashlib.sha256(f"{origin}\n{destination}".encode()).hexdigest()[:40]


def hold(handling: Handling, permission: Permission, now: float) -> Hold | None:
    """Return what keeps a route from sending, or None."""
    if handling.handshake is Handshake.OFF:
        return None
    trying = handling.handshake is Handshake.TRY
    if trying and permission.unaware and now < permission.at + _DAY:
        return None
    if now >= permission.until:
        return Hold(now + _WHILE_ASKING, "the sink is asked for its consent", ask=True)
    if permission.consent == Consent.GIVEN.name:
        return None
    if permission.consent == Consent.SILENT.name and trying:
        return None
    return Hold(permission.until, permission.why)


def limits(route: Route, permission: Permission | None) -> list[Limit]:
    """Return how fast a route may send: as it asks itself, and as its sink allows."""
    handling = route.target.handling or Handling()
    found = [Limit(f"route {route.id}", handling.rate)] if handling.rate else []
    if handling.handshake is not Handshake.OFF and permission is not None and permission.rate:
        found.append(Limit(f"sink {route.target.uri}", permission.rate / _MINUTE))
    return found


def asked_rate(handling: Handling) -> int:
    """Return the requests per minute to ask for; 0 for none in particular."""
    return max(int(handling.rate * _MINUTE), 1) if handling.rate else 0


def asking(permission: Permission, handling: Handling) -> Permission:
    """Return the permission with the rate that is asked for."""
    return msgspec.structs.replace(permission, asked=asked_rate(handling))


def newer(stored: Permission, found: Permission) -> Permission:
    """Return which counts: a grant that came meanwhile is not undone by silence."""
    granted = stored.consent == Consent.GIVEN.name and stored.until > found.at
    return stored if granted and found.consent == Consent.SILENT.name else found


def question(permission: Permission, callback: str) -> Request:
    """Return the request that asks a destination for its consent."""
    headers = webhook.question(permission.origin, callback, permission.asked)
    settings = {"method": "OPTIONS"}
    return Request(permission.destination, headers, b"", _TIMEOUT, settings, wants_body=True)


def answered(permission: Permission, response: Response, now: float) -> Permission:
    """Return what is known after an answer, which is kept for a day where it says something."""
    found = webhook.permission(response.headers, permission.origin, permission.asked)
    match found.consent:
        case Consent.GIVEN:
            keep, why = _DAY, ""
        case Consent.REFUSED:
            keep, why = _AGAIN_AFTER_REFUSAL, "the sink refuses events from this origin"
        case Consent.SILENT if _is_failure(response):
            reason = response.error or f"it answered {response.status}"
            keep, why = _AGAIN_AFTER_FAILURE, f"the sink cannot be asked for its consent: {reason}"
        case _:
            keep, why = _AGAIN_AFTER_REFUSAL, "the sink did not consent to be sent events"
    return msgspec.structs.replace(
        permission,
        consent=found.consent.name,
        rate=found.rate,
        at=now,
        until=now + keep,
        why=why,
        unaware=found.consent is Consent.SILENT and not _is_failure(response),
    )


def _is_failure(response: Response) -> bool:
    return response.status in (0, _TOO_MANY) or response.status >= _FAILURE


class Permissions:
    """The permissions in the store, and their granting by callback (Web Hooks 4.1.3)."""

    def __init__(self, store: ResourceStore, vault: Vault) -> None:
        self._store = store
        self._vault = vault

    def get(self, destination: str, origin: str) -> Permission:
        found = self._store.get(PERMISSION, key(destination, origin))
        if found is None:
            return Permission(destination, origin)
        return msgspec.json.decode(found.body, type=Permission)

    def put(self, permission: Permission) -> None:
        name = key(permission.destination, permission.origin)
        self._store.write([Put(PERMISSION, name, msgspec.json.encode(permission))])

    def keyed(self, permission: Permission, fresh: Callable[[], str]) -> tuple[Permission, str]:
        """Return a permission with the key that grants it, and the last part of its callback."""
        if permission.key:
            secret = self._vault.unseal(permission.key, _PURPOSE)
        else:
            secret = fresh()
            sealed = self._vault.seal(secret, _PURPOSE)
            permission = msgspec.structs.replace(permission, key=sealed)
        return permission, f"{key(permission.destination, permission.origin)}-{secret}"

    def grant(self, token: str, rate: str | None, now: float) -> Permission:
        """Grant what a callback names; NotFoundError for one that nobody was given."""
        name, _, secret = token.partition("-")
        # Nothing else can be a name, and not every database can be asked for anything.
        found = self._store.get(PERMISSION, name) if name.isascii() and name.isalnum() else None
        known = None if found is None else msgspec.json.decode(found.body, type=Permission)
        if found is None or known is None or not known.key or not self._is_key(known, secret):
            raise NotFoundError("no sink was given this address", address="callback")
        granted = msgspec.structs.replace(
            known,
            consent=Consent.GIVEN.name,
            rate=webhook.allowed_rate(rate, known.asked),
            at=now,
            until=now + _DAY,
            why="",
        )
        try:
            put = Put(PERMISSION, name, msgspec.json.encode(granted), expected=found.version)
            self._store.write([put])
        except ConflictError:
            # The sink was asked again in this very moment; what it grants counts.
            self._store.write([Put(PERMISSION, name, msgspec.json.encode(granted))])
        return granted

    def _is_key(self, permission: Permission, secret: str) -> bool:
        expected = self._vault.unseal(permission.key, _PURPOSE)
        return hmac.compare_digest(expected.encode(), secret.encode())
