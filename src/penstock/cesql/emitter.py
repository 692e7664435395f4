"""The code of each kind of node."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Protocol, TypeAlias

from penstock.cesql import code, functions, like, operations
from penstock.cesql.code import Block
from penstock.cesql.functions import Functions
from penstock.cesql.parts import SCOPE, Caster, Part, literal
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
from penstock.cesql.values import ErrorKind, EvaluationError, Kind, Value


class Values(Protocol):
    """The typed values of one event's attributes."""

    def value(self, name: str) -> object | None:
        """Return the value of an attribute, or None when it is absent."""
        ...


_ARITHMETIC = {"+": "add", "-": "subtract", "*": "multiply", "/": "divide", "%": "remainder"}
_COMPARISONS = {"=": "==", "XOR": "!="}
_Operands: TypeAlias = tuple[Part, list[str]]
# Python takes a hundred levels of indentation.
_HIGHEST = 60


def _missing_function(name: str, count: int) -> None:
    detail = f"there is no function {name} that takes {count} arguments"
    raise EvaluationError(ErrorKind.MISSING_FUNCTION, detail)


def _refuse() -> None:
    raise EvaluationError(ErrorKind.MISSING_ATTRIBUTE, "")


def _inner_call(function: functions.Function, *arguments: Value) -> Value:
    try:
        return functions.call(function, *arguments)
    except EvaluationError as error:
        # Only the outermost function keeps the value that it gives in spite of its error.
        error.value = None
        raise


_SCOPE: Mapping[str, object] = {
    **SCOPE,
    **{name: operations.ARITHMETIC[operator] for operator, name in _ARITHMETIC.items()},
    "EvaluationError": EvaluationError,
    "equal": operations.equal,
    "missing_function": _missing_function,
    "negate": operations.negate,
    "refuse": _refuse,
}


class Emitter(Caster):
    """Emits the code of nodes."""

    def __init__(self, root: Node, table: Functions, *, quiet: bool) -> None:
        super().__init__(quiet=quiet)
        self._root = root
        self._table = table
        self._scope = dict(_SCOPE)
        self._functions: list[str] = []
        self._uses = Counter[str]()
        fold(root, self._count_use)

    def _count_use(self, node: Node, _: list[None]) -> None:
        if isinstance(node, Attribute | Exists):
            self._uses[node.name] += 1

    def function(self, body: Block) -> Callable[..., Any]:
        """Return the finished function."""
        self._define("run", body, refuses=True)
        return code.compiled(self._functions, self._scope)["run"]

    def _define(self, name: str, body: Block, *, refuses: bool) -> None:
        shared: Block = [
            f"shared_{name} = value({name!r})" for name, count in self._uses.items() if count > 1
        ]
        self._functions.append(code.source(name, shared + body, refuses=refuses))

    def part(self, root: Node) -> Part:
        """Return the code of a node and all below it."""
        return fold(root, self._visit)

    def truth(self, root: Node) -> Part:
        """Return the code of a node as a Boolean."""
        return self.cast(self.part(root), bool)

    def _visit(self, node: Node, parts: list[Part]) -> Part:
        return _EMIT[type(node)](self, node, parts)

    def _called(self, name: str, operands: _Operands, kind: Kind | None = bool) -> Part:
        part, values = operands
        part.result, part.kind = f"{name}({', '.join(values)})", kind
        part.put(self.new())
        return part

    def _kept(self, value: object) -> str:
        name = f"kept_{len(self._scope)}"
        self._scope[name] = value
        return name

    def _turned(self, part: Part, *, turn: bool) -> Part:
        if turn:
            part.result = f"not {self.condition(part)}"
            part.atom, part.compound, part.literal = False, True, None
        return part

    # Leaves

    def literal(self, node: Literal, _: list[Part]) -> Part:
        return literal(node.value)

    def attribute(self, node: Attribute, _: list[Part]) -> Part:
        part = Part("None" if node.name == "data" else self._seen(node.name), None)
        part.put(self.new())
        part.attribute = node.name
        return part

    def exists(self, node: Exists, _: list[Part]) -> Part:
        return Part(f"{self._seen(node.name)} is not None")

    def _seen(self, name: str) -> str:
        return f"shared_{name}" if self._uses[name] > 1 else f"value({name!r})"

    # Operators

    def not_(self, _: Not, parts: list[Part]) -> Part:
        return self._turned(self.cast(parts[0], bool), turn=True)

    def negate(self, _: Negate, parts: list[Part]) -> Part:
        return self._called("negate", self.operands(parts, [int]), int)

    def binary(self, node: Binary, parts: list[Part]) -> Part:
        operator = node.operator
        if operator in ("AND", "OR"):
            return self._short_circuit(*parts, stops=operator == "OR")
        if operator in _ARITHMETIC:
            return self._called(_ARITHMETIC[operator], self.operands(parts, [int, int]), int)
        if operator in operations.EQUALITY:
            return self._equality(operator, parts)
        kind = bool if operator == "XOR" else int
        return self._compared(operator, parts, kind)

    def _equality(self, operator: str, parts: list[Part]) -> Part:
        kind = parts[1].kind
        if kind is not None:
            return self._compared(operator, parts, kind)
        same = self._called("equal", self.operands(parts, [None, None]))
        return self._turned(same, turn=operator == "!=")

    def _compared(self, operator: str, parts: list[Part], kind: Kind) -> Part:
        part, (left, right) = self.operands(parts, [kind, kind])
        part.result = f"{left} {_COMPARISONS.get(operator, operator)} {right}"
        return part

    def _short_circuit(self, left: Part, right: Part, *, stops: bool) -> Part:
        left, right = self.cast(left, bool), self._bounded(self.cast(right, bool))
        if not right.body:
            word = "or" if stops else "and"
            result = f"{self.condition(left)} {word} {self.condition(right)}"
            part = Part(result, compound=True, body=left.body, height=left.height)
            part.absorb(right)
            return part
        name = self.variable(left)
        assigned: Block = [*right.body, f"{name} = {right.result}"]
        left.when(f"not {name}" if stops else name, assigned, right.height)
        return left

    def _bounded(self, part: Part) -> Part:
        """Return a part that is nested too deep for Python as the call of another function."""
        if part.height < _HIGHEST:
            return part
        name = f"part_{len(self._functions)}"
        self._define(name, [*part.body, f"return {part.result}"], refuses=False)
        call = Part(f"{name}(event)", part.kind)
        call.put(self.new())
        return call

    def like(self, node: Like, parts: list[Part]) -> Part:
        pattern = like.pattern(node.pattern)
        part = self.cast(parts[0], str)
        value = self.plain(part)
        match pattern.literals:
            case (text,):
                result = f"{value} == {text!r}"
            case ("", ""):
                result = "True"
            case (head, ""):
                result = f"{value}.startswith({head!r})"
            case ("", tail):
                result = f"{value}.endswith({tail!r})"
            case ("", text, ""):
                result = f"{text!r} in {value}"
            case _:
                result = f"{self._kept(like.matcher(pattern))}({value})"
        found = Part(result, body=part.body, height=part.height)
        return self._turned(found, turn=node.negated)

    def in_(self, node: In, parts: list[Part]) -> Part:
        operand, *others = parts
        operand = self.settled(operand)
        value = self.plain(operand)
        literals = [item.value for item in node.items if isinstance(item, Literal)]
        if len(literals) == len(node.items):
            self.variable(operand)
            return self._turned(self._in_literals(operand, literals), turn=node.negated)
        found = Part("False", body=operand.body, height=operand.height)
        found.put(self.new())
        for item in map(self._bounded, map(self.settled, others)):
            same = f"{found.result} = equal({self.plain(item)}, {value})"
            found.when(f"not {found.result}", [*item.body, same], item.height)
        return self._turned(found, turn=node.negated)

    def _in_literals(self, operand: Part, literals: list[Value]) -> Part:
        value, sets = operand.result, self._kept(operations.sets(literals))
        found = Part(f"{value} in {sets}[{value}.__class__]", body=operand.body)
        found.height = operand.height
        found.put(self.new())
        return found

    def call(self, node: Call, parts: list[Part]) -> Part:
        count = len(parts)
        function = self._table.find(node.name, count)
        if function is None:
            return self._called("missing_function", (Part(""), [repr(node.name), str(count)]))
        invoke = functions.call if node is self._root else _inner_call
        name = self._kept(partial(invoke, function))
        return self._called(name, self.operands(parts, function.wanted(count)), function.returns)


_EMIT: Mapping[type[Node], Callable[[Emitter, Any, list[Part]], Part]] = {
    Literal: Emitter.literal,
    Attribute: Emitter.attribute,
    Exists: Emitter.exists,
    Not: Emitter.not_,
    Negate: Emitter.negate,
    Binary: Emitter.binary,
    Like: Emitter.like,
    In: Emitter.in_,
    Call: Emitter.call,
}
