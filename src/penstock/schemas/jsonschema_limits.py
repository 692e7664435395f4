"""Keywords about one value without looking into it: limits, patterns, listed values."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping

import jsonschema_rs

from penstock.errors import Problem
from penstock.schemas.base import Undecided
from penstock.schemas.document import Json
from penstock.schemas.jsonschema_old import Old
from penstock.schemas.jsonschema_side import NUMBERS, PATTERNS, atoms, canonical, values
from penstock.schemas.jsonschema_walk import Check, Walk, Words

_LOWER: Mapping[str, tuple[str, Callable[[Old], float]]] = {
    "minLength": ("string", lambda old: old.greatest("minLength", 0)),
    "minItems": ("array", lambda old: old.greatest("minItems", 0)),
    "minProperties": (
        "object",
        lambda old: max(old.greatest("minProperties", 0), len(old.required)),
    ),
}
_UPPER: Mapping[str, tuple[str, Callable[[Old], float]]] = {
    "maxLength": ("string", lambda old: old.least("maxLength")),
    "maxItems": ("array", lambda old: old.most_items),
    "maxProperties": ("object", lambda old: old.most_properties),
}
_UNREADABLE = ("pattern", "format", "contentEncoding", "contentMediaType")
_BOUNDS = ("minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum")


def _type(walk: Walk, words: Words, old: Old, path: str) -> Iterator[Problem]:  # noqa: ARG001
    gone = old.atoms - atoms({"type": words["type"]})
    names = {"number" if name == "fraction" else name for name in gone}
    listed = ", ".join(sorted(names - {"integer"} if "number" in names else names))
    if gone:
        yield Problem(f"{path}/type", f"{listed} is not accepted any more")


def _listed(word: str) -> Check:
    def check(walk: Walk, words: Words, old: Old, path: str) -> Iterator[Problem]:  # noqa: ARG001
        if old.values is None:
            yield Problem(f"{path}/{word}", "only listed values are accepted now")
            return
        allowed = {canonical(value) for value in values({word: words[word]}) or ()}
        gone = [value for value in old.values if canonical(value) not in allowed]
        if gone:
            yield Problem(f"{path}/{word}", f"values are not accepted any more: {_some(gone)}")

    return check


def _lower(word: str) -> Check:
    atom, promised = _LOWER[word]

    def check(walk: Walk, words: Words, old: Old, path: str) -> Iterator[Problem]:  # noqa: ARG001
        limit, before = words[word], promised(old)
        if atom in old.atoms and limit > before:
            yield Problem(f"{path}/{word}", f"the lower limit rose from {before} to {limit}")

    return check


def _upper(word: str) -> Check:
    atom, promised = _UPPER[word]

    def check(walk: Walk, words: Words, old: Old, path: str) -> Iterator[Problem]:  # noqa: ARG001
        limit, before = words[word], promised(old)
        if atom in old.atoms and limit < before:
            was = "none" if math.isinf(before) else before
            yield Problem(f"{path}/{word}", f"the upper limit fell from {was} to {limit}")

    return check


def _bound(word: str) -> Check:
    sign = 1 if word.endswith("inimum") else -1
    pair = ("minimum", "exclusiveMinimum") if sign == 1 else ("maximum", "exclusiveMaximum")

    def check(walk: Walk, words: Words, old: Old, path: str) -> Iterator[Problem]:  # noqa: ARG001
        if not old.atoms & NUMBERS:
            return
        # Upper bounds are lower bounds of the negative number.
        found = [(sign * one, 0) for one in old.every(pair[0])]
        found += [(sign * one, 1) for one in old.every(pair[1])]
        wanted = _whole(sign * words[word], int(word == pair[1]), is_whole=old.is_whole)
        if not any(_whole(*one, is_whole=old.is_whole) >= wanted for one in found):
            yield Problem(f"{path}/{word}", f"numbers are refused now by the limit {words[word]}")

    return check


def _whole(bound: float, exclusive: int, *, is_whole: bool) -> tuple[float, int]:
    if not is_whole:
        return bound, exclusive
    return (math.floor(bound) + 1, 0) if exclusive else (math.ceil(bound), 0)


def _multiple(walk: Walk, words: Words, old: Old, path: str) -> Iterator[Problem]:  # noqa: ARG001
    step = words["multipleOf"]
    if not old.atoms & NUMBERS or (step == 1 and old.is_whole):
        return
    whole = [one for one in old.every("multipleOf") if isinstance(one, int)]
    if not isinstance(step, int) or not any(one % step == 0 for one in whole):
        yield Problem(f"{path}/multipleOf", f"numbers must be multiples of {step} now")


def _unreadable(word: str) -> Check:
    def check(walk: Walk, words: Words, old: Old, path: str) -> Iterator[Problem]:  # noqa: ARG001
        if "string" in old.atoms:
            message = f"the checker cannot tell which old strings fit {word} {words[word]!r:.80}"
            yield Undecided(f"{path}/{word}", message)

    return check


def _unique(walk: Walk, words: Words, old: Old, path: str) -> Iterator[Problem]:  # noqa: ARG001
    is_free = words["uniqueItems"] and "array" in old.atoms and old.most_items > 1
    if is_free and not any(old.every("uniqueItems")):
        yield Problem(f"{path}/uniqueItems", "arrays with equal items are refused now")


def _on_values(word: str, check: Check) -> Check:
    """Try the values of the old schema one by one, where it lists them."""

    def tried(walk: Walk, words: Words, old: Old, path: str) -> Iterator[Problem]:
        if old.values is None:
            yield from check(walk, words, old, path)
            return
        schema = {"$schema": walk.new.draft.address, word: words[word]}
        gone = [value for value in old.values if not _accepts(schema, value)]
        if gone:
            yield Problem(f"{path}/{word}", f"values are not accepted any more: {_some(gone)}")

    return tried


def _accepts(schema: Json, value: Json) -> bool:
    try:
        return jsonschema_rs.is_valid(schema, value, pattern_options=PATTERNS, offline=True)
    except ValueError:
        return False


def _some(gone: list[Json]) -> str:
    return ", ".join(f"{value!r:.40}" for value in gone[:10])


_PLAIN: dict[str, Check] = {
    "type": _type,
    **{word: _lower(word) for word in _LOWER},
    **{word: _upper(word) for word in _UPPER},
    **{word: _bound(word) for word in _BOUNDS},
    **{word: _unreadable(word) for word in _UNREADABLE},
    "multipleOf": _multiple,
    "uniqueItems": _unique,
}
CHECKS: Mapping[str, Check] = {
    **{word: _on_values(word, check) for word, check in _PLAIN.items()},
    "enum": _listed("enum"),
    "const": _listed("const"),
}
