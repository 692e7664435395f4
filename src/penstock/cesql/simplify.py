"""Parts of a tree that do not depend on the event → literals."""

from __future__ import annotations

from penstock.cesql import functions, like, operations, values
from penstock.cesql.tree import (
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
    rebuilt,
)
from penstock.cesql.values import EvaluationError, Value

_ALWAYS = frozenset({"id", "source", "type", "specversion"})


def simplified(root: Node) -> Node:
    """Return a tree with the same results; what would be an error at every event stays."""
    return fold(root, _visit)


def _visit(node: Node, parts: list[Node]) -> Node:
    if any(new is not old for new, old in zip(parts, children(node), strict=True)):
        node = rebuilt(node, parts)
    try:
        value = _value(node)
    except EvaluationError:
        return node
    return node if value is None else Literal(value, start=node.start, end=node.end)


def _value(node: Node) -> Value | None:
    match node:
        case Exists(name):
            return _exists(name)
        case Not(Literal(value)):
            return not values.to_boolean(value)
        case Negate(Literal(value)):
            return operations.negate(values.to_integer(value))
        case Like(Literal(value), pattern, negated):
            matches = like.matcher(like.pattern(pattern))
            return matches(values.to_text(value)) is not negated
    return _binary(node) if isinstance(node, Binary) else _several(node)


def _exists(name: str) -> bool | None:
    return False if name == "data" else True if name in _ALWAYS else None


def _binary(node: Binary) -> Value | None:
    match node:
        case Binary("AND" | "OR" as operator, Literal(left), right):
            if values.to_boolean(left) is (operator == "OR"):
                return operator == "OR"
            return values.to_boolean(right.value) if isinstance(right, Literal) else None
        case Binary(operator, Literal(left), Literal(right)):
            return operations.binary(operator, left, right)
    return None


def _several(node: Node) -> Value | None:
    if not isinstance(node, In | Call):
        return None
    literals = [part.value for part in children(node) if isinstance(part, Literal)]
    if len(literals) < len(children(node)):
        return None
    if isinstance(node, In):
        return operations.member(literals[0], literals[1:]) is not node.negated
    # Functions of users are not called before there is an event.
    function = functions.BUILT_IN.find(node.name, len(literals))
    if function is None:
        return None
    return functions.call(function, *map(values.cast, literals, function.wanted(len(literals))))
