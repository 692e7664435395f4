"""Filters and CESQL expressions in words."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import NamedTuple

from penstock.cesql import like
from penstock.cesql.lookups import Lookup
from penstock.cesql.tree import (
    Attribute,
    Binary,
    Call,
    Exists,
    In,
    Like,
    Literal,
    Negate,
    Node,
    Not,
    fold,
)
from penstock.cesql.values import printed
from penstock.filters.attributes import AttributeMap
from penstock.filters.base import Everything, Filter, Texts
from penstock.filters.sql import Sql

_VERBS = {
    "AND": "and",
    "OR": "or",
    "XOR": "or else",
    "=": "is",
    "!=": "is not",
    "<": "is less than",
    "<=": "is at most",
    ">": "is greater than",
    ">=": "is at least",
    "+": "plus",
    "-": "minus",
    "*": "times",
    "/": "divided by",
    "%": "modulo",
}


_KINDS = {"exact": "is", "prefix": "starts with", "suffix": "ends with"}


def condition(filter_: Filter) -> str:
    """Return a filter that has no filters in it, in words."""
    match filter_:
        case Everything():
            return "every event"
        case Texts(texts):
            pairs = (f"{name} {_KINDS[filter_.kind]} {printed(texts[name])}" for name in texts)
            return " and ".join(pairs)
        case AttributeMap(texts):
            return " and ".join(_attribute(name, text) for name, text in texts.items())
        case Sql():
            return expression(filter_.expression.tree)
    return headline(filter_)


def headline(filter_: Filter) -> str:
    """Return a filter on one line: its words, or its document if it has others in it."""
    if isinstance(filter_, Everything | Texts | AttributeMap | Sql):
        return condition(filter_)
    # Unlike faster encoders, this one takes lone surrogates, and whatever strangers put in.
    text = json.dumps(filter_.document(), ensure_ascii=False, separators=(",", ":"), default=repr)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


_LONGEST = 500


def lookup(one: Lookup) -> str:
    """Return what an index looks up, in words."""
    return f"{one.name} {_KINDS[one.kind]} {printed(one.text)}"


def chain(operators: Sequence[str]) -> str:
    """Return what a chain of logical operators asks for."""
    return _CHAINS[operators[0]] if len(set(operators)) == 1 else "from left to right"


_CHAINS = {"AND": "all of", "OR": "any of", "XOR": "an odd number of"}


def _attribute(name: str, text: str) -> str:
    return f"{name} is {printed(text)}" if text else f"{name} is present"


_LEVELS = {
    **dict.fromkeys(("AND", "OR", "XOR"), 1),
    **dict.fromkeys(("=", "!=", "<", "<=", ">", ">="), 2),
    **dict.fromkeys(("+", "-"), 3),
    **dict.fromkeys(("*", "/", "%"), 4),
}
_HIGHEST = 5


class _Phrase(NamedTuple):
    text: str
    operator: str = ""

    def below(self, operator: str) -> str:
        """Return the text, in parentheses where it could be misread below an operator."""
        chained = operator == self.operator and operator in ("AND", "OR")
        inner = _LEVELS.get(self.operator, _HIGHEST)
        loose = inner <= _LEVELS.get(operator, _HIGHEST) and inner < _HIGHEST
        return f"({self.text})" if loose and not chained else self.text


def expression(root: Node) -> str:
    """Return what an expression means, in words."""
    return fold(root, _phrase).text


def _phrase(node: Node, parts: list[_Phrase]) -> _Phrase:
    match node:
        case Binary(operator):
            left, right = (part.below(operator) for part in parts)
            return _Phrase(f"{left} {_VERBS[operator]} {right}", operator)
        case Not(Exists(name)):
            return _Phrase(f"{name} is absent")
        case Not():
            return _Phrase(f"not ({parts[0].text})")
        case Negate():
            return _Phrase(f"-{_operand(parts[0])}")
    return _Phrase(_condition(node, parts))


def _operand(part: _Phrase) -> str:
    return part.below("")


def _condition(node: Node, parts: list[_Phrase]) -> str:
    match node:
        case Literal(value):
            return printed(value)
        case Attribute(name):
            return name
        case Exists(name):
            return f"{name} is present"
        case Like(_, pattern, negated):
            return f"{_operand(parts[0])} {_likeness(pattern, negated=negated)}"
        case In(_, _, negated):
            items = ", ".join(part.text for part in parts[1:])
            return f"{_operand(parts[0])} {'is none of' if negated else 'is one of'} {items}"
    return _call(node, parts)


def _call(node: Node, parts: list[_Phrase]) -> str:
    name = node.name if isinstance(node, Call) else ""
    return f"{name}({', '.join(part.text for part in parts)})"


def _likeness(text: str, *, negated: bool) -> str:
    verbs = _NEGATIVE if negated else _POSITIVE
    match like.pattern(text).literals:
        case (whole,):
            return f"{verbs['is']} {printed(whole)}"
        case (head, "") if head:
            return f"{verbs['start']} {printed(head)}"
        case ("", tail) if tail:
            return f"{verbs['end']} {printed(tail)}"
        case ("", middle, ""):
            return f"{verbs['contain']} {printed(middle)}"
    return f"{verbs['match']} {printed(text)}"


_POSITIVE = {
    "is": "is",
    "start": "starts with",
    "end": "ends with",
    "contain": "contains",
    "match": "matches the pattern",
}
_NEGATIVE = {
    "is": "is not",
    "start": "does not start with",
    "end": "does not end with",
    "contain": "does not contain",
    "match": "does not match the pattern",
}
