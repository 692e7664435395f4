"""Which lookups an expression implies, so that an index can skip it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from penstock.cesql import like
from penstock.cesql.functions import Functions
from penstock.cesql.kinds import kind
from penstock.cesql.lookups import NEVER, Cover, Lookup, expected
from penstock.cesql.tree import (
    Attribute,
    Binary,
    Call,
    In,
    Like,
    Literal,
    Node,
    Not,
    fold,
)
from penstock.cesql.values import Value, castable, to_text

# Always Strings, in every version.
TEXTUAL = frozenset({"id", "source", "specversion", "time", "type"})


@dataclass(slots=True)
class _Lookups:
    """A cover under construction: it is changed in place, which keeps long chains linear."""

    lookups: set[Lookup] = field(default_factory=set)
    share: float = 0.0


class _Sides(NamedTuple):
    """The covers of a part being true, and of its being false, without an error."""

    true: _Lookups | None = None
    false: _Lookups | None = None


def cover(root: Node, functions: Functions) -> Cover:
    """Return lookups of which at least one holds wherever the expression is true without error."""

    def visit(node: Node, parts: list[_Sides]) -> _Sides:
        if isinstance(node, Call) and not functions.find(node.name, len(node.arguments)):
            return _Sides(_Lookups(), _Lookups())
        return _sides(node, parts)

    # As a filter, an attribute passes only if it is a Boolean, which one text tells.
    if isinstance(root, Attribute):
        return frozenset({Lookup("exact", root.name, "true")})
    if kind(root, functions) is not bool:
        return NEVER
    found = fold(root, visit).true
    return None if found is None else frozenset(found.lookups)


def _sides(node: Node, parts: list[_Sides]) -> _Sides:
    match node:
        case Literal(value):
            return _literal(value)
        case Not():
            return _Sides(parts[0].false, parts[0].true)
        case Binary("AND", _, _):
            return _and(*parts)
        case Binary("OR", _, _):
            return _or(*parts)
    return _condition(node)


def _condition(node: Node) -> _Sides:
    match node:
        case Binary("=", left, right):
            return _Sides(true=_equality(left, right))
        case Binary("!=", left, right):
            return _Sides(false=_equality(left, right))
        case Like(Attribute(name), pattern, negated):
            return _turned(_like(name, like.pattern(pattern)), negated=negated)
        case In(Attribute(name), items, negated):
            return _turned(_member(name, items), negated=negated)
    return _Sides()


def _turned(found: _Lookups | None, *, negated: bool) -> _Sides:
    return _Sides(false=found) if negated else _Sides(true=found)


def _literal(value: Value) -> _Sides:
    truth = castable(value, bool)
    return _Sides(None if truth else _Lookups(), None if truth is False else _Lookups())


def _and(left: _Sides, right: _Sides) -> _Sides:
    return _Sides(_both(left.true, right.true), _either(left.false, right.false))


def _or(left: _Sides, right: _Sides) -> _Sides:
    return _Sides(_either(left.true, right.true), _both(left.false, right.false))


def _both(left: _Lookups | None, right: _Lookups | None) -> _Lookups | None:
    if left is None or right is None:
        return right if left is None else left
    return left if left.share <= right.share else right


def _either(left: _Lookups | None, right: _Lookups | None) -> _Lookups | None:
    if left is None or right is None:
        return None
    large, small = (left, right) if len(left.lookups) >= len(right.lookups) else (right, left)
    large.lookups |= small.lookups
    large.share += small.share
    return large


def _equality(left: Node, right: Node) -> _Lookups | None:
    match left, right:
        case Attribute(name), Literal(str() as text):
            return _exact(name, [text])
        case Attribute(name), Literal(int() as number) if not isinstance(number, bool):
            return _integer(name, number)
        case Literal(value), Attribute(name):
            return _exact(name, _spellings(name, value))
    return None


def _integer(name: str, number: int) -> _Lookups:
    """Return the cover of texts that are cast to a number: '7', '07' and '+7' all end in 7."""
    found = {Lookup("suffix", name, str(number)[-1])}
    if number in (0, 1):
        found.add(Lookup("exact", name, to_text(bool(number))))
    return _of(found)


def _member(name: str, items: tuple[Node, ...]) -> _Lookups | None:
    texts: list[str] = []
    for item in items:
        if not isinstance(item, Literal):
            return None
        texts += _spellings(name, item.value)
    return _exact(name, texts)


def _spellings(name: str, value: Value) -> list[str]:
    """Return the texts of all attribute values that a literal, cast to their type, equals."""
    kinds = (str,) if name in TEXTUAL else (str, int, bool)
    found = [castable(value, kind) for kind in kinds]
    return [to_text(spelling) for spelling in found if spelling is not None]


def _exact(name: str, texts: list[str]) -> _Lookups | None:
    if not all(is_plain(name, text) for text in texts):
        return None
    return _of({Lookup("exact", name, text) for text in texts})


def _like(name: str, pattern: like.Pattern) -> _Lookups | None:
    literals = pattern.literals
    if literals is not None and len(literals) == 1:
        return _exact(name, list(literals))
    head, tail = pattern.head, pattern.tail
    starts = _of({Lookup("prefix", name, head)}) if head and is_plain(name, head) else None
    ends = _of({Lookup("suffix", name, tail)}) if tail and is_plain(name, "", tail) else None
    return _both(starts, ends)


def is_plain(name: str, head: str, tail: str = "") -> bool:
    """Tell whether only attributes that have a text start and end like this.

    A map of an old event is JSON text in CESQL, but has no text that could be looked up.
    """
    return name in TEXTUAL or not (head.startswith(("{", "[")) or tail.endswith(("}", "]")))


def _of(lookups: set[Lookup]) -> _Lookups:
    return _Lookups(lookups, expected(frozenset(lookups)))
