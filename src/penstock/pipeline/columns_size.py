"""How large an expression becomes as a column, known before it is made."""

from __future__ import annotations

from typing import NamedTuple

from penstock.cesql.operations import ARITHMETIC, LOGIC
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
from penstock.pipeline.columns_attributes import ALWAYS, PLAIN

# Spark writes a part out wherever it is used, plans large conditions slowly, and recurses.
LARGEST = 1_000
DEEPEST = 60
# How much there is to a part, about, and how often some functions write out their arguments.
_ATTRIBUTE = 8
_TIMES = 3
_ITEMS_AS_ONE = 10
_KINDS = 3
# How many levels a part of a condition is, with its casts; logic is one.
_LEVELS = 4


def is_large(root: Node) -> bool:
    """Tell whether Spark had better not be given an expression."""
    size = fold(root, _size)
    return size.true > LARGEST or size.depth > DEEPEST


def plain_column(node: Node) -> str | None:
    """Return the column of texts that alone can keep a condition from an answer, if any."""
    match node:
        case (
            Binary("=" | "!=", Attribute(name), Literal(str()))
            | Binary("=" | "!=", Literal(), Attribute(name))
            | Like(Attribute(name))
            | In(Attribute(name))
        ) if name in PLAIN:
            return name
    return None


class _Size(NamedTuple):
    """How much a value is, or the two sides of a condition."""

    true: int
    false: int = 0
    sure: bool = False
    depth: int = 1

    def sides(self) -> _Size:
        return self if self.false else self._replace(false=self.true)


def _size(node: Node, parts: list[_Size]) -> _Size:
    size = _flat(node, parts)
    levels = 1 if _is_logic(node) else _LEVELS
    return size._replace(depth=levels + max((part.depth for part in parts), default=0))


def _flat(node: Node, parts: list[_Size]) -> _Size:
    if isinstance(node, Not):
        true, false, sure, _ = parts[0].sides()
        return _Size(false, true, sure)
    if isinstance(node, Binary) and _is_logic(node):
        return _joined(node.operator, *(part.sides() for part in parts))
    total = 1 + sum(part.true + part.false for part in parts)
    if isinstance(node, In):
        # Items are listed once for every type that the value may have.
        items = len(node.items) * min(parts[0].true, _KINDS) // _ITEMS_AS_ONE
        total = 1 + parts[0].true + parts[0].false + items
    if isinstance(node, Exists | Attribute):
        total += 0 if node.name in PLAIN else _ATTRIBUTE
    if isinstance(node, Literal | Attribute | Negate) or _is_arithmetic(node):
        return _Size(total)
    if isinstance(node, Call):
        return _Size(total * _TIMES)
    return _Size(total, total, isinstance(node, Exists) or plain_column(node) in ALWAYS)


def _is_logic(node: Node) -> bool:
    return isinstance(node, Not) or (isinstance(node, Binary) and node.operator in LOGIC)


def _is_arithmetic(node: Node) -> bool:
    return isinstance(node, Binary) and node.operator in ARITHMETIC


def _joined(operator: str, left: _Size, right: _Size) -> _Size:
    true, false = left.true + right.true, left.false + right.false
    if operator == "XOR":
        true = false = true + false
    elif not left.sure:
        true += left.false if operator == "OR" else 0
        false += left.true if operator == "AND" else 0
    return _Size(true, false, left.sure and right.sure)
