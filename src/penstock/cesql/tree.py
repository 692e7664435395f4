"""The syntax tree of a CESQL expression, and how to fold it without recursion."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TypeAlias, TypeVar

from penstock.cesql.values import Value

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """Which characters of the text a node was read from."""

    start: int = field(default=0, compare=False, repr=False)
    end: int = field(default=0, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Literal(Span):
    """A Boolean, Integer or String."""

    value: Value


@dataclass(frozen=True, slots=True)
class Attribute(Span):
    """The value of a context attribute."""

    name: str


@dataclass(frozen=True, slots=True)
class Exists(Span):
    """Whether a context attribute is present."""

    name: str


@dataclass(frozen=True, slots=True)
class Not(Span):
    """The logical negation."""

    operand: Node


@dataclass(frozen=True, slots=True)
class Negate(Span):
    """The arithmetic negation."""

    operand: Node


@dataclass(frozen=True, slots=True)
class Binary(Span):
    """An operator with two sides: AND OR XOR = != < <= > >= + - * / %."""

    operator: str
    left: Node
    right: Node


@dataclass(frozen=True, slots=True)
class Like(Span):
    """A comparison with a pattern."""

    operand: Node
    pattern: str
    negated: bool = False


@dataclass(frozen=True, slots=True)
class In(Span):
    """A comparison with each item of a set."""

    operand: Node
    items: tuple[Node, ...]
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Call(Span):
    """The invocation of a function; the name is in upper case."""

    name: str
    arguments: tuple[Node, ...]


Node: TypeAlias = Literal | Attribute | Exists | Not | Negate | Binary | Like | In | Call


def children(node: Node) -> tuple[Node, ...]:
    """Return the direct parts of a node, from left to right."""
    match node:
        case Binary():
            return (node.left, node.right)
        case In():
            return (node.operand, *node.items)
        case Call():
            return node.arguments
        case Not() | Negate() | Like():
            return (node.operand,)
    return ()


def rebuilt(node: Node, parts: list[Node]) -> Node:
    """Return the node with other direct parts."""
    match node:
        case Binary():
            return replace(node, left=parts[0], right=parts[1])
        case In():
            return replace(node, operand=parts[0], items=tuple(parts[1:]))
        case Call():
            return replace(node, arguments=tuple(parts))
        case Not() | Negate() | Like():
            return replace(node, operand=parts[0])
    return node


def fold(root: Node, visit: Callable[[Node, list[Result]], Result]) -> Result:
    """Return what `visit` makes of the root, given what it made of the parts of each node.

    A chain of operators is as deep as it is long, so this does not recurse.
    """
    results: list[Result] = []
    waiting: list[tuple[Node, bool]] = [(root, False)]
    while waiting:
        node, ready = waiting.pop()
        parts = children(node)
        if ready:
            own = results[len(results) - len(parts) :]
            del results[len(results) - len(parts) :]
            results.append(visit(node, own))
        else:
            waiting.append((node, True))
            waiting.extend((part, False) for part in reversed(parts))
    return results[0]
