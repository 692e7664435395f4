"""What the old schema promises about a value: all that holds for everything it lets pass."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from penstock.schemas.document import Json
from penstock.schemas.jsonschema_side import ATOMS, NUMBERS, Side, atoms, pattern_matches, values

_MOST_PARTS = 200


@dataclass(frozen=True)
class Old:
    """A conjunction of schemas of the old document, references and `allOf` taken apart.

    Leaving a part out only makes the promise weaker, so whatever cannot be resolved is left out.
    """

    side: Side
    schemas: tuple[Json, ...]

    @cached_property
    def parts(self) -> tuple[Json, ...]:
        """Return the schema objects that all hold."""
        found: dict[int, Json] = {}
        waiting = list(self.schemas)
        while waiting and len(found) < _MOST_PARTS:
            schema = waiting.pop()
            if isinstance(schema, dict) and id(schema) not in found:
                found[id(schema)] = schema
                words = self.side.keywords(schema)
                waiting.extend(words.get("allOf", ()))
                if "$ref" in words and (target := self.side.target(words["$ref"])):
                    waiting.append(target[1])
            elif schema is False:
                return (False,)
        return tuple(found.values())

    @property
    def key(self) -> frozenset[int]:
        """Return what tells this conjunction from others."""
        return frozenset(id(part) for part in self.parts)

    @cached_property
    def words(self) -> tuple[Mapping[str, Json], ...]:
        """Return the keywords of each part."""
        return tuple(self.side.keywords(part) for part in self.parts if part is not False)

    @cached_property
    def atoms(self) -> frozenset[str]:
        """Return the types of all values that pass; none where nothing passes."""
        if False in self.parts:
            return frozenset()
        return ATOMS.intersection(*(atoms(words) for words in self.words))

    @cached_property
    def values(self) -> list[Json] | None:
        """Return all values that can pass, where they can be listed."""
        listed = [found for words in self.words if (found := values(words)) is not None]
        if listed:
            return min(listed, key=len)
        if self.atoms <= {"null", "boolean"}:
            every = ((None, "null"), (False, "boolean"), (True, "boolean"))
            return [value for value, atom in every if atom in self.atoms]
        return None

    def with_(self, *schemas: Json) -> Old:
        """Return this conjunction with more schemas of the old document."""
        return Old(self.side, (*self.schemas, *schemas))

    def alone(self, *schemas: Json) -> Old:
        """Return a conjunction of other schemas of the old document."""
        return Old(self.side, schemas)

    def has(self, word: str, mark: bytes | None) -> bool:
        """Tell whether a part has exactly that keyword."""
        if mark is None:
            return False
        return any(word in words and self.side.mark(words[word]) == mark for words in self.words)

    def every(self, word: str) -> Iterator[Json]:
        """Yield the values of one keyword in all parts."""
        return (words[word] for words in self.words if word in words)

    def greatest(self, word: str, default: float = -math.inf) -> float:
        """Return the tightest lower limit of one keyword."""
        return max(self.every(word), default=default)

    def least(self, word: str) -> float:
        """Return the tightest upper limit of one keyword."""
        return min(self.every(word), default=math.inf)

    @property
    def is_whole(self) -> bool:
        """Tell whether all numbers that pass are integers."""
        return self.atoms & NUMBERS <= {"integer"}

    @cached_property
    def required(self) -> frozenset[str]:
        """Return the names of the properties that every object has."""
        return frozenset(name for names in self.every("required") for name in names)

    @cached_property
    def names(self) -> frozenset[str]:
        """Return the names of the properties that are described one by one."""
        return frozenset(name for found in self.every("properties") for name in found)

    @cached_property
    def patterns(self) -> frozenset[str]:
        """Return the patterns that describe properties."""
        return frozenset(one for found in self.every("patternProperties") for one in found)

    def property(self, name: str) -> Old:
        """Return what holds for the value of a property."""
        return self.alone(*(one for words in self.words for one in _property(words, name)))

    def matching(self, pattern: str) -> Old:
        """Return what holds for values of properties that match one of our patterns."""
        found = (one[pattern] for one in self.every("patternProperties") if pattern in one)
        return self.alone(*found)

    @cached_property
    def additional(self) -> Old:
        """Return what holds for the values of properties that nothing describes."""
        return self.alone(*self.every("additionalProperties"))

    def item(self, index: int) -> Old:
        """Return what holds for one item; beyond the longest prefix, for all the rest."""
        return self.alone(*(one for words in self.words for one in _item(words, index)))

    @cached_property
    def prefix(self) -> int:
        """Return how many items are described one by one."""
        return max((len(found) for found in self.every("prefixItems")), default=0)

    @cached_property
    def most_items(self) -> float:
        """Return the length of the longest array that can pass."""
        closed = [
            len(words.get("prefixItems", ())) for words in self.words if words.get("items") is False
        ]
        return min([self.least("maxItems"), *closed])

    @cached_property
    def most_properties(self) -> float:
        """Return the number of properties of the largest object that can pass."""
        closed = [
            len(words.get("properties", ()))
            for words in self.words
            if words.get("additionalProperties") is False and not words.get("patternProperties")
        ]
        return min([self.least("maxProperties"), *closed])


def _property(words: Mapping[str, Json], name: str) -> Iterator[Json]:
    found = False
    if name in words.get("properties", ()):
        found = True
        yield words["properties"][name]
    for pattern, schema in words.get("patternProperties", {}).items():
        matches = pattern_matches(pattern, name)
        # Where the engine gives up, nothing is promised.
        found = found or matches is not False
        if matches:
            yield schema
    if not found and "additionalProperties" in words:
        yield words["additionalProperties"]


def _item(words: Mapping[str, Json], index: int) -> Iterator[Json]:
    prefix = words.get("prefixItems", ())
    if index < len(prefix):
        yield prefix[index]
    elif "items" in words:
        yield words["items"]
