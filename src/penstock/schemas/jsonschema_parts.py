"""Keywords about the parts of a value: properties of objects, items of arrays."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from penstock.errors import Problem
from penstock.schemas.base import Undecided
from penstock.schemas.document import Json, escape
from penstock.schemas.jsonschema_old import Old
from penstock.schemas.jsonschema_side import pattern_matches
from penstock.schemas.jsonschema_walk import Check, Walk, Words

_STRING = {"type": "string"}


def _required(walk: Walk, words: Words, old: Old, path: str) -> Iterator[Problem]:  # noqa: ARG001
    for name in words["required"]:
        if name not in old.required:
            yield Problem(f"{path}/required", f"the property {name!r} is required now")


def _properties(walk: Walk, words: Words, old: Old, path: str) -> Iterator[Problem]:
    for name, schema in words["properties"].items():
        yield from walk.below(schema, old.property(name), f"{path}/properties/{escape(name)}")


def _pattern_properties(walk: Walk, words: Words, old: Old, path: str) -> Iterator[Problem]:
    for pattern, schema in words["patternProperties"].items():
        below = f"{path}/patternProperties/{escape(pattern)}"
        for name in sorted(old.names):
            if pattern_matches(pattern, name) is not False:
                yield from walk.below(schema, old.property(name), below)
        for known in sorted(old.patterns):
            found = walk.below(schema, old.matching(known), below)
            # Two patterns may have no name in common, which the checker cannot see.
            yield from found if known == pattern else _doubt(found)
        if pattern not in old.patterns:
            yield from _doubt(walk.below(schema, old.additional, below))


def _additional(walk: Walk, words: Words, old: Old, path: str) -> Iterator[Problem]:
    schema, below = words["additionalProperties"], f"{path}/additionalProperties"
    named, patterns = words.get("properties", {}), words.get("patternProperties", {})
    for name in sorted(old.names - named.keys()):
        if not any(pattern_matches(pattern, name) for pattern in patterns):
            found = walk.below(schema, old.property(name), below)
            yield from (_about(problem, name) for problem in found)
    for known in sorted(old.patterns - patterns.keys()):
        yield from _doubt(walk.below(schema, old.matching(known), below))
    found = walk.below(schema, old.additional, below)
    if found and schema is False:
        yield Problem(below, "properties that were left open are refused now")
    else:
        yield from found


def _about(problem: Problem, name: str) -> Problem:
    return type(problem)(problem.path, f"of property {name!r}: {problem.message}")


def _doubt(problems: tuple[Problem, ...]) -> Iterator[Problem]:
    return (Undecided(problem.path, problem.message) for problem in problems)


def _property_names(walk: Walk, words: Words, old: Old, path: str) -> Iterator[Problem]:
    schema, below = words["propertyNames"], f"{path}/propertyNames"
    promised = tuple(old.every("propertyNames"))
    for name in sorted(old.names):
        if old.property(name).atoms:
            one = old.alone(walk.make({"const": name}), *promised)
            yield from walk.below(schema, one, below)
    for pattern in sorted(old.patterns):
        one = old.alone(walk.make({"type": "string", "pattern": pattern}), *promised)
        yield from walk.below(schema, one, below)
    if old.additional.atoms:
        yield from walk.below(schema, old.alone(walk.make(_STRING), *promised), below)


def _dependent_required(walk: Walk, words: Words, old: Old, path: str) -> Iterator[Problem]:
    for name, wanted in words["dependentRequired"].items():
        promised = {one for found in old.every("dependentRequired") for one in found.get(name, ())}
        missing = set(wanted) - promised - old.required - {name}
        if missing and old.property(name).atoms:
            listed = ", ".join(map(repr, sorted(missing)))
            below = f"{_place(walk, words, 'dependentRequired', path)}/{escape(name)}"
            yield Problem(below, f"{listed} is required now beside {name!r}")


def _dependent_schemas(walk: Walk, words: Words, old: Old, path: str) -> Iterator[Problem]:
    for name, schema in words["dependentSchemas"].items():
        if old.property(name).atoms:
            known = [found[name] for found in old.every("dependentSchemas") if name in found]
            beside = old.with_(walk.make({"required": [name]}), *known)
            below = f"{_place(walk, words, 'dependentSchemas', path)}/{escape(name)}"
            yield from walk.fit(schema, beside, below)


def _prefix(walk: Walk, words: Words, old: Old, path: str) -> Iterator[Problem]:
    for number, schema in enumerate(words["prefixItems"]):
        if number < old.most_items:
            below = f"{_place(walk, words, 'prefixItems', path)}/{number}"
            yield from walk.below(schema, old.item(number), below)


def _items(walk: Walk, words: Words, old: Old, path: str) -> Iterator[Problem]:
    first = len(words.get("prefixItems", ()))
    for number in range(first, max(first, old.prefix) + 1):
        if number < old.most_items:
            below = _place(walk, words, "items", path)
            yield from walk.below(words["items"], old.item(number), below)


def _contains(walk: Walk, words: Words, old: Old, path: str) -> Iterator[Problem]:
    least, most = words.get("minContains", 1), words.get("maxContains")
    if least == 0 and most is None:
        return
    if any(_promises(walk, words, one, old) for one in old.words if "contains" in one):
        return
    yield Undecided(f"{path}/contains", "the checker cannot tell what old arrays contain")


def _promises(walk: Walk, words: Words, one: Words, old: Old) -> bool:
    if one.get("minContains", 1) < words.get("minContains", 1):
        return False
    mark = walk.mark(words["contains"])
    is_same = mark is not None and mark == old.side.mark(one["contains"])
    if "maxContains" in words:
        return is_same and one.get("maxContains", words["maxContains"] + 1) <= words["maxContains"]
    return is_same or not walk.below(words["contains"], old.alone(one["contains"]), "")


def _place(walk: Walk, words: Words, word: str, path: str) -> str:
    return f"{path}/{walk.new.draft.spelling(word, words)}"


def _for(atom: str, check: Check) -> Check:
    def only(walk: Walk, words: Words, old: Old, path: str) -> Iterator[Problem]:
        if atom in old.atoms:
            yield from check(walk, words, _known(walk, old, atom), path)

    return only


def _known(walk: Walk, old: Old, atom: str) -> Old:
    """Turn listed objects or arrays into schemas, so that their parts can be looked at."""
    listed = [value for value in old.values or () if isinstance(value, (dict, list))]
    if len(listed) != 1:
        return old
    return old.with_(walk.make(_shape(listed[0]))) if atom else old


def _shape(value: Json) -> Json:
    if isinstance(value, dict):
        fields: dict[str, Any] = {name: {"const": one} for name, one in value.items()}
        return {"properties": fields, "required": list(value), "additionalProperties": False}
    if isinstance(value, list):
        # The words of both older and newer drafts; each reads its own.
        shapes = [{"const": one} for one in value]
        return {"prefixItems": shapes, "maxItems": len(value), "minItems": len(value)}
    return {"const": value}


CHECKS: Mapping[str, Check] = {
    "required": _for("object", _required),
    "properties": _for("object", _properties),
    "patternProperties": _for("object", _pattern_properties),
    "additionalProperties": _for("object", _additional),
    "propertyNames": _for("object", _property_names),
    "dependentRequired": _for("object", _dependent_required),
    "dependentSchemas": _for("object", _dependent_schemas),
    "prefixItems": _for("array", _prefix),
    "items": _for("array", _items),
    "contains": _for("array", _contains),
}
