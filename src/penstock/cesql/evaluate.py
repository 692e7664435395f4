"""Expressions: read once, compiled once, evaluated often."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import NamedTuple

import msgspec

from penstock.cesql import compiler, cover, kinds, parser
from penstock.cesql.conjunction import Clauses, conjunction
from penstock.cesql.emitter import Values
from penstock.cesql.functions import BUILT_IN, Functions
from penstock.cesql.lookups import Cover
from penstock.cesql.reads import Reads, reads
from penstock.cesql.simplify import simplified
from penstock.cesql.tree import Attribute, Call, Exists, Node, fold
from penstock.cesql.values import ZEROS, ErrorKind, EvaluationError, Value
from penstock.errors import ExpressionError


class Result(msgspec.Struct, frozen=True, gc=False):
    """The value of an expression, and the first error, if there was one."""

    value: bool | int | str
    error: ErrorKind | None = None
    detail: str = ""


class MissingFunction(NamedTuple):
    """A call that fits no function, and where it stands."""

    name: str
    arguments: int
    offset: int


@dataclass(frozen=True)
class Expression:
    """A CESQL expression, ready to be evaluated."""

    text: str
    functions: Functions = field(default=BUILT_IN, repr=False)

    def __post_init__(self) -> None:
        # Refused when it is created, not when it is used.
        _ = self.tree

    @cached_property
    def tree(self) -> Node:
        """Return the syntax tree as written."""
        return parser.tree(self.text)

    @cached_property
    def simplified(self) -> Node:
        """Return the syntax tree, with what does not depend on the event worked out."""
        return simplified(self.tree)

    @cached_property
    def passes(self) -> Callable[[Values], bool]:
        """Return the function that tells whether the value is true, without error, for an event."""
        return compiler.predicate(self.simplified, self.functions)

    @cached_property
    def _evaluator(self) -> Callable[[Values], Value]:
        return compiler.evaluator(self.simplified, self.functions)

    def evaluate(self, event: Values) -> Result:
        """Return the value for an event, and the error if there was one."""
        try:
            return Result(self._evaluator(event))
        except EvaluationError as error:
            value = error.value
            if value is None:
                value = ZEROS[kinds.kind(self.simplified, self.functions) or bool]
            return Result(value, error.kind, error.detail)

    def names(self) -> frozenset[str]:
        """Return every attribute that can influence the value."""
        found: set[str] = set()

        def visit(node: Node, _: list[None]) -> None:
            if isinstance(node, Attribute | Exists) and node.name != "data":
                found.add(node.name)

        fold(self.simplified, visit)
        return frozenset(found)

    def cover(self) -> Cover:
        """Return lookups of which at least one holds for each event that passes, or None."""
        return cover.cover(self.simplified, self.functions)

    def conjunction(self) -> Clauses | None:
        """Return the lookups of which the expression is a conjunction, if it is nothing else."""
        return conjunction(self.simplified)

    def reads(self) -> Reads:
        """Return what of an event's attributes can influence whether it passes."""
        return reads(self.simplified)

    def missing_functions(self) -> tuple[MissingFunction, ...]:
        """Return the calls that fit no function, in the order of the text."""
        found: list[MissingFunction] = []

        def visit(node: Node, _: list[None]) -> None:
            if isinstance(node, Call) and not self.functions.find(node.name, len(node.arguments)):
                found.append(MissingFunction(node.name, len(node.arguments), node.start))

        fold(self.tree, visit)
        return tuple(sorted(found, key=lambda call: call.offset))

    def __reduce__(self) -> tuple[object, ...]:
        return Expression, (self.text, self.functions)


def parse(text: str, functions: Functions = BUILT_IN) -> Expression:
    """Return the expression that a text writes, or raise ExpressionError."""
    return Expression(text, functions)


def evaluate(
    expression: str | Expression,
    event: Values | Mapping[str, object],
    functions: Functions = BUILT_IN,
) -> Result:
    """Return the value of an expression for an event, or for a mapping of its attributes.

    It never raises: a text that cannot be read gives false and the error `parse`.
    """
    if isinstance(expression, str):
        try:
            expression = _parsed(expression, functions)
        except ExpressionError as error:
            return Result(value=False, error=ErrorKind.PARSE, detail=str(error))
    return expression.evaluate(_Mapped(event) if isinstance(event, Mapping) else event)


_parsed = lru_cache(maxsize=256)(parse)

_ALIASES = {
    "contenttype": "datacontenttype",
    "datacontenttype": "contenttype",
    "dataschema": "schemaurl",
    "schemaurl": "dataschema",
}


class _Mapped:
    """A mapping of attributes, read like an event."""

    __slots__ = ("_attributes",)

    def __init__(self, attributes: Mapping[str, object]) -> None:
        self._attributes = attributes

    def value(self, name: str) -> object | None:
        found = self._attributes.get(name)
        if found is None and name in _ALIASES:
            return self._attributes.get(_ALIASES[name])
        return found
