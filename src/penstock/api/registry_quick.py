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


class Quick:
    """Finds the latest version of a document that is kept here.

    What is unusual, missing or kept elsewhere takes the long way, and so does everything where a
    read may take long.
    """

    def __init__(self, control: Control) -> None:
        self._store = control.store
        self._url = control.url

    def document_at(
        self, url: bytes, headers: Sequence[tuple[bytes, bytes]]
    ) -> tuple[bytes, bytes] | None:
        """Return header lines and body of a document, if that takes no time."""
        plain = _PLAIN.fullmatch(url) if self._store.embedded else None
        base = self._url or host_of(headers)
        if plain is None or not base:
            return None
        path = plain[1].decode("ascii")
        try:
            found = self._resource(path)
        except PenstockError:
            return None
        return None if found is None else (_head(*found, f"{base}{ROOT}"), found[1])

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
