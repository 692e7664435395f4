"""Random JSON Schemas, small changes of them, and values that they may accept or refuse."""

from __future__ import annotations

import copy
import itertools
from random import Random
from typing import Any

Json = Any

NAMES = ("a", "b", "ab")
SCALARS: tuple[Json, ...] = (None, True, False, 0, 1, 2, -1, 1.5, 4, "", "a", "b", "ab", "aab", "7")


def values() -> list[Json]:
    """Return values of all types and of several shapes."""
    scalars = list(SCALARS)
    arrays = [[], *([one] for one in SCALARS), ["a", "a"], [1, 2], [1, 1, 1], [[1], {}], ["a", 1]]
    few: tuple[Json, ...] = (None, True, 1, 2.5, "a", "aab", ["a"], {"a": 1})
    objects: list[Json] = [{}]
    for name in NAMES:
        objects += [{name: value} for value in few]
    objects += [{"a": one, "b": other} for one, other in itertools.product(few, few)]
    objects += [{"a": 1, "b": "a", "ab": None}, {"a": {"a": {"a": 1}}}, {"a": {"b": "a"}}]
    return [*scalars, *arrays, *objects]


class Schemas:
    """Makes schemas of one draft from a seed."""

    def __init__(self, random: Random, draft: str) -> None:
        self.random = random
        self.draft = draft

    def document(self) -> Json:
        """Return a whole document, sometimes with definitions that refer to themselves."""
        schema = self.schema(3)
        if not isinstance(schema, dict):
            schema = {"allOf": [schema]}
        place = "definitions" if self.draft == "draft-07" else "$defs"
        return {**schema, place: {"x": self.schema(2)}}

    def schema(self, depth: int) -> Json:
        """Return a schema with a few keywords."""
        if self.random.random() < 0.08 or depth == 0:
            return self.random.choice([True, True, {"type": "string"}, {"type": "integer"}, False])
        words = self.random.sample(sorted(self.makers()), self.random.choice([1, 1, 2, 2, 3]))
        schema: dict[str, Json] = {}
        for word in words:
            schema[word] = self.makers()[word](depth - 1)
        return schema

    def changed(self, schema: Json) -> Json:
        """Return the schema with one part added, dropped or replaced."""
        new = copy.deepcopy(schema)
        places = [one for one in _schemas(new) if isinstance(one, dict)]
        place = self.random.choice(places)
        word = self.random.choice(sorted(self.makers()))
        if place and self.random.random() < 0.4:
            place.pop(self.random.choice(sorted(place)))
        else:
            place[word] = self.makers()[word](1)
        return new

    def makers(self) -> dict[str, Any]:
        """Return how to make the value of each keyword."""
        random = self.random
        small = lambda _: random.choice([0, 1, 2])  # noqa: E731
        number = lambda _: random.choice([-1, 0, 1, 1.5, 2])  # noqa: E731
        types = ["null", "boolean", "integer", "number", "string", "array", "object"]
        some = lambda depth: [self.schema(depth) for _ in range(random.choice([1, 2, 2, 3]))]  # noqa: E731
        one = self.schema
        named = lambda depth: {  # noqa: E731
            name: self.schema(depth) for name in random.sample(NAMES, random.choice([1, 2]))
        }
        place = "definitions" if self.draft == "draft-07" else "$defs"
        found: dict[str, Any] = {
            "type": lambda _: random.choice([random.choice(types), random.sample(types, 2)]),
            "enum": lambda _: random.sample([*SCALARS[:9], "a", [1], {"a": 1}], 3),
            "const": lambda _: random.choice([*SCALARS, ["a"], {"a": 1}]),
            "minimum": number,
            "maximum": number,
            "exclusiveMinimum": number,
            "exclusiveMaximum": number,
            "multipleOf": lambda _: random.choice([1, 2, 4, 0.5]),
            "minLength": small,
            "maxLength": small,
            "pattern": lambda _: random.choice(["^a", "a$", "^a*$", "b"]),
            "minItems": small,
            "maxItems": small,
            "uniqueItems": lambda _: random.choice([True, False]),
            "contains": one,
            "minProperties": small,
            "maxProperties": small,
            "required": lambda _: random.sample(NAMES, random.choice([1, 2])),
            "properties": named,
            "patternProperties": lambda depth: {random.choice(["^a", "b$"]): self.schema(depth)},
            "additionalProperties": one,
            "propertyNames": lambda _: random.choice([{"maxLength": 1}, {"enum": ["a", "b"]}]),
            "allOf": some,
            "anyOf": some,
            "oneOf": some,
            "not": one,
            "if": one,
            "then": one,
            "else": one,
            "$ref": lambda _: random.choice([f"#/{place}/x", f"#/{place}/x", "#"]),
        }
        if self.draft == "draft-07":
            found["items"] = random.choice([one, some])
            found["additionalItems"] = one
            found["dependencies"] = lambda depth: {"a": random.choice([["b"], self.schema(depth)])}
        else:
            found["dependentRequired"] = lambda _: {"a": ["b"]}
            found["dependentSchemas"] = lambda depth: {"a": self.schema(depth)}
            found["items"] = one
            found["prefixItems"] = some
            found["minContains"] = small
            found["unevaluatedProperties"] = lambda _: random.choice([True, False])
        return found


def _schemas(part: Json) -> list[Json]:
    found = [part]
    for word, value in part.items() if isinstance(part, dict) else ():
        if word in {"properties", "patternProperties", "dependentSchemas", "$defs", "definitions"}:
            found += [one for inner in value.values() for one in _schemas(inner)]
        elif word in {"allOf", "anyOf", "oneOf", "prefixItems"}:
            found += [one for inner in value for one in _schemas(inner)]
        elif isinstance(value, dict) and word not in {"const", "dependencies"}:
            found += _schemas(value)
    return found
