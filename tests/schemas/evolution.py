"""One change of a schema, and how it must be judged."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from penstock.schemas import SchemaFormat, Undecided

COMPATIBLE, INCOMPATIBLE, UNDECIDED = "compatible", "incompatible", "undecided"


@dataclass(frozen=True, slots=True)
class Evolution:
    """An old and a new document; `path` is where the first problem must be."""

    name: str
    old: Any
    new: Any
    path: str | None = None
    verdict: str = ""

    @property
    def expected(self) -> str:
        """Return the verdict: a path means incompatible, unless it is stated otherwise."""
        return self.verdict or (COMPATIBLE if self.path is None else INCOMPATIBLE)


def judged(format_: SchemaFormat, evolution: Evolution) -> tuple[str, list[str]]:
    """Return the verdict of a format on a change, and the paths of the problems."""
    new, old = format_.parse(evolution.new), format_.parse(evolution.old)
    problems = format_.incompatibilities(new, old)
    if not problems:
        return COMPATIBLE, []
    is_open = all(isinstance(one, Undecided) for one in problems)
    return UNDECIDED if is_open else INCOMPATIBLE, [one.path for one in problems]
