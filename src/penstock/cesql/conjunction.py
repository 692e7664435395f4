"""Which lookups an expression is made of, where it is nothing but a conjunction of them."""

from __future__ import annotations

from penstock.cesql.lookups import Lookup
from penstock.cesql.reads import simple
from penstock.cesql.tree import Binary, In, Like, Node

Clauses = tuple[frozenset[Lookup], ...]
_MOST = 16


def conjunction(root: Node) -> Clauses | None:
    """Return clauses: the expression passes exactly where of each some lookup holds.

    None where it is made of more. A lookup of an empty prefix asks for presence.
    """
    clauses: list[frozenset[Lookup]] = []
    waiting = [root]
    while waiting and len(clauses) <= _MOST:
        node = waiting.pop()
        if isinstance(node, Binary) and node.operator == "AND":
            waiting += (node.right, node.left)
            continue
        clause = _clause(node)
        if clause is None:
            return None
        clauses.append(clause)
    return None if waiting else tuple(clauses)


def _clause(node: Node) -> frozenset[Lookup] | None:
    match node:
        case Binary("!=") | Like(negated=True) | In(negated=True) | In(items=()):
            return None
    found = simple(node)
    if found is None:
        return None
    name, lookups = found
    # Whatever is present starts with nothing. `data` is no attribute that an index knows.
    clause = frozenset(lookups or [Lookup("prefix", name, "")])
    return None if name == "data" else clause
