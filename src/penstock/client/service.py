"""Services of the catalogue, as the client sees them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import msgspec


class Service(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A service to be made known, or as the server knows it (Discovery, Service Attributes)."""

    id: str = ""
    """Given by the server; a new service that has one already is imported under it."""
    discversion: int = 0
    """Counts changes of the entry; an update that carries another than the current is refused."""
    updated: str = ""
    url: str = ""
    name: str
    description: str = ""
    docsurl: str = ""
    specversions: tuple[str, ...]
    subscriptionurl: str
    subscriptionconfig: Mapping[str, str] | None = None
    authscope: str = ""
    protocols: tuple[str, ...]
    events: tuple[Mapping[str, Any], ...] | None = None
    more: Mapping[str, Any] = {}
    """Attributes that this client does not know; they are kept as they are."""

    @classmethod
    def read(cls, document: Mapping[str, Any]) -> Self:
        """Return the service of a JSON document."""
        known = {name: document[name] for name in _NAMES if name in document}
        rest = {name: value for name, value in document.items() if name not in known}
        return msgspec.convert({**known, "more": rest}, cls)

    def document(self) -> dict[str, Any]:
        """Return the service as JSON document."""
        found = msgspec.json.decode(msgspec.json.encode(self), type=dict[str, Any])
        more = found.pop("more", {})
        return {**found, **more}


_NAMES = frozenset(Service.__struct_fields__) - {"more"}
