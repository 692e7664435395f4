"""Trees → Python functions, so that no tree is walked per event."""

from __future__ import annotations

from collections.abc import Callable

from penstock.cesql import kinds
from penstock.cesql.code import REFUSE, Block
from penstock.cesql.emitter import Emitter, Values
from penstock.cesql.functions import Functions
from penstock.cesql.tree import Binary, Node
from penstock.cesql.values import Value


def evaluator(root: Node, table: Functions) -> Callable[[Values], Value]:
    """Return the function that gives the value for an event, or raises EvaluationError."""
    emitter = Emitter(root, table, quiet=False)
    part = emitter.settled(emitter.part(root))
    return emitter.function([*part.body, f"return {part.result}"])


def predicate(root: Node, table: Functions) -> Callable[[Values], bool]:
    """Return the function that tells whether the value is true without an error."""
    emitter = Emitter(root, table, quiet=True)
    kind = kinds.kind(root, table)
    if kind not in (bool, None):
        return emitter.function([REFUSE])
    *conditions, last = _conjuncts(root)
    body: Block = []
    for condition in conditions:
        part = emitter.truth(condition)
        body += [*part.body, f"if not ({part.result}):", [REFUSE]]
    part = emitter.truth(last) if kind else emitter.settled(emitter.part(last))
    body += [*part.body, f"return {part.result}" if kind else f"return {part.result} is True"]
    return emitter.function(["try:", body, "except EvaluationError:", [REFUSE]])


def _conjuncts(root: Node) -> list[Node]:
    """Return what must all be true, in order: one that is false or in error decides."""
    found: list[Node] = []
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if isinstance(node, Binary) and node.operator == "AND":
            waiting += [node.right, node.left]
        else:
            found.append(node)
    return found
