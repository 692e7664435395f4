"""What a check of one keyword needs of the comparison that calls it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Protocol

from penstock.errors import Problem
from penstock.schemas.document import Json
from penstock.schemas.jsonschema_old import Old
from penstock.schemas.jsonschema_side import Side

Problems = tuple[Problem, ...]


class Walk(Protocol):
    """The comparison of two documents, seen from one of its keywords."""

    new: Side

    def fit(self, new: Json, old: Old, path: str) -> Problems:
        """Return why not all that the old schemas accept fits the new one, at the same value."""
        ...

    def below(self, new: Json, old: Old, path: str) -> Problems:
        """Do the same for a part of the value."""
        ...

    def make(self, schema: Json) -> Json:
        """Return a schema that lives as long as the comparison."""
        ...

    def mark(self, part: Json) -> bytes | None:
        """Return the digest of a part of the new document, None where equality says nothing."""
        ...


Words = Mapping[str, Json]
Check = Callable[[Walk, Words, Old, str], Iterator[Problem]]
