"""Changes of JSON Schemas (draft 2020-12); for each that is incompatible, where."""

from __future__ import annotations

from typing import Any

from tests.schemas.evolution import UNDECIDED, Evolution

STRING, INTEGER, NUMBER = {"type": "string"}, {"type": "integer"}, {"type": "number"}


def thing(properties: dict[str, Any], **more: object) -> dict[str, Any]:
    """Return the schema of an object."""
    return {"type": "object", "properties": properties, **more}


def closed(properties: dict[str, Any], **more: object) -> dict[str, Any]:
    """Return the schema of an object that has no other properties."""
    return thing(properties, additionalProperties=False, **more)


def array(items: object, **more: object) -> dict[str, Any]:
    """Return the schema of an array."""
    return {"type": "array", "items": items, **more}


def tree(**more: object) -> dict[str, Any]:
    """Return a schema that refers to itself."""
    node = thing({"value": INTEGER, "next": {"$ref": "#/$defs/node"}}, **more)
    return {"$ref": "#/$defs/node", "$defs": {"node": node}}


CAT = thing({"kind": {"const": "cat"}}, required=["kind"])
DOG = thing({"kind": {"const": "dog"}}, required=["kind"])

EVOLUTIONS = [
    Evolution("nothing", thing({"a": STRING}), thing({"a": STRING})),
    Evolution("title changed", {**STRING, "title": "a"}, {**STRING, "title": "b", "default": ""}),
    Evolution("type widened", STRING, {"type": ["string", "null"]}),
    Evolution("type narrowed", {"type": ["string", "null"]}, STRING, "/type"),
    Evolution("integer to number", INTEGER, NUMBER),
    Evolution("number to integer", NUMBER, INTEGER, "/type"),
    Evolution("type dropped", STRING, {}),
    Evolution("type added", {}, STRING, "/type"),
    Evolution("string to integer", STRING, INTEGER, "/type"),
    Evolution("required dropped", thing({"a": STRING}, required=["a"]), thing({"a": STRING})),
    Evolution(
        "required added", thing({"a": STRING}), thing({"a": STRING}, required=["a"]), "/required"
    ),
    Evolution(
        "optional property added to a closed object",
        closed({"a": STRING}),
        closed({"a": STRING, "b": INTEGER}),
    ),
    Evolution(
        "typed property added to an open object",
        thing({"a": STRING}),
        thing({"a": STRING, "b": INTEGER}),
        "/properties/b/type",
    ),
    Evolution(
        "property of any type added to an open object", thing({}), thing({"b": {"title": "b"}})
    ),
    Evolution(
        "property removed from an open object",
        thing({"a": STRING, "b": STRING}),
        thing({"a": STRING}),
    ),
    Evolution(
        "property removed from a closed object",
        closed({"a": STRING, "b": STRING}),
        closed({"a": STRING}),
        "/additionalProperties",
    ),
    Evolution("object opened", closed({"a": STRING}), thing({"a": STRING})),
    Evolution(
        "object closed", thing({"a": STRING}), closed({"a": STRING}), "/additionalProperties"
    ),
    Evolution(
        "additional properties typed",
        thing({}),
        thing({}, additionalProperties=STRING),
        "/additionalProperties/type",
    ),
    Evolution(
        "additional properties widened",
        thing({}, additionalProperties=INTEGER),
        thing({}, additionalProperties=NUMBER),
    ),
    Evolution("enum grown", {"enum": ["a"]}, {"enum": ["a", "b"]}),
    Evolution("enum shrunk", {"enum": ["a", "b"]}, {"enum": ["a"]}, "/enum"),
    Evolution("enum to string", {"enum": ["a"]}, STRING),
    Evolution("string to enum", STRING, {"enum": ["a"]}, "/enum"),
    Evolution("const to enum", {"const": 1}, {"enum": [1.0, 2]}),
    Evolution("const changed", {"const": 1}, {"const": 2}, "/const"),
    Evolution("true is not one", {"const": True}, {"const": 1}, "/const"),
    Evolution("enum within limits", {"enum": ["aa", "bb"]}, {"type": "string", "minLength": 2}),
    Evolution("enum beyond a limit", {"enum": ["aa", "b"]}, {"minLength": 2}, "/minLength"),
    Evolution("minimum lowered", {**NUMBER, "minimum": 5}, {**NUMBER, "minimum": 1}),
    Evolution("minimum raised", {**NUMBER, "minimum": 1}, {**NUMBER, "minimum": 5}, "/minimum"),
    Evolution("maximum raised", {**NUMBER, "maximum": 5}, {**NUMBER, "maximum": 9}),
    Evolution("maximum added", NUMBER, {**NUMBER, "maximum": 9}, "/maximum"),
    Evolution(
        "exclusive limit of integers", {**INTEGER, "exclusiveMinimum": 0}, {**INTEGER, "minimum": 1}
    ),
    Evolution(
        "exclusive limit of numbers",
        {**NUMBER, "minimum": 0},
        {**NUMBER, "exclusiveMinimum": 0},
        "/exclusiveMinimum",
    ),
    Evolution("multiple to a divisor", {**INTEGER, "multipleOf": 6}, {**INTEGER, "multipleOf": 3}),
    Evolution(
        "multiple to another",
        {**INTEGER, "multipleOf": 3},
        {**INTEGER, "multipleOf": 6},
        "/multipleOf",
    ),
    Evolution("length widened", {**STRING, "maxLength": 5}, {**STRING, "maxLength": 6}),
    Evolution(
        "length narrowed", {**STRING, "maxLength": 6}, {**STRING, "maxLength": 5}, "/maxLength"
    ),
    Evolution("pattern kept", {**STRING, "pattern": "^a+$"}, {**STRING, "pattern": "^a+$"}),
    Evolution("pattern dropped", {**STRING, "pattern": "^a+$"}, STRING),
    Evolution(
        "pattern changed",
        {**STRING, "pattern": "^a$"},
        {**STRING, "pattern": "^a+$"},
        "/pattern",
        UNDECIDED,
    ),
    Evolution(
        "pattern on other types", INTEGER, {"pattern": "^a+$", "type": ["integer", "string"]}
    ),
    Evolution("format is an annotation", STRING, {**STRING, "format": "date"}),
    Evolution("items widened", array(INTEGER), array(NUMBER)),
    Evolution("items narrowed", array(NUMBER), array(INTEGER), "/items/type"),
    Evolution("more items allowed", array(STRING, maxItems=3), array(STRING, maxItems=4)),
    Evolution("more items wanted", array(STRING), array(STRING, minItems=1), "/minItems"),
    Evolution(
        "unique items wanted", array(STRING), array(STRING, uniqueItems=True), "/uniqueItems"
    ),
    Evolution("unique items not wanted", array(STRING, uniqueItems=True), array(STRING)),
    Evolution(
        "tuple to list",
        {"type": "array", "prefixItems": [INTEGER, NUMBER], "items": False},
        array(NUMBER),
    ),
    Evolution(
        "tuple grown",
        {"type": "array", "prefixItems": [STRING], "items": False},
        {"type": "array", "prefixItems": [STRING, INTEGER], "items": False},
    ),
    Evolution(
        "tuple shrunk",
        {"type": "array", "prefixItems": [STRING, INTEGER], "items": False},
        {"type": "array", "prefixItems": [STRING], "items": False},
        "/items",
    ),
    Evolution("contains added", array({}), array({}, contains=STRING), "/contains", UNDECIDED),
    Evolution("recursive schema unchanged", tree(), tree()),
    Evolution("recursive schema relaxed", tree(required=["value"]), tree()),
    Evolution(
        "recursive schema tightened", tree(), tree(required=["value"]), "/$defs/node/required"
    ),
    Evolution("reference inlined", {"$ref": "#/$defs/a", "$defs": {"a": STRING}}, STRING),
    Evolution(
        "schema moved behind a reference", STRING, {"$ref": "#/$defs/a", "$defs": {"a": STRING}}
    ),
    Evolution("allOf dropped", {"allOf": [STRING, {"minLength": 1}]}, STRING),
    Evolution("allOf added", STRING, {"allOf": [STRING, {"minLength": 1}]}, "/allOf/1/minLength"),
    Evolution(
        "anyOf grown", {"anyOf": [STRING, INTEGER]}, {"anyOf": [STRING, INTEGER, {"type": "null"}]}
    ),
    Evolution("anyOf to types", {"anyOf": [STRING, INTEGER]}, {"type": ["string", "integer"]}),
    Evolution("types to anyOf", {"type": ["string", "integer"]}, {"anyOf": [STRING, INTEGER]}),
    Evolution(
        "anyOf shrunk", {"anyOf": [STRING, INTEGER]}, {"anyOf": [STRING]}, "/anyOf", UNDECIDED
    ),
    Evolution("anyOf narrowed to a type", {"anyOf": [STRING, INTEGER]}, STRING, "/type"),
    Evolution("oneOf of types grown", {"oneOf": [STRING]}, {"oneOf": [STRING, INTEGER]}),
    Evolution("oneOf equal", {"oneOf": [CAT, DOG]}, {"title": "pet", "oneOf": [CAT, DOG]}),
    Evolution("oneOf to anyOf", {"oneOf": [CAT, DOG]}, {"anyOf": [CAT, DOG]}),
    Evolution("oneOf by const grown", {"oneOf": [CAT]}, {"oneOf": [CAT, DOG]}, "/oneOf", UNDECIDED),
    Evolution("not of another type", STRING, {"not": INTEGER}),
    Evolution("not of a value", STRING, {"not": {"const": "a"}}, "/not", UNDECIDED),
    Evolution(
        "if with consequences that hold",
        thing({}, required=["a", "b"]),
        {"if": CAT, "then": {"required": ["a"]}, "else": {"required": ["b"]}},
    ),
    Evolution("if added", thing({}), {"if": CAT, "then": {"required": ["a"]}}, "/then", UNDECIDED),
    Evolution("dependency dropped", thing({}, dependentRequired={"a": ["b"]}), thing({})),
    Evolution(
        "dependency added",
        thing({}),
        thing({}, dependentRequired={"a": ["b"]}),
        "/dependentRequired/a",
    ),
    Evolution(
        "dependency of what is required",
        thing({}, required=["b"]),
        thing({}, dependentRequired={"a": ["b"]}),
    ),
    Evolution(
        "pattern properties widened",
        thing({}, patternProperties={"^x-": INTEGER}),
        thing({}, patternProperties={"^x-": NUMBER}),
    ),
    Evolution(
        "pattern properties narrowed",
        thing({}, patternProperties={"^x-": NUMBER}),
        thing({}, patternProperties={"^x-": INTEGER}),
        "/patternProperties/^x-/type",
    ),
    Evolution(
        "property covered by a pattern narrowed",
        closed({"x-a": NUMBER}),
        thing({}, patternProperties={"^x-": INTEGER}),
        "/patternProperties/^x-/type",
    ),
    Evolution(
        "names of a closed object",
        closed({"a": {}, "b": {}}),
        thing({}, propertyNames={"maxLength": 1}),
    ),
    Evolution(
        "names limited",
        thing({}),
        thing({}, propertyNames={"maxLength": 3}),
        "/propertyNames/maxLength",
    ),
    Evolution("fewer properties wanted", thing({}, minProperties=2), thing({}, minProperties=1)),
    Evolution("fewer properties allowed", thing({}), thing({}, maxProperties=1), "/maxProperties"),
    Evolution(
        "unevaluated properties refused",
        thing({}),
        thing({}, unevaluatedProperties=False),
        "/unevaluatedProperties",
        UNDECIDED,
    ),
    Evolution(
        "reference to another place",
        STRING,
        {"$ref": "#there", "$defs": {"a": {"$anchor": "there", "type": "string"}}},
        "/$ref",
        UNDECIDED,
    ),
    Evolution("everything refused", STRING, {"not": {}}, "/not", UNDECIDED),
    Evolution("nothing was accepted", {"allOf": [STRING, INTEGER]}, {"const": 1}),
    Evolution(
        "nested requirement",
        thing({"a": thing({})}),
        thing({"a": thing({}, required=["b"])}),
        "/properties/a/required",
    ),
    Evolution(
        "name with a slash",
        closed({"a/b": STRING}),
        closed({"a/b": INTEGER}),
        "/properties/a~1b/type",
    ),
]
