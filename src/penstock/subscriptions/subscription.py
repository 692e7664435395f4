"""Subscriptions: the object of the API, its defaults and problems, and the route it stands for."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import msgspec

from penstock import filters
from penstock.errors import UnsupportedError
from penstock.events.values import is_uri_reference
from penstock.ports import Position
from penstock.routing import ContentMode, Handshake, Route, Target
from penstock.subscriptions import credentials, handling, protocols, settings, starting
from penstock.subscriptions.credentials import Seal, SinkCredential
from penstock.subscriptions.reading import Reading, address, mapping, refuse, text

_PROPERTIES = (
    "id",
    "source",
    "types",
    "config",
    "filter",
    "filters",
    "sink",
    "protocol",
    "protocolsettings",
    "sinkCredential",
)


class Subscription(msgspec.Struct, frozen=True, omit_defaults=True):
    """A subscription as it was realized: checked, and with its defaults."""

    sink: str
    protocol: str
    protocolsettings: Mapping[str, object]
    source: str | None = None
    types: tuple[str, ...] = ()
    config: Mapping[str, object] | None = None
    filters: Sequence[Mapping[str, object]] = ()
    id: str = ""
    stream: str = ""
    version: int = 0
    """The version of the store that wrote it; not part of what is written."""
    paused: bool = False
    credential: SinkCredential | None = None

    def document(self) -> dict[str, object]:
        """Return the object as clients see it, without secrets."""
        shown = {
            "id": self.id,
            "source": self.source,
            "types": list(self.types) or None,
            "config": self.config,
            "filters": list(self.filters),
            "sink": self.sink,
            "protocol": self.protocol,
            "protocolsettings": handling.public(self.protocolsettings),
            "sinkCredential": None if self.credential is None else self.credential.shown,
            "paused": self.paused or None,
        }
        return {name: value for name, value in shown.items() if value is not None}

    def route(self, start: Position) -> Route:
        """Return the route that delivers events from a position on."""
        chosen = self.protocolsettings
        credential = None if self.credential is None else self.credential.credential()
        apart = settings.DELIVERY.keys() | handling.SETTINGS.keys()
        return Route(
            id=self.id,
            stream=self.stream,
            target=Target(
                self.sink,
                self.protocol,
                ContentMode(str(chosen["contentmode"])),
                {k: value for k, value in handling.public(chosen).items() if k not in apart},
                int(str(chosen["maxinflight"])),
                handling.handling(chosen, credential),
            ),
            start=start,
            source=self.source,
            types=self.types,
            filters=self.filters,
            policy=settings.policy(chosen),
        )

    def patching(self, before: Subscription) -> Subscription:
        """Return the subscription with what no change can touch."""
        starting.unchanged(before.config, self.config)
        return msgspec.structs.replace(self, paused=before.paused)

    def keeping(self, before: Subscription) -> Subscription:
        """Return the same, with the secret headers that a client could not read back."""
        same = self.patching(before)
        old, new = before.protocolsettings, self.protocolsettings
        public = handling.headers(handling.public(old))
        if not handling.headers(old) or public != handling.headers(new):
            return same
        kept = {**new, "headers": handling.headers(old)}
        return msgspec.structs.replace(same, protocolsettings=kept)


def no_seal(_text: str, _purpose: str) -> str:
    """Refuse secrets, for want of a key."""
    raise UnsupportedError("there is no key to keep secrets with", what="secrets")


def read(
    document: object,
    deliverable: Collection[str] = protocols.PROTOCOLS.keys(),
    seal: Seal = no_seal,
    before: Subscription | None = None,
    handshake: Handshake = Handshake.OFF,
) -> Subscription:
    """Return the subscription that a document proposes, or raise ResourceError with every fault.

    Settings are checked for every protocol, also where nothing can be delivered over it.
    Its secrets are sealed here: beyond, nobody sees them before they are sent.
    """
    if not isinstance(document, Mapping):
        raise refuse("", "a subscription is a JSON object")
    reading = Reading()
    found, _ = reading.folded(document, _PROPERTIES)
    for name in ("protocol", "sink"):
        if name not in found:
            reading.fault(name, "is required")
    protocol = reading.member(protocols.protocol, found, "protocol")
    if protocol is not None and protocol not in deliverable:
        able = ", ".join(sorted(deliverable))
        reading.fault("protocol", f"this build cannot deliver over {protocol}, only over {able}")
    sink, chosen = _transmission(reading, protocol, found, handshake)
    source = reading.member(_source, found, "source")
    types = reading.member(_types, found, "types")
    config = reading.member(starting.config, found, "config")
    conditions = reading.attempt(_conditions, found, "filters")
    old = None if before is None else before.credential
    credential = reading.member(
        lambda value, path: credentials.read(value, path, seal, old), found, "sinkCredential"
    )
    if protocol == "HTTP" and credential and ":" in credential.shown.get("identifier", ""):
        reading.fault("sinkCredential.identifier", "must not have a colon, which ends it in HTTP")
    reading.finish()
    return Subscription(
        sink or "",
        protocol or "",
        handling.sealed(chosen or {}, seal),
        source,
        types or (),
        config,
        conditions or (),
        str(found.get("id", "")),
        credential=credential,
    )


def _transmission(
    reading: Reading, protocol: str | None, found: Mapping[str, object], handshake: Handshake
) -> tuple[str | None, dict[str, object] | None]:
    if protocol is None:  # nobody can say what its sink and settings must look like
        return reading.member(text, found, "sink"), None
    known = protocols.PROTOCOLS[protocol]
    sink = reading.member(lambda value, path: address(value, path, known.schemes), found, "sink")
    given = found.get("protocolsettings", {})
    if protocol == "HTTP":
        given = handling.with_handshake(given, handshake)
    return sink, reading.attempt(
        lambda value, path: known.read(value, path, sink or ""), given, "protocolsettings"
    )


def _source(value: object, path: str) -> str:
    source = text(value, path)
    if not is_uri_reference(source):
        raise refuse(path, "must be a URI reference (RFC 3986)")
    return source


def _types(value: object, path: str) -> tuple[str, ...]:
    if isinstance(value, str):
        return (text(value, path),)
    if not isinstance(value, list):
        raise refuse(path, "must be an array of strings")
    reading = Reading()
    for number, entry in enumerate(value):
        reading.attempt(text, entry, f"{path}[{number}]")
    reading.finish()
    return tuple(value)


def _conditions(found: object, path: str) -> list[Mapping[str, object]]:
    """Return the filters, whichever of its two names the client used for them."""
    members = mapping(found, path)
    if "filter" in members and "filters" in members:
        raise refuse("filter", "excludes filters: give one of them")
    given = members.get("filters", members.get("filter"))
    if "filter" in members and isinstance(given, Mapping):
        given = [given] if given else []
    filters.parse_all(given, path)
    return list(given) if isinstance(given, list) else []
