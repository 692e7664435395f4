"""Whether a new JSON Schema accepts all that an old one accepts: keyword by keyword.

Every keyword of the new schema must follow from what the old one promises. The walk is sound: it
finds nothing only where nothing that was valid is refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from penstock.errors import Problem
from penstock.schemas import jsonschema_choices, jsonschema_limits, jsonschema_parts
from penstock.schemas.base import Undecided
from penstock.schemas.document import Json
from penstock.schemas.jsonschema_old import Old
from penstock.schemas.jsonschema_side import Side
from penstock.schemas.jsonschema_walk import Check, Problems

CHECKS: Mapping[str, Check] = {
    **jsonschema_limits.CHECKS,
    **jsonschema_parts.CHECKS,
    **jsonschema_choices.CHECKS,
}
# These mean something only together with the words beside them, or with what they refer to.
_BOUND_TO_OTHERS = frozenset(
    {
        *("$ref", "$dynamicRef", "$recursiveRef"),
        *("if", "items", "contains", "additionalProperties"),
        *("unevaluatedItems", "unevaluatedProperties"),
    }
)
# A conjunction of many parts takes long, one after the other and all with each other.
_MOST_STEPS = 60_000
_DEEPEST = 60
_MANY = 20

Key = tuple[int, frozenset[int]]


class _TooLargeError(Exception):
    pass


@dataclass(slots=True)
class Comparison:
    """Holds the schemas of a new document against those of an old one; used once."""

    new: Side
    old: Side
    steps: int = 0
    level: int = 0
    open: dict[Key, int] = field(default_factory=dict)
    fits: list[Key] = field(default_factory=list)
    done: dict[Key, Problems] = field(default_factory=dict)
    # Schemas made on the way are kept, since the tables above know schemas by their identity.
    made: list[Json] = field(default_factory=list)

    def problems(self) -> Problems:
        """Return what the new document refuses although the old one accepts it."""
        try:
            found = self.fit(self.new.root, Old(self.old, (self.old.root,)), "")
        except (_TooLargeError, RecursionError):
            return (Undecided("", "the schemas are too large to be compared"),)
        return tuple(dict.fromkeys(found))

    def fit(self, new: Json, old: Old, path: str) -> Problems:
        """Return why not all that the old schemas accept fits the new one, at the same value."""
        if new is True or not old.atoms:
            return ()
        if new is False:
            return (Problem(path, "nothing is accepted here any more"),)
        key = (id(new), old.key)
        if key in self.open:
            # Deeper in the value a circle is recursion; at the same value it says nothing.
            is_deeper = self.level > self.open[key]
            return () if is_deeper else (Undecided(path, "the references go in a circle"),)
        if key not in self.done:
            self._compare(key, new, old, path)
        return self.done[key]

    def below(self, new: Json, old: Old, path: str) -> Problems:
        """Do the same for a part of the value."""
        self.level += 1
        try:
            return self.fit(new, old, path)
        finally:
            self.level -= 1

    def make(self, schema: Json) -> Json:
        """Return a schema that lives as long as the comparison."""
        self.made.append(schema)
        return schema

    def mark(self, part: Json) -> bytes | None:
        """Return the digest of a part of the new document; drafts read equal words differently."""
        return self.new.mark(part) if self.new.draft is self.old.draft else None

    def _compare(self, key: Key, new: Json, old: Old, path: str) -> None:
        self.steps += len(old.parts) ** 2
        if self.steps > _MOST_STEPS or len(self.open) > _DEEPEST:
            raise _TooLargeError
        known = len(self.fits)
        self.open[key] = self.level
        found = self._whole_or_split(new, old, path)
        del self.open[key]
        if found:
            self._forget(known)
        else:
            self.fits.append(key)
        self.done[key] = found

    def _forget(self, known: int) -> None:
        """Drop answers that may rest on the assumption which has just failed."""
        while len(self.fits) > known:
            self.done.pop(self.fits.pop(), None)

    def _whole_or_split(self, new: Json, old: Old, path: str) -> Problems:
        mark = self.mark(new)
        if mark and any(self.old.mark(part) == mark for part in old.parts):
            return ()
        found = tuple(self._keywords(new, old, path))
        branches = self._branches(old) if found else ()
        if not branches:
            return found
        split = [self.fit(new, old.with_(one), path) for one in branches]
        return tuple(problem for problems in split for problem in problems)

    def _branches(self, old: Old) -> list[Json]:
        for word in ("anyOf", "oneOf"):
            for branches in old.every(word):
                # A branch that is part of the conjunction was chosen before.
                if len(branches) <= _MANY and not old.key & {id(one) for one in branches}:
                    return list(branches)
        return []

    def _keywords(self, new: Json, old: Old, path: str) -> Iterator[Problem]:
        words = self.new.keywords(new)
        for word in words.keys() & CHECKS.keys():
            mark = None if word in _BOUND_TO_OTHERS else self.mark(words[word])
            if not old.has(word, mark):
                yield from CHECKS[word](self, words, old, path)
