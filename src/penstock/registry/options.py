"""Protocols of endpoints: their names, addresses and options."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from urllib.parse import SplitResult, urlsplit

from penstock.events.values import is_uri
from penstock.registry.faults import Faults, within

_TOKEN = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_WHOLE = re.compile(r"-?[0-9]{1,9}")
_PORT = re.compile(r"(?i:[a-z][a-z0-9+.-]*)://(?:\[[0-9a-fA-F:.]+\]|[^/:@\s]+):[0-9]{1,5}/?")
_TRUTHS = {"true": True, "false": False}

Option = Callable[[Faults, object, str], object]


@dataclass(frozen=True, slots=True)
class Protocol:
    """What is known of a protocol."""

    name: str
    versions: tuple[str, ...]
    """The versions there are; none means any."""
    latest: str
    schemes: tuple[str, ...]
    options: Mapping[str, Option]
    defaults: Mapping[str, object] = field(default_factory=dict)
    address: Callable[[SplitResult], str | None] = lambda _parts: None
    """Returns what is wrong with an address beside its scheme."""


def protocol(faults: Faults, value: object, path: str) -> str | None:
    """Return the name of a protocol in its defined spelling; unknown ones stay as they are."""
    text = faults.text(value, path)
    if text is None:
        return None
    name, slash, version = text.partition("/")
    found = _PROTOCOLS.get(name.upper())
    if found is None:
        return text
    if slash and (not version or (found.versions and version not in found.versions)):
        known = ", ".join(f"{found.name}/{each}" for each in found.versions or (found.latest,))
        faults.add(path, f"there is no {text}; known are {known}")
        return None
    return f"{found.name}{slash}{version}"


def known(name: str) -> Protocol | None:
    """Return what is known of a protocol by its name, with or without a version."""
    return _PROTOCOLS.get(name.partition("/")[0].upper())


def check_address(faults: Faults, name: str, value: object, path: str) -> None:
    """An address is absolute, and of a kind that the protocol has."""
    text = faults.text(value, path)
    if text is None:
        return
    if not is_uri(text):
        faults.add(path, "must be an absolute URI (RFC 3986)")
        return
    found = known(name)
    if found is None:
        return
    parts = urlsplit(text)
    if parts.scheme.lower() not in found.schemes:
        faults.add(path, f"must start with {' or '.join(f'{each}:' for each in found.schemes)}")
        return
    message = found.address(parts)
    if message:
        faults.add(path, message)


def settled(faults: Faults, name: str, value: object, path: str) -> dict[str, object]:
    """Return options as they are kept: typed for protocols that are known (RA-73)."""
    given = faults.mapping(value, path) or {}
    found = known(name)
    kept = dict(given)
    for key, option in given.items():
        place = within(path, key)
        if found is None:
            faults.text(option, place)
        elif key in found.options:
            kept[key] = found.options[key](faults, option, place)
        else:
            listed = ", ".join(found.options)
            faults.add(place, f"is no option of {found.name}; known are {listed}")
    return kept


def _text(faults: Faults, value: object, path: str) -> object:
    return faults.text(value, path)


def _boolean(faults: Faults, value: object, path: str) -> object:
    return faults.boolean(_TRUTHS.get(value, value) if isinstance(value, str) else value, path)


def _whole(least: int | None = None, most: int | None = None) -> Option:
    def read(faults: Faults, value: object, path: str) -> object:
        number = int(value) if isinstance(value, str) and _WHOLE.fullmatch(value) else value
        if not isinstance(number, int) or isinstance(number, bool):
            faults.add(path, "must be a whole number")
        elif least is not None and most is not None and not least <= number <= most:
            faults.add(path, f"must be from {least} to {most}")
        return number

    return read


def _choice(*choices: str) -> Option:
    def read(faults: Faults, value: object, path: str) -> object:
        return faults.one_of(value, path, choices)

    return read


def _texts(faults: Faults, value: object, path: str) -> object:
    found = faults.mapping(value, path) or {}
    for name, text in found.items():
        faults.text(text, within(path, name))
    return found


def _method(faults: Faults, value: object, path: str) -> object:
    if not isinstance(value, str) or not _TOKEN.fullmatch(value):
        faults.add(path, "must be the name of an HTTP method")
    return value


def _headers(faults: Faults, value: object, path: str) -> object:
    entries = faults.array(value, path) or []
    for number, entry in enumerate(entries):
        place = f"{path}[{number}]"
        found = faults.mapping(entry, place) or {}
        for name in ("name", "value"):
            faults.text(found.get(name), within(place, name))
    return list(entries)


def _node(parts: SplitResult) -> str | None:
    return "must have a node name as its path" if "//" in parts.path else None


def _topic(parts: SplitResult) -> str | None:
    if parts.scheme.lower() not in ("mqtt", "mqtts"):
        return f"must not have a path with {parts.scheme}:" if parts.path.strip("/") else None
    if "+" in parts.path or "#" in parts.path or parts.fragment:
        return "must have a topic name as its path, without wildcards"
    return None


def _with_port(parts: SplitResult) -> str | None:
    return None if _PORT.fullmatch(parts.geturl()) else "must be SCHEME://HOST:PORT"


_PROTOCOLS: Mapping[str, Protocol] = {
    "HTTP": Protocol(
        "HTTP",
        ("1.1", "2", "3"),
        "1.1",
        ("http", "https"),
        {"method": _method, "headers": _headers, "query": _texts},
        {"method": "POST"},
    ),
    "AMQP": Protocol(
        "AMQP",
        ("1.0",),
        "1.0",
        ("amqp", "amqps"),
        {
            "node": _text,
            "durable": _boolean,
            "link-properties": _texts,
            "connection-properties": _texts,
            "distribution-mode": _choice("move", "copy"),
        },
        {"durable": False, "distribution-mode": "move"},
        _node,
    ),
    "MQTT": Protocol(
        "MQTT",
        ("3.1.1", "5.0"),
        "5.0",
        ("mqtt", "mqtts", "tcp", "ssl", "wss"),
        {
            "topic": _text,
            "qos": _whole(0, 2),
            "retain": _boolean,
            "clean-session": _boolean,
            "will-topic": _text,
            "will-message": _text,
        },
        {"qos": 0, "retain": False, "clean-session": True},
        _topic,
    ),
    "KAFKA": Protocol(
        "KAFKA",
        (),
        "3.5",
        ("ssl", "plaintext"),
        {
            "topic": _text,
            "acks": _whole(-1, 1),
            "key": _text,
            "partition": _whole(),
            "consumer-group": _text,
        },
        {"acks": 1},
        _with_port,
    ),
    "NATS": Protocol(
        "NATS",
        (),
        "1.0.0",
        ("nats", "tls", "ws"),
        {"subject": _text},
        {},
        _with_port,
    ),
}
