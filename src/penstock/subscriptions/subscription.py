"""Subscriptions: the object of the API, its defaults and problems, and the route it stands for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from penstock import filters
from penstock.events.values import is_uri_reference
from penstock.ports import Position
from penstock.routing import ContentMode, Route, Target
from penstock.subscriptions import settings
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
            "protocolsettings": _shown(self.protocolsettings),
        }
        return {name: value for name, value in shown.items() if value is not None}

    def route(self, start: Position) -> Route:
        """Return the route that delivers events from a position on."""
        chosen = self.protocolsettings
        return Route(
            id=self.id,
            stream=self.stream,
            target=Target(
                self.sink,
                self.protocol,
                ContentMode(str(chosen["contentmode"])),
                {name: chosen[name] for name in ("method", "headers") if name in chosen},
                int(str(chosen["maxinflight"])),
            ),
            start=start,
            source=self.source,
            types=self.types,
            filters=self.filters,
            policy=settings.policy(chosen),
        )

    def keeping(self, before: Subscription) -> Subscription:
        """Return the subscription with the secret headers that a client could not read back."""
        old, new = _headers(before.protocolsettings), _headers(self.protocolsettings)
        if not old or _public(old) != new:
            return self
        kept = {**self.protocolsettings, "headers": old}
        return msgspec.structs.replace(self, protocolsettings=kept)


def read(document: object) -> Subscription:
    """Return the subscription that a document proposes, or raise ResourceError with every fault."""
    if not isinstance(document, Mapping):
        raise refuse("", "a subscription is a JSON object")
    reading = Reading()
    found, _ = reading.folded(document, _PROPERTIES)
    for name in ("protocol", "sink"):
        if name not in found:
            reading.fault(name, "is required")
    if "sinkCredential" in found:
        reading.fault("sinkCredential", "credentials are not supported yet")
    protocol = reading.member(settings.protocol, found, "protocol")
    sink, chosen = _transmission(reading, protocol, found)
    source = reading.member(_source, found, "source")
    types = reading.member(_types, found, "types")
    config = reading.member(mapping, found, "config")
    conditions = reading.attempt(_conditions, found, "filters")
    reading.finish()
    return Subscription(
        sink or "",
        protocol or "",
        chosen or {},
        source,
        types or (),
        config,
        conditions or (),
        str(found.get("id", "")),
    )


def _transmission(
    reading: Reading, protocol: str | None, found: Mapping[str, object]
) -> tuple[str | None, dict[str, object] | None]:
    if protocol is None:  # nobody can say what its sink and settings must look like
        return reading.member(text, found, "sink"), None
    known = settings.PROTOCOLS[protocol]
    sink = reading.member(lambda value, path: address(value, path, known.schemes), found, "sink")
    given = found.get("protocolsettings", {})
    return sink, reading.attempt(known.read, given, "protocolsettings")


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


def _headers(chosen: Mapping[str, object]) -> Mapping[str, object]:
    headers = chosen.get("headers")
    return headers if isinstance(headers, Mapping) else {}


def _public(headers: Mapping[str, object]) -> dict[str, object]:
    return {
        name: value
        for name, value in headers.items()
        if name.lower() not in settings.SECRET_HEADERS
    }


def _shown(chosen: Mapping[str, object]) -> dict[str, object]:
    if "headers" not in chosen:
        return dict(chosen)
    return {**chosen, "headers": _public(_headers(chosen))}
