"""Settings of HTTP delivery beyond a plain request: batches, rate, handshake, secret headers."""

from __future__ import annotations

from collections.abc import Mapping

from penstock.errors import Problem, ResourceError
from penstock.ports import Credential
from penstock.routing import ContentMode, Handling, Handshake
from penstock.subscriptions.credentials import Read, Seal
from penstock.subscriptions.reading import mapping, refuse

PURPOSE = "headers"
"""For what the values of secret headers are sealed."""
_SECRET_HEADERS = frozenset({"authorization", "proxy-authorization", "cookie"})
_SECRET_WORDS = ("token", "secret", "key", "password")
_MOST_EVENTS = 10_000
_LEAST_BYTES = 1 << 10
_MOST_BYTES = 8 << 20
_LONGEST_LINGER = 300.0
_LOWEST_RATE = 1 / 3_600
_HIGHEST_RATE = 100_000.0


class Sealed(str):
    """The value of a header that is sealed already; no JSON document can hold one."""

    __slots__ = ()


def _whole(least: int, most: int) -> Read:
    def read(value: object, path: str) -> int:
        if isinstance(value, int) and not isinstance(value, bool) and least <= value <= most:
            return value
        raise refuse(path, f"must be a whole number from {least} to {most}")

    return read


def _number(least: float, most: float, fault: str) -> Read:
    def read(value: object, path: str) -> float | int:
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if isinstance(value, int | float) and is_number and least <= value <= most:
            return value
        raise refuse(path, fault)

    return read


def _handshake(value: object, path: str) -> str:
    if isinstance(value, str) and value in list(Handshake):
        return value
    raise refuse(path, f"must be {' or '.join(Handshake)}")


BATCH: Mapping[str, Read] = {
    "batchsize": _whole(1, _MOST_EVENTS),
    "batchbytes": _whole(_LEAST_BYTES, _MOST_BYTES),
    "linger": _number(0.0, _LONGEST_LINGER, "must be seconds from 0 to 300"),
}
"""What goes with the content mode `batch` alone."""
BATCH_DEFAULTS: Mapping[str, object] = {"batchsize": 100, "batchbytes": 1 << 20, "linger": 0}
SETTINGS: Mapping[str, Read] = {
    **BATCH,
    "ratelimit": _number(
        _LOWEST_RATE, _HIGHEST_RATE, "must be requests per second, from one in an hour to 100000"
    ),
    "handshake": _handshake,
}
DEFAULTS: Mapping[str, object] = {"handshake": Handshake.OFF.value}


def complete(value: object, path: str) -> dict[str, object]:
    """Return settings with the defaults of batches, or refuse those that need batches."""
    chosen = dict(mapping(value, path))
    if chosen.get("contentmode") == ContentMode.BATCH:
        return {**BATCH_DEFAULTS, **chosen}
    idle = [name for name in BATCH if name in chosen]
    if idle:
        needs = "has an effect only with contentmode batch"
        raise ResourceError([Problem(f"{path}.{name}", needs) for name in idle])
    return chosen


def with_handshake(given: object, default: Handshake) -> object:
    """Return proposed settings with the handshake that this server asks for by default."""
    if default is Handshake.OFF or not isinstance(given, Mapping):
        return given
    named = (name for name, value in given.items() if value is not None)
    if any(name.lower() == "handshake" for name in named):
        return given
    return {**given, "handshake": default.value}


def handling(chosen: Mapping[str, object], credential: Credential | None) -> Handling | None:
    """Return what settings ask for beyond plain requests; None where it is nothing."""
    batched = chosen.get("contentmode") == ContentMode.BATCH
    made = Handling(
        batch=int(str(chosen["batchsize"])) if batched else 0,
        batch_bytes=int(str(chosen["batchbytes"])) if batched else 1 << 20,
        linger=float(str(chosen["linger"])) if batched else 0.0,
        rate=float(str(chosen.get("ratelimit", 0))),
        handshake=Handshake(str(chosen.get("handshake", Handshake.OFF))),
        credential=credential,
        headers={name: str(value) for name, value in headers(chosen).items() if is_secret(name)},
    )
    return None if made == Handling() else made


def is_secret(name: str) -> bool:
    """Tell whether the value of a header is a secret, by its name (SUB-118)."""
    lower = name.lower()
    return lower in _SECRET_HEADERS or any(word in lower for word in _SECRET_WORDS)


def headers(chosen: Mapping[str, object]) -> Mapping[str, object]:
    """Return the headers that are set."""
    found = chosen.get("headers")
    return found if isinstance(found, Mapping) else {}


def public(chosen: Mapping[str, object]) -> dict[str, object]:
    """Return the settings without the headers that are secret."""
    if "headers" not in chosen:
        return dict(chosen)
    shown = {name: value for name, value in headers(chosen).items() if not is_secret(name)}
    return {**chosen, "headers": shown}


def sealed(chosen: Mapping[str, object], seal: Seal) -> dict[str, object]:
    """Return the settings with the values of secret headers sealed."""
    if "headers" not in chosen:
        return dict(chosen)
    safe = {
        name: _sealed(str(value), seal, value) if is_secret(name) else value
        for name, value in headers(chosen).items()
    }
    return {**chosen, "headers": safe}


def _sealed(text: str, seal: Seal, value: object) -> str:
    return text if isinstance(value, Sealed) else seal(text, PURPOSE)


def marked(chosen: Mapping[str, object]) -> dict[str, object]:
    """Return settings at rest such that reading them again does not seal twice."""
    if "headers" not in chosen:
        return dict(chosen)
    known = {
        name: Sealed(value) if is_secret(name) else value for name, value in headers(chosen).items()
    }
    return {**chosen, "headers": known}
