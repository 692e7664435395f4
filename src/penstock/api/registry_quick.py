"""The shortest way to a document of the registry: a read or two, and no thread."""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

from penstock.api.registry_call import ROOT
from penstock.api.registry_headers import shown
from penstock.api.resource import host_of
from penstock.control import Control
from penstock.errors import PenstockError
from penstock.registry.entities import CONTENT, RESOURCE, Resource, Shape, folded, segment

# Four names, none of which needs to be decoded: then the path in lower case is the key.
_PLAIN = re.compile(rb"/registry/((?:[A-Za-z0-9._~-]+/){3}[A-Za-z0-9._~-]+)")
_DECODER = msgspec.json.Decoder(Resource)
_MOST_BYTES = 128 << 20
_OVERHEAD = 300


class Quick:
    """Finds the latest version of a document that is kept here.

    What is unusual, missing or kept elsewhere takes the long way, and so does everything where a
    read may take long. Answers are remembered as long as nothing changes in the store; only this
    process changes the registry.
    """

    def __init__(self, control: Control) -> None:
        self._store = control.store
        self._url = control.url
        self._known: dict[str, dict[bytes, bytes]] = {}
        self._bytes = 0
        self._stamp = -1

    def document_at(self, url: bytes, headers: Sequence[tuple[bytes, bytes]]) -> bytes | None:
        """Return header lines, an empty line and a document, if that takes no time."""
        base = self._url or host_of(headers)
        if not base or not self._store.embedded:
            return None
        try:
            self._keep_up()
            return self._known.get(base, {}).get(url) or self._found(base, url)
        except PenstockError:
            return None

    def _keep_up(self) -> None:
        # Looked at before anything is read, so that what is remembered is at least as new.
        stamp = self._store.stamp()
        if stamp != self._stamp or self._bytes > _MOST_BYTES:
            self._known.clear()
            self._stamp, self._bytes = stamp, 0

    def _found(self, base: str, url: bytes) -> bytes | None:
        plain = _PLAIN.fullmatch(url)
        found = self._resource(plain[1].decode("ascii")) if plain else None
        if found is None:
            return None
        made = b"\r\n\r\n".join((_head(*found, f"{base}{ROOT}"), found[1]))
        self._known.setdefault(base, {})[url] = made
        self._bytes += len(made) + len(url) + _OVERHEAD
        return made

    def _resource(self, path: str) -> tuple[Resource, bytes] | None:
        place = path.lower()
        row = self._store.get(RESOURCE, place)
        if row is None:
            return None
        resource = _DECODER.decode(row.body)
        _, group, _, id_ = path.split("/")
        is_exact = resource.place.group == group and resource.place.resource == id_
        if not is_exact or resource.latest.shape is Shape.NONE:
            return None
        if resource.small:
            return resource, resource.small
        content = self._store.get(CONTENT, f"{place}/{folded(resource.latest.id)}")
        return None if content is None else (resource, content.body)


def _head(resource: Resource, content: bytes, base: str) -> bytes:
    place, latest = resource.place, resource.latest
    path = f"{place.groups}/{place.group}/{place.resources}/{place.resource}"
    address = f"{base}/{path}/versions/{segment(latest.id)}"
    found = shown(place, resource.singular, latest, address)
    lines = [f"{name}: {value}" for name, value in found]
    lines += (f"content-type: {latest.media_type}", f"content-length: {len(content)}")
    return "\r\n".join(lines).encode("latin-1")
