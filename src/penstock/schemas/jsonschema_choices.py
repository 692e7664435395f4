"""Keywords that put schemas together: references, allOf, anyOf, oneOf, not, if."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from penstock.errors import Problem
from penstock.schemas.base import Undecided
from penstock.schemas.document import Json
from penstock.schemas.jsonschema_old import Old
from penstock.schemas.jsonschema_walk import Check, Walk, Words


def _reference(walk: Walk, words: Words, old: Old, path: str) -> Iterator[Problem]:
    target = walk.new.target(words["$ref"])
    if target is None:
        message = f"the checker does not follow the reference {words['$ref']!r:.80}"
        yield Undecided(f"{path}/$ref", message)
    else:
        yield from walk.fit(target[1], old, target[0])


def _beyond(word: str, atom: str | None = None) -> Check:
    def check(walk: Walk, words: Words, old: Old, path: str) -> Iterator[Problem]:  # noqa: ARG001
        if words[word] is not True and (atom is None or atom in old.atoms):
            yield Undecided(f"{path}/{word}", f"the checker does not follow {word}")

    return check


def _all_of(walk: Walk, words: Words, old: Old, path: str) -> Iterator[Problem]:
    for number, branch in enumerate(words["allOf"]):
        yield from walk.fit(branch, old, f"{path}/allOf/{number}")


def _any_of(walk: Walk, words: Words, old: Old, path: str) -> Iterator[Problem]:
    branches, below = words["anyOf"], f"{path}/anyOf"
    if _some_fits(walk, branches, old, below):
        return
    if len(old.atoms) == 1:
        yield _no_branch(below, next(iter(old.atoms)))
        return
    for atom in sorted(old.atoms):
        if not _some_fits(walk, branches, _only(walk, old, atom), below):
            yield _no_branch(below, atom)


def _some_fits(walk: Walk, branches: list[Json], old: Old, path: str) -> bool:
    return any(not walk.fit(one, old, f"{path}/{number}") for number, one in enumerate(branches))


def _no_branch(path: str, atom: str) -> Problem:
    name = "number" if atom == "fraction" else atom
    return Undecided(path, f"the checker finds no branch that accepts every old {name}")


def _one_of(walk: Walk, words: Words, old: Old, path: str) -> Iterator[Problem]:
    for atom in sorted(old.atoms):
        possible = [
            (number, one)
            for number, one in enumerate(words["oneOf"])
            if atom in Old(walk.new, (one,)).atoms
        ]
        if len(possible) != 1 or walk.fit(
            possible[0][1], _only(walk, old, atom), f"{path}/oneOf/{possible[0][0]}"
        ):
            name = "number" if atom == "fraction" else atom
            message = f"the checker cannot tell that exactly one branch accepts each old {name}"
            yield Undecided(f"{path}/oneOf", message)


def _only(walk: Walk, old: Old, atom: str) -> Old:
    return old.with_(walk.make({"type": "number" if atom == "fraction" else atom}))


def _not(walk: Walk, words: Words, old: Old, path: str) -> Iterator[Problem]:
    if Old(walk.new, (words["not"],)).atoms & old.atoms:
        yield Undecided(f"{path}/not", "the checker cannot tell what 'not' leaves of old values")


def _if(walk: Walk, words: Words, old: Old, path: str) -> Iterator[Problem]:
    if any(_is_same_if(walk, words, one, old) for one in old.words):
        return
    for word in ("then", "else"):
        if word in words and walk.fit(words[word], old, f"{path}/{word}"):
            message = f"the checker cannot tell to which old values {word!r} applies"
            yield Undecided(f"{path}/{word}", message)


def _is_same_if(walk: Walk, words: Words, one: Words, old: Old) -> bool:
    for word in ("if", "then", "else"):
        if (word in words) != (word in one):
            return False
        if word in words:
            mark = walk.mark(words[word])
            if mark is None or mark != old.side.mark(one[word]):
                return False
    return True


CHECKS: Mapping[str, Check] = {
    "$ref": _reference,
    "$dynamicRef": _beyond("$dynamicRef"),
    "$recursiveRef": _beyond("$recursiveRef"),
    "allOf": _all_of,
    "anyOf": _any_of,
    "oneOf": _one_of,
    "not": _not,
    "if": _if,
    "unevaluatedItems": _beyond("unevaluatedItems", "array"),
    "unevaluatedProperties": _beyond("unevaluatedProperties", "object"),
}
