"""Sink credentials (Subscriptions 3.2.4): what each type needs, and what of it is secret."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

import msgspec

from penstock.errors import ResourceError
from penstock.events.values import parse_timestamp
from penstock.ports import Credential
from penstock.subscriptions.reading import Reading, http_address, mapping, refuse, text

Seal = Callable[[str, str], str]
"""Seals a text for a purpose."""
Read = Callable[[object, str], object]
_ReadText = Callable[[object, str], str]
PURPOSE = "credential"

_TYPE = "credentialType"
_ENDPOINT = "refreshTokenEndpoint"
_TOKEN = re.compile(r"[!-~]+")
_SCHEME = re.compile(r"[A-Za-z0-9!#$%&'*+\-.^_`|~]+")


def _printable(value: object, path: str) -> str:
    found = text(value, path)
    if not found.isprintable():
        raise refuse(path, "must be printable")
    return found


def _token(value: object, path: str) -> str:
    found = text(value, path)
    if not _TOKEN.fullmatch(found):
        raise refuse(path, "must be printable ASCII without blanks")
    return found


def _scheme(value: object, path: str) -> str:
    found = text(value, path)
    if not _SCHEME.fullmatch(found):
        raise refuse(path, "must be one word, such as bearer (RFC 6749 7.1)")
    return found


def _expiry(value: object, path: str) -> str:
    found = text(value, path)
    if parse_timestamp(found) is None:
        raise refuse(path, "must be a time (RFC 3339)")
    return found


_ACCESS: Mapping[str, _ReadText] = {"accessTokenExpiresUtc": _expiry, "accessTokenType": _scheme}
SHOWN: Mapping[str, Mapping[str, _ReadText]] = {
    "PLAIN": {"identifier": _printable},
    "ACCESSTOKEN": _ACCESS,
    "REFRESHTOKEN": {**_ACCESS, _ENDPOINT: http_address},
}
"""The members of each type that come back to clients."""
SECRET: Mapping[str, Mapping[str, _ReadText]] = {
    "PLAIN": {"secret": _printable},
    "ACCESSTOKEN": {"accessToken": _token},
    "REFRESHTOKEN": {"accessToken": _token, "refreshToken": _token},
}
"""The members of each type that are write-only (SUB-114 to SUB-116)."""
_NAMES = dict.fromkeys(
    name for table in (SHOWN, SECRET) for members in table.values() for name in members
)


class SinkCredential(msgspec.Struct, frozen=True, omit_defaults=True):
    """A credential at rest: its members that may be shown, and the others sealed."""

    shown: Mapping[str, str]
    sealed: str

    def credential(self) -> Credential:
        """Return what delivery makes of it."""
        moment = parse_timestamp(self.shown.get("accessTokenExpiresUtc", ""))
        return Credential(
            self.shown[_TYPE],
            self.sealed,
            self.shown.get("identifier", ""),
            self.shown.get("accessTokenType", ""),
            0.0 if moment is None else moment.timestamp(),
            self.shown.get(_ENDPOINT, ""),
        )


def read(
    value: object, path: str, seal: Seal, before: SinkCredential | None = None
) -> SinkCredential:
    """Return the credential that a client proposes, or raise ResourceError with every fault.

    Without secrets it keeps those of the credential before, which the client could not read back.
    """
    reading = Reading()
    found, unknown = reading.folded(mapping(value, path), (_TYPE, *_NAMES), f"{path}.")
    kind = reading.attempt(_kind, found.get(_TYPE), f"{path}.{_TYPE}")
    for name in unknown:
        reading.fault(f"{path}.{name}", "is no member of a credential")
    if kind is None:
        raise ResourceError(reading.problems)
    for name in found.keys() - {_TYPE, *SHOWN[kind], *SECRET[kind]}:
        reading.fault(f"{path}.{name}", f"is no member of a credential of type {kind}")
    shown = {_TYPE: kind, **_members(reading, found, SHOWN[kind], path)}
    if before is not None and _is_kept(found, shown, before):
        reading.finish()
        return SinkCredential(shown, before.sealed)
    hidden = _members(reading, found, SECRET[kind], path)
    reading.finish()
    return SinkCredential(shown, seal(msgspec.json.encode(hidden).decode(), PURPOSE))


def _kind(value: object, path: str) -> str:
    if value is None:
        raise refuse(path, "is required")
    kind = text(value, path)
    if kind in SHOWN:
        return kind
    raise refuse(path, f"must be one of {', '.join(SHOWN)}")


def _members(
    reading: Reading, found: Mapping[str, object], wanted: Mapping[str, _ReadText], path: str
) -> dict[str, str]:
    for name in wanted:
        if name not in found:
            reading.fault(f"{path}.{name}", "is required")
    read = {
        name: reading.attempt(read, found[name], f"{path}.{name}")
        for name, read in wanted.items()
        if name in found
    }
    return {name: value for name, value in read.items() if value is not None}


def _is_kept(found: Mapping[str, object], shown: Mapping[str, str], before: SinkCredential) -> bool:
    # A refresh token must not follow an address that somebody else may have put in.
    same = (_TYPE, "identifier", _ENDPOINT)
    return not found.keys() & SECRET[shown[_TYPE]].keys() and all(
        shown.get(name) == before.shown.get(name) for name in same
    )
