"""Who sends, told to a sink: passwords, tokens, and when a token is renewed; pure decisions."""

from __future__ import annotations

import base64
import hashlib
from urllib.parse import urlencode

import msgspec

from penstock.ports import Credential, Request, Response

PURPOSE = "credential"
"""For what the secrets of a credential are sealed."""
LEASE_SECONDS = 40.0
"""How long a renewal may take before another process tries."""
_TIMEOUT = 30.0
_EARLY = 60.0
_EARLY_SHARE = 0.2
_UNKNOWN_LIFETIME = 3_600.0
_LONGEST_LIFETIME = 10 * 365 * 86_400.0
_PAUSE = 10.0
_OK = 200


class Obstacle(msgspec.Struct, frozen=True):
    """Something on our side keeps a request from being sent."""

    why: str
    final: bool = False
    """Whether it is no use to try again."""


class Secrets(msgspec.Struct, frozen=True, rename="camel"):
    """What is sealed of a credential."""

    secret: str = ""
    access_token: str = ""
    refresh_token: str = ""


class Renewal(msgspec.Struct, frozen=True, omit_defaults=True):
    """What the store keeps of a credential whose token was, or is being, renewed."""

    of: str
    """The credential that it belongs to: another one makes it void."""
    renewed: Credential | None = None
    since: float = 0.0
    lease: float = 0.0
    """Until when one process alone renews it."""
    pause: float = 0.0
    """Until when nobody tries again, for it failed."""
    why: str = ""


def fingerprint(credential: Credential) -> str:
    """Return a name for a credential that tells nothing of it."""
    return hashlib.sha256(f"{credential.sealed}\n{credential.endpoint}".encode()).hexdigest()


def authorization(credential: Credential, secrets: Secrets) -> str:
    """Return the value of the Authorization header (SUB-101, SUB-110)."""
    if credential.kind == "PLAIN":
        pair = f"{credential.identifier}:{secrets.secret}".encode()
        return f"Basic {base64.b64encode(pair).decode()}"
    scheme = credential.token_type
    return f"{'Bearer' if scheme.lower() == 'bearer' else scheme} {secrets.access_token}"


def is_expired(credential: Credential, now: float) -> bool:
    return credential.kind != "PLAIN" and now >= credential.expires


def is_ripe(credential: Credential, since: float, now: float) -> bool:
    """Tell whether a token is to be renewed: some time before it expires."""
    early = min(_EARLY, (credential.expires - since) * _EARLY_SHARE) if since else _EARLY
    return now >= credential.expires - early


def grant(endpoint: str, refresh_token: str) -> Request:
    """Return the request that trades a refresh token (RFC 6749 6, SUB-112)."""
    form = {"grant_type": "refresh_token", "refresh_token": refresh_token}
    headers = [
        ("content-type", "application/x-www-form-urlencoded"),
        ("accept", "application/json"),
        ("cache-control", "no-store"),
    ]
    return Request(endpoint, headers, urlencode(form).encode(), _TIMEOUT, wants_body=True)


class _Granted(msgspec.Struct):
    access_token: str
    token_type: str = ""
    expires_in: float | None = None
    refresh_token: str = ""


def granted(
    response: Response, credential: Credential, before: Secrets, now: float
) -> tuple[Credential, Secrets] | Obstacle:
    """Return the credential that an endpoint answered with, not sealed yet, and its secrets.

    An obstacle says why there is none; never with words of the answer, which may be secret.
    """
    if response.status != _OK:
        reason = response.error or f"it answered {response.status}"
        return Obstacle(f"the access token cannot be renewed: {reason}")
    try:
        found = msgspec.json.decode(response.body, type=_Granted, strict=False)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return Obstacle(_UNREADABLE)
    if not _is_token(found.access_token):
        return Obstacle(_UNREADABLE)
    lifetime = _UNKNOWN_LIFETIME if found.expires_in is None else found.expires_in
    renewed = msgspec.structs.replace(
        credential,
        sealed="",
        token_type=found.token_type if _is_token(found.token_type) else credential.token_type,
        expires=now + min(max(lifetime, 0.0), _LONGEST_LIFETIME),
    )
    kept = found.refresh_token or before.refresh_token
    return renewed, Secrets(access_token=found.access_token, refresh_token=kept)


_UNREADABLE = "the access token cannot be renewed: the answer has none"


def _is_token(text: str) -> bool:
    return text.isascii() and text.isprintable() and text != "" and " " not in text


def paused(renewal: Renewal, why: str, now: float) -> Renewal:
    """Return the renewal after an attempt that failed."""
    return msgspec.structs.replace(renewal, lease=0.0, pause=now + _PAUSE, why=why)
