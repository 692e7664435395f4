"""Whether an address is one at which this server takes subscriptions."""

from __future__ import annotations

from urllib.parse import unquote, urlsplit

_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
_PORTS = {"http": 80, "https": 443}
_SHORT = "/subscriptions"


def subscriptions_at(base: str) -> str:
    """Return where the default broker takes subscriptions."""
    return base + _SHORT


def stream_at(address: str, base: str, default: str) -> str | None:
    """Return the stream whose subscriptions an address takes; None when it is not ours."""
    here, there = _place(base), _place(address)
    if here is None or there is None or here[0] != there[0]:
        return None
    path = there[1].removeprefix(here[1]).rstrip("/")
    if path == _SHORT:
        return default
    match path.split("/"):
        case ["", "brokers" as kind, namespace, name, "subscriptions"] if namespace and name:
            return f"{kind}/{unquote(namespace)}/{unquote(name)}"
    return None


def _place(address: str) -> tuple[tuple[str, int | None], str] | None:
    """Return host and port in one spelling, and the path."""
    try:
        parts = urlsplit(address)
        port = parts.port or _PORTS.get(parts.scheme.lower())
    except ValueError:
        return None
    host = parts.hostname or ""
    return ("localhost" if host in _LOOPBACK else host, port), parts.path.rstrip("/")
