"""What is asked of the store of resources."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import msgspec


class Document(msgspec.Struct, frozen=True):
    """One resource at rest."""

    kind: str
    key: str
    body: bytes
    version: int
    """The version of the store that wrote it: grows with every change of anything."""


class Put(msgspec.Struct, frozen=True, tag=True):
    """Create or replace a resource; `expected` is the version to replace (0: must not exist)."""

    kind: str
    key: str
    body: bytes
    expected: int | None = None


class Drop(msgspec.Struct, frozen=True, tag=True):
    """Remove a resource."""

    kind: str
    key: str
    expected: int | None = None


class Check(msgspec.Struct, frozen=True, tag=True):
    """Refuse the whole write unless a resource still has a version (0: does not exist)."""

    kind: str
    key: str
    expected: int


class Clear(msgspec.Struct, frozen=True, tag=True):
    """Remove every resource whose key starts with a prefix."""

    kind: str
    prefix: str


Change = Put | Drop | Check | Clear


class ResourceStore(Protocol):
    """Resources at rest, each version of them readable for a while."""

    @property
    def embedded(self) -> bool:
        """Whether `get` is so short that an event loop can wait for it."""
        ...

    def stamp(self) -> int:
        """Return a number that is another after every change that was made through this object."""
        ...

    def get(self, kind: str, key: str) -> Document | None: ...

    def page(
        self, kind: str, after: str = "", limit: int = 1000, prefix: str = ""
    ) -> list[Document]:
        """Return documents of a kind in the order of their keys, those after a key."""
        ...

    def count(self, kind: str, prefix: str = "") -> int:
        """Return how many documents of a kind have keys that start with a prefix."""
        ...

    def write(self, changes: Sequence[Change]) -> int:
        """Apply all changes or none, and return the version they made."""
        ...

    def changes(self, kind: str, since: int, until: int) -> tuple[list[Document], list[str]]:
        """Return what was put, and the keys dropped, after version `since` up to `until`."""
        ...

    def version(self) -> int: ...

    def close(self) -> None: ...
