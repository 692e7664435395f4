"""The addresses at which streams take events."""

from __future__ import annotations

import re

import msgspec

from penstock.errors import ConflictError
from penstock.ports import Put, ResourceStore
from penstock.routing import DEFAULT, STREAM

_NAME = "[A-Za-z0-9](?:[A-Za-z0-9._-]{0,252})"
_ADDRESS = re.compile(f"/((?:brokers|channels)/{_NAME}/{_NAME})")
_SHORT = {"/events": DEFAULT.key}


class Streams:
    """All streams as the store last showed them, by path."""

    def __init__(self, store: ResourceStore) -> None:
        self._store = store
        self._version = -1
        self.by_path: dict[str, str] = {}
        self.by_url: dict[bytes, str] = {}

    def create_default(self) -> None:
        """Make sure that the default broker exists."""
        try:
            self._store.write([Put(STREAM, DEFAULT.key, msgspec.json.encode(DEFAULT), expected=0)])
        except ConflictError:
            return

    def refresh(self) -> None:
        """Read the streams anew if anything changed in the store."""
        version = self._store.version()
        if version == self._version:
            return
        keys: list[str] = []
        while page := self._store.page(STREAM, keys[-1] if keys else ""):
            keys += (document.key for document in page)
        known = set(keys)
        paths = {f"/{key}": key for key in keys}
        self.by_path = {**paths, **{path: key for path, key in _SHORT.items() if key in known}}
        self.by_url = {path.encode(): key for path, key in self.by_path.items()}
        self._version = version

    def find(self, path: str) -> str | None:
        """Return the stream of a path, asking the store."""
        match = _ADDRESS.fullmatch(path)
        key = match[1] if match else _SHORT.get(path)
        return key if key and self._store.get(STREAM, key) is not None else None


def is_address(path: str) -> bool:
    """Tell whether a path can be the ingest address of some stream."""
    return path in _SHORT or _ADDRESS.fullmatch(path) is not None
