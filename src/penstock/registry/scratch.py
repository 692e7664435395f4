"""A store in memory: for documents that are checked, compared or used without a server."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence

from penstock.errors import ConflictError, NotFoundError
from penstock.ports import Change, Check, Clear, Document, Drop, Put

_LAST = "\U0010ffff"


class Scratch:
    """A `ResourceStore` that ends with the process."""

    embedded = True

    def __init__(self) -> None:
        self._kinds: dict[str, dict[str, Document]] = {}
        self._ordered: dict[str, list[str]] = {}
        self._dropped: dict[tuple[str, str], int] = {}
        self._version = 0

    def stamp(self) -> int:
        return self._version

    def get(self, kind: str, key: str) -> Document | None:
        return self._kinds.get(kind, {}).get(key)

    def page(
        self, kind: str, after: str = "", limit: int = 1000, prefix: str = ""
    ) -> list[Document]:
        """Return documents of a kind in the order of their keys, those after a key."""
        keys = self._keys(kind)
        first, last = _span(keys, prefix)
        start = max(first, bisect_right(keys, after)) if after else first
        return [self._kinds[kind][key] for key in keys[start : min(last, start + limit)]]

    def count(self, kind: str, prefix: str = "") -> int:
        """Return how many documents of a kind have keys that start with a prefix."""
        first, last = _span(self._keys(kind), prefix)
        return last - first

    def write(self, changes: Sequence[Change]) -> int:
        """Apply all changes or none, and return the version they made."""
        before = self._kinds, self._dropped
        self._kinds = {kind: dict(held) for kind, held in self._kinds.items()}
        self._dropped = dict(self._dropped)
        self._ordered.clear()
        try:
            for change in changes:
                self._apply(change, self._version + 1)
        except (ConflictError, NotFoundError):
            self._kinds, self._dropped = before
            self._ordered.clear()
            raise
        self._version += 1
        return self._version

    def changes(self, kind: str, since: int, until: int) -> tuple[list[Document], list[str]]:
        """Return what was put, and the keys dropped, after version `since` up to `until`."""
        held = self._kinds.get(kind, {}).values()
        dropped = [
            key for (one, key), version in self._dropped.items() if one == kind and version > since
        ]
        return [each for each in held if since < each.version <= until], sorted(dropped)

    def version(self) -> int:
        return self._version

    def close(self) -> None:
        self._kinds.clear()

    def _keys(self, kind: str) -> list[str]:
        if kind not in self._ordered:
            self._ordered[kind] = sorted(self._kinds.get(kind, {}))
        return self._ordered[kind]

    def _apply(self, change: Change, version: int) -> None:
        held = self._kinds.setdefault(change.kind, {})
        if isinstance(change, Clear):
            for key in [each for each in held if each.startswith(change.prefix)]:
                self._drop(change.kind, key, version)
            return
        _expect(change, held.get(change.key))
        if isinstance(change, Put):
            held[change.key] = Document(change.kind, change.key, change.body, version)
            self._dropped.pop((change.kind, change.key), None)
        elif isinstance(change, Drop):
            self._drop(change.kind, change.key, version)

    def _drop(self, kind: str, key: str, version: int) -> None:
        self._kinds[kind].pop(key, None)
        self._dropped[kind, key] = version


def _span(keys: Sequence[str], prefix: str) -> tuple[int, int]:
    if not prefix:
        return 0, len(keys)
    return bisect_left(keys, prefix), bisect_left(keys, prefix + _LAST)


def _expect(change: Put | Drop | Check, found: Document | None) -> None:
    address = f"{change.kind}/{change.key}"
    if found is None and (isinstance(change, Drop) or change.expected):
        raise NotFoundError(f"there is no {change.kind} {change.key!r}", address=address)
    version = 0 if found is None else found.version
    if change.expected is not None and change.expected != version:
        raise ConflictError(f"{change.kind} {change.key!r} was changed", address=address)
