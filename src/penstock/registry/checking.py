"""Schema documents parsed and compared: the one door to the formats themselves."""

from __future__ import annotations

from functools import lru_cache
from typing import Protocol

from penstock.errors import Problem, ResourceError, UnsupportedError
from penstock.schemas import Schema, Undecided, schema_format


class Checker(Protocol):
    """Knows formats of schemas; those it does not know are taken as they are."""

    def parse(self, format: str, content: bytes) -> None:  # noqa: A002 - the specification's word
        """Raise ResourceError where the document is not valid in its format."""
        ...

    def incompatibilities(
        self,
        format: str,  # noqa: A002
        new: bytes,
        old: bytes,
    ) -> tuple[tuple[Problem, ...], tuple[Problem, ...]]:
        """Return what keeps the new schema from reading old data, and what cannot be decided."""
        ...

    def records(self, format: str, content: bytes) -> tuple[str, ...] | None:  # noqa: A002
        """Return the names that a `:` suffix can choose, or None where that is unknown."""
        ...


class SchemaChecker:
    """Knows the formats of the room `schemas`."""

    def parse(self, format: str, content: bytes) -> None:  # noqa: A002
        """Raise ResourceError where the document is not valid in its format."""
        _parsed(format, content)

    def incompatibilities(
        self,
        format: str,  # noqa: A002
        new: bytes,
        old: bytes,
    ) -> tuple[tuple[Problem, ...], tuple[Problem, ...]]:
        """Return what keeps the new schema from reading old data, and what cannot be decided."""
        try:
            newer, older = _parsed(format, new), _parsed(format, old)
        except ResourceError:
            # It was kept although nobody can read it (RA-69): there is nothing to compare.
            return (), ()
        if newer is None or older is None:
            return (), ()
        found = schema_format(format).incompatibilities(newer, older)
        undecided = tuple(each for each in found if isinstance(each, Undecided))
        return tuple(each for each in found if each not in undecided), undecided

    def records(self, format: str, content: bytes) -> tuple[str, ...] | None:  # noqa: A002
        """Return the names that a `:` suffix can choose, or None where that is unknown."""
        try:
            schema = _parsed(format, content)
        except ResourceError:
            return None
        return None if schema is None else schema.records


@lru_cache(maxsize=256)
def _parsed(format: str, content: bytes) -> Schema | None:  # noqa: A002
    try:
        return schema_format(format).parse(content)
    except UnsupportedError:
        return None


def inside(path: str, problem: Problem) -> Problem:
    """Return a problem of a schema document as one of the entity that holds it."""
    if not problem.path or problem.path.startswith("/"):
        return Problem(f"{path}{problem.path}", problem.message)
    if " " in problem.path:  # a line and a column, or the like
        return Problem(path, f"{problem.path}: {problem.message}")
    return Problem(f"{path}.{problem.path}", problem.message)
