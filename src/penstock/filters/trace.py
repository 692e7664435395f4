"""Why a filter said yes or no to one event, clause by clause."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from penstock import cesql
from penstock.cesql.operations import LOGIC
from penstock.cesql.tree import Binary, Node
from penstock.cesql.tree import Not as LogicalNot
from penstock.cesql.values import castable, primitive, printed
from penstock.filters import words
from penstock.filters.all import All
from penstock.filters.any import Any
from penstock.filters.base import Attributes, Filter, Texts
from penstock.filters.not_ import Not
from penstock.filters.sql import Sql

# Beyond this many levels of parentheses a CESQL clause is shown as a whole.
_DEEPEST = 20


@dataclass(frozen=True, slots=True)
class Trace:
    """One clause of a filter, in words, and what it said.

    It matched, or not, or was not asked (None); it failed if an error kept it from an answer.
    """

    clause: str
    matched: bool | None
    reason: str = ""
    parts: tuple[Trace, ...] = ()
    failed: bool = False

    def lines(self) -> Iterator[str]:
        """Yield the trace as text, the parts below their whole."""
        answer = "err" if self.failed else {True: "yes", False: "no ", None: "-  "}[self.matched]
        yield f"{answer} {self.clause}{f'  ({self.reason})' if self.reason else ''}"
        for part in self.parts:
            yield from (f"    {line}" for line in part.lines())


def trace(filter_: Filter, event: Attributes) -> Trace:
    """Return what each clause of a filter says to an event."""
    matched = filter_.matches(event)
    match filter_:
        case All(filters):
            return Trace("all of", matched, parts=_asked(filters, event, until=False))
        case Any(filters):
            return Trace("any of", matched, parts=_asked(filters, event, until=True))
        case Not(inner):
            return Trace("not", matched, parts=(trace(inner, event),))
        case Texts(texts) if len(texts) > 1:
            each = [type(filter_)({name: text}) for name, text in texts.items()]
            return Trace("all of", matched, parts=_asked(each, event, until=False))
    if isinstance(filter_, Sql):
        return _outermost(filter_, event)
    return Trace(words.condition(filter_), matched, _found(filter_.names(), event))


def _asked(filters: Iterable[Filter], event: Attributes, *, until: bool) -> tuple[Trace, ...]:
    traces: list[Trace] = []
    decided = False
    for part in filters:
        traces.append(Trace(words.headline(part), None) if decided else trace(part, event))
        decided = decided or traces[-1].matched is until
    return tuple(traces)


def _found(names: frozenset[str], event: Attributes) -> str:
    return ", ".join(f"{name} is {_shown(name, event)}" for name in sorted(names))


def _shown(name: str, event: Attributes) -> str:
    try:
        return printed(primitive(event.value(name), name))
    except cesql.EvaluationError:
        return "absent"


def _outermost(filter_: Sql, event: Attributes) -> Trace:
    whole = _Clauses(filter_.expression, event).trace(filter_.expression.tree, 0)
    result = filter_.expression.evaluate(event)
    if result.error is None and not isinstance(result.value, bool):
        reason = f"gives {printed(result.value)}, which is not a Boolean"
        return replace(whole, matched=False, reason=reason, failed=False)
    return whole


@dataclass(frozen=True, slots=True)
class _Clauses:
    """The clauses of one CESQL expression, asked about one event."""

    expression: cesql.Expression
    event: Attributes

    def trace(self, node: Node, depth: int) -> Trace:
        if depth < _DEEPEST and isinstance(node, Binary) and node.operator in LOGIC:
            return self._chain(node, depth)
        if depth < _DEEPEST and isinstance(node, LogicalNot) and _is_compound(node.operand):
            inner = self.trace(node.operand, depth + 1)
            matched = not inner.failed and not inner.matched
            return Trace("not", matched, parts=(inner,), failed=inner.failed)
        return self._condition(node)

    def _condition(self, node: Node) -> Trace:
        text = self.expression.text[node.start : node.end]
        clause = cesql.parse(text, self.expression.functions)
        result = clause.evaluate(self.event)
        truth = castable(result.value, bool)
        found = _found(clause.names(), self.event)
        if result.error is None and truth is not None:
            return Trace(words.expression(node), bool(truth), found)
        reason = result.detail or f"{printed(result.value)} is not a Boolean"
        return Trace(words.expression(node), matched=False, reason=reason, failed=True)

    def _chain(self, node: Node, depth: int) -> Trace:
        """Return the trace of operators of one level, which go from left to right."""
        operators, operands = _spine(node)
        current = self.trace(operands[0], depth + 1)
        parts = [current]
        for operator, operand in zip(operators, operands[1:], strict=True):
            if current.failed or current.matched is {"AND": False, "OR": True}.get(operator):
                parts.append(Trace(words.expression(operand), None))
            else:
                part = self.trace(operand, depth + 1)
                parts.append(part)
                current = _joined(operator, current, part)
        return Trace(
            words.chain(operators),
            matched=not current.failed and current.matched,
            parts=tuple(_worded(operators, parts)),
            failed=current.failed,
        )


def _joined(operator: str, left: Trace, right: Trace) -> Trace:
    if operator != "XOR" or right.failed:
        return right
    return replace(right, matched=left.matched is not right.matched)


def _worded(operators: list[str], parts: list[Trace]) -> Iterator[Trace]:
    """Yield the parts of a chain, each after its operator where the operators differ."""
    mixed = len(set(operators)) > 1
    yield parts[0]
    for operator, part in zip(operators, parts[1:], strict=True):
        yield replace(part, clause=f"{operator} {part.clause}") if mixed else part


def _is_compound(node: Node) -> bool:
    if isinstance(node, LogicalNot):
        return _is_compound(node.operand)
    return isinstance(node, Binary) and node.operator in LOGIC


def _spine(node: Node) -> tuple[list[str], list[Node]]:
    operators: list[str] = []
    operands: list[Node] = []
    while isinstance(node, Binary) and node.operator in LOGIC:
        operators.append(node.operator)
        operands.append(node.right)
        node = node.left
    return operators[::-1], [node, *reversed(operands)]
