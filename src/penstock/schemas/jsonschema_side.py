"""One JSON Schema document, as the comparison looks at it."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

import jsonschema_rs
import msgspec

from penstock.schemas.document import Json, unescape
from penstock.schemas.jsonschema_drafts import Draft

ATOMS = frozenset({"null", "boolean", "object", "array", "string", "integer", "fraction"})
NUMBERS = frozenset({"integer", "fraction"})
REFERENCES = frozenset({"$ref", "$dynamicRef", "$recursiveRef"})

# The library's default allows a million steps of backtracking at each of a text's positions.
PATTERNS = jsonschema_rs.FancyRegexOptions(backtrack_limit=10_000)


@dataclass(slots=True)
class Side:
    """A document with its draft: finds references, and tells equal parts."""

    root: Json
    draft: Draft
    marks: dict[int, bytes | None] = field(default_factory=dict)
    words: dict[int, dict[str, Json]] = field(default_factory=dict)
    has_inner_ids: bool = False

    def __post_init__(self) -> None:
        self.has_inner_ids = any(
            "$id" in one for one in _objects(self.root) if one is not self.root
        )

    def keywords(self, schema: Json) -> dict[str, Json]:
        """Return the keywords of a schema object that can refuse a value."""
        if id(schema) not in self.words:
            self.words[id(schema)] = self.draft.keywords(schema)
        return self.words[id(schema)]

    def target(self, reference: Json) -> tuple[str, Json] | None:
        """Return pointer and schema of a reference within the document, where it can be told."""
        if not isinstance(reference, str) or self.has_inner_ids:
            return None
        if reference in {"#", ""}:
            return "", self.root
        if not reference.startswith("#/") or "%" in reference:
            return None
        found = at_pointer(self.root, reference[1:])
        return (reference[1:], found) if isinstance(found, (dict, bool)) else None

    def mark(self, part: Json) -> bytes | None:
        """Return a digest that only equal parts share; None where a reference makes them differ."""
        if not isinstance(part, (dict, list)):
            return _digest(b"v", [_scalar(part)])
        if id(part) not in self.marks:
            self.marks[id(part)] = self._mark(part)
        return self.marks[id(part)]

    def _mark(self, part: Json) -> bytes | None:
        if isinstance(part, list):
            marks = [self.mark(one) for one in part]
        else:
            if part.keys() & REFERENCES:
                return None
            marks = [
                mark
                for key in sorted(part)
                for mark in (_digest(b"k", [key.encode()]), self.mark(part[key]))
            ]
        if any(mark is None for mark in marks):
            return None
        return _digest(b"l" if isinstance(part, list) else b"o", [one or b"" for one in marks])


def at_pointer(root: Json, pointer: str) -> Json | None:
    """Return what a JSON Pointer points to, or None."""
    part = root
    for token in pointer.split("/")[1:]:
        name = unescape(token)
        if isinstance(part, dict) and name in part:
            part = part[name]
        elif isinstance(part, list) and name.isdecimal() and int(name) < len(part):
            part = part[int(name)]
        else:
            return None
    return part


def atoms(words: Mapping[str, Json]) -> frozenset[str]:
    """Return the types of all values that these keywords can let pass."""
    found = ATOMS
    if "type" in words:
        names = [words["type"]] if isinstance(words["type"], str) else words["type"]
        found = frozenset(atom for name in names for atom in _atoms_of_name(name))
    finite = values(words)
    return found if finite is None else found & {_atom(value) for value in finite}


def values(words: Mapping[str, Json]) -> list[Json] | None:
    """Return the values that `const` or `enum` allow, None where neither is there."""
    if "const" in words:
        return [words["const"]]
    enum: list[Json] | None = words.get("enum")
    return enum


def same(one: Json, other: Json) -> bool:
    """Tell whether two JSON values are equal; a boolean is never a number."""
    return canonical(one) == canonical(other)


def canonical(value: Json) -> bytes:
    """Return bytes that equal JSON values share."""
    return msgspec.json.encode(_whole(value), order="sorted")


@lru_cache(maxsize=1024)
def pattern_matches(pattern: str, text: str) -> bool | None:
    """Tell whether a text has a match of a pattern; None where the engine gives up."""
    try:
        return jsonschema_rs.is_valid({"pattern": pattern}, text, pattern_options=PATTERNS)
    except ValueError:
        return None


def _whole(value: Json) -> Json:
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, int) and not isinstance(value, bool):
        # Text, since the encoder ends at 64 bits; a text itself is kept apart by its list.
        return str(value)
    if isinstance(value, str):
        return [value]
    if isinstance(value, list):
        return {"": [_whole(item) for item in value]}
    return {k: _whole(v) for k, v in value.items()} if isinstance(value, dict) else value


def _scalar(value: Json) -> bytes:
    return f"{type(value).__name__}:{value!r}".encode("utf-8", "surrogatepass")


def _digest(kind: bytes, parts: Iterable[bytes]) -> bytes:
    digest = hashlib.blake2b(kind, digest_size=16)
    for part in parts:
        digest.update(len(part).to_bytes(4, "big") + part)
    return digest.digest()


def _atoms_of_name(name: str) -> frozenset[str]:
    return NUMBERS if name == "number" else frozenset({name})


def _atom(value: Json) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case int():
            return "integer"
        case float():
            return "integer" if math.isfinite(value) and value.is_integer() else "fraction"
        case str():
            return "string"
    return "array" if isinstance(value, list) else "object"


def _objects(part: Json) -> Iterator[dict[str, Json]]:
    waiting = [part]
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict):
            yield one
            waiting.extend(one.values())
        elif isinstance(one, list):
            waiting.extend(one)
