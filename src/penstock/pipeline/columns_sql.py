"""CESQL expressions as columns: null stands for an error, until logic decides what it means."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, TypeAlias

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812 - its usual name

from penstock import cesql
from penstock.cesql import kinds, like
from penstock.cesql.operations import LOGIC
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
    children,
    fold,
)
from penstock.cesql.values import castable
from penstock.events.event import CloudEvent
from penstock.pipeline import columns_values
from penstock.pipeline.columns_attributes import ALWAYS, attribute
from penstock.pipeline.columns_like import likeness
from penstock.pipeline.columns_python import answered
from penstock.pipeline.columns_size import is_large, plain_column
from penstock.pipeline.columns_values import ARITHMETIC, Held, Value, equal, literal, member


class Logic(NamedTuple):
    """Where a condition is true, and where it is false, never null: in error it is neither."""

    true: Column
    false: Column
    sure: bool = False
    """Whether it cannot be in error."""


_Term: TypeAlias = "Value | Logic | None"
_False = partial(F.lit, False)  # noqa: FBT003 - a value


def predicate(expression: cesql.Expression) -> Column | None:
    """Return whether an expression is true without an error, or None if there is no rule for it."""
    root = expression.simplified
    kind = kinds.kind(root, expression.functions)
    if kind not in (bool, None):
        return _False()
    if is_large(root):
        return None
    term = fold(root, _Rules(expression).visit)
    if isinstance(term, Value):
        # As a filter, a value passes only if it is a Boolean.
        found = term.kinds.get(bool)
        return _False() if found is None else F.coalesce(found, _False())
    return term and term.true


@dataclass(frozen=True, slots=True)
class _Rules:
    expression: cesql.Expression

    def visit(self, node: Node, parts: list[_Term]) -> _Term:
        """Return the columns of a node, or None if it, or a part of it, has no rule."""
        if isinstance(node, Not) or (isinstance(node, Binary) and node.operator in LOGIC):
            known = map(self._logic, children(node), parts)
            return RULES[type(node)](self, node, *known)
        values = [_value(part) for part in parts if part is not None]
        return None if len(values) < len(parts) else RULES[type(node)](self, node, *values)

    def _logic(self, node: Node, term: _Term) -> Logic:
        """Return a part of a logical expression; Python evaluates what has no rule."""
        if isinstance(term, Logic):
            return term
        return _leaf(self._asked(node) if term is None else term.cast(bool))

    def _asked(self, node: Node) -> Column:
        text = self.expression.text[node.start : node.end]
        part = cesql.parse(text, self.expression.functions)
        return answered(partial(_truth, part), part.names())

    # Leaves

    def literal(self, node: Literal) -> Value:
        return literal(node.value)

    def attribute(self, node: Attribute) -> Value:
        return columns_values.missing() if node.name == "data" else Held(node.name)

    def exists(self, node: Exists) -> Logic:
        present = attribute(node.name).present
        return Logic(present, ~present, sure=True)

    # Operators

    def not_(self, _: Not, part: Logic) -> Logic:
        return _turned(part, turn=True)

    def negate(self, _: Negate, part: Value) -> Value:
        return Value({int: columns_values.negate(part.cast(int))})

    def binary(self, node: Binary, left: Any, right: Any) -> Value | Logic:  # noqa: ANN401
        if node.operator in LOGIC:
            return LOGIC_RULES[node.operator](left, right)
        if node.operator in ARITHMETIC:
            return Value({int: ARITHMETIC[node.operator](left.cast(int), right.cast(int))})
        if node.operator in _ORDERINGS:
            return _leaf(_ORDERINGS[node.operator](left.cast(int), right.cast(int)))
        return _turned(_leaf(equal(left, right), node), turn=node.operator == "!=")

    def like(self, node: Like, part: Value) -> Logic | None:
        found = likeness(part.cast(str), like.pattern(node.pattern))
        if found is None:
            return None
        return _turned(_leaf(found, node), turn=node.negated)

    def in_(self, node: In, part: Value, *_: Value) -> Logic | None:
        items = [item.value for item in node.items if isinstance(item, Literal)]
        if len(items) < len(node.items):
            return None
        return _turned(_leaf(member(part, items), node), turn=node.negated)

    def call(self, node: Call, *parts: Value) -> Value | None:
        return columns_values.call(node.name, parts, self.expression.functions)


RULES: Mapping[type[Node], Callable[..., _Term]] = {
    Literal: _Rules.literal,
    Attribute: _Rules.attribute,
    Exists: _Rules.exists,
    Not: _Rules.not_,
    Negate: _Rules.negate,
    Binary: _Rules.binary,
    Like: _Rules.like,
    In: _Rules.in_,
    Call: _Rules.call,
}


def _and(left: Logic, right: Logic) -> Logic:
    unless = right.false if left.sure else left.true & right.false
    return Logic(left.true & right.true, left.false | unless, left.sure and right.sure)


def _or(left: Logic, right: Logic) -> Logic:
    unless = right.true if left.sure else left.false & right.true
    return Logic(left.true | unless, left.false & right.false, left.sure and right.sure)


def _xor(left: Logic, right: Logic) -> Logic:
    return Logic(
        (left.true & right.false) | (left.false & right.true),
        (left.true & right.true) | (left.false & right.false),
        left.sure and right.sure,
    )


LOGIC_RULES: Mapping[str, Callable[[Logic, Logic], Logic]] = {"AND": _and, "OR": _or, "XOR": _xor}
_ORDERINGS = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}


def _leaf(exact: Column, node: Node | None = None) -> Logic:
    """Return a condition that is null in error."""
    plain = None if node is None else plain_column(node)
    if plain is None:
        return Logic(F.coalesce(exact, _False()), F.coalesce(~exact, _False()))
    # Said like this, Spark hands the comparison down to the files.
    present = F.col(plain).isNotNull()
    return Logic(present & exact, present & ~exact, plain in ALWAYS)


def _turned(part: Logic, *, turn: bool) -> Logic:
    return Logic(part.false, part.true, part.sure) if turn else part


def _value(part: Value | Logic) -> Value:
    if isinstance(part, Value):
        return part
    true, false = F.lit(True), F.lit(False)  # noqa: FBT003 - values
    return Value({bool: F.when(part.true, true).when(part.false, false)})


def _truth(expression: cesql.Expression, event: CloudEvent) -> bool | None:
    result = expression.evaluate(event)
    truth = None if result.error else castable(result.value, bool)
    return None if truth is None else bool(truth)
