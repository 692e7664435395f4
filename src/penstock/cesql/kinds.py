"""The type of a part of an expression, as far as it is known without an event."""

from __future__ import annotations

from penstock.cesql.functions import Functions
from penstock.cesql.operations import ARITHMETIC
from penstock.cesql.tree import Attribute, Binary, Call, Literal, Negate, Node
from penstock.cesql.values import Kind


def kind(node: Node, functions: Functions) -> Kind | None:
    """Return the type of a node's value; None for attributes, whose values have their own."""
    match node:
        case Attribute():
            return None
        case Literal(value):
            return value.__class__
        case Negate():
            return int
        case Binary(operator) if operator in ARITHMETIC:
            return int
        case Call(name, arguments):
            function = functions.find(name, len(arguments))
            return function.returns if function else bool
    return bool
