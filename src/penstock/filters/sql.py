"""The dialect `sql`: a CESQL expression is true."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Self

from penstock import cesql
from penstock.cesql.functions import installed
from penstock.cesql.lookups import Cover
from penstock.errors import ExpressionError, Problem, ResourceError
from penstock.filters.base import Attributes, Place

# Faults that are told at once.
_MOST = 10


@dataclass(frozen=True, slots=True)
class Sql:
    """Matches events for which a CESQL expression is true, without any error."""

    text: str
    expression: cesql.Expression = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        expression = cesql.parse(self.text, installed())
        for fault in _missing(expression):
            raise fault
        object.__setattr__(self, "expression", expression)

    def __reduce__(self) -> tuple[type[Self], tuple[str]]:
        return type(self), (self.text,)

    @classmethod
    def read(cls, value: object, at: Place) -> Self:
        """Return the filter for a JSON string that holds an expression."""
        if not isinstance(value, str):
            raise at.refuse("must be a string that holds a CloudEvents SQL expression")
        try:
            return cls(value)
        except ExpressionError as error:
            problems = [Problem(at.path, _shown(fault)) for fault in _faults(value)]
            raise ResourceError(problems) from error

    def matches(self, event: Attributes) -> bool:
        # Compiled at the first event: of many filters, most never see one.
        return self.expression.passes(event)

    def names(self) -> frozenset[str]:
        return self.expression.names()

    def cover(self) -> Cover:
        return self.expression.cover()

    def document(self) -> Mapping[str, object]:
        return {"sql": self.text}


def _missing(expression: cesql.Expression) -> Iterator[ExpressionError]:
    for name, count, offset in expression.missing_functions():
        arguments = "1 argument" if count == 1 else f"{count} arguments"
        message = f"there is no function {name} that takes {arguments}"
        yield ExpressionError(message, text=expression.text, offset=offset)


def _faults(text: str) -> list[ExpressionError]:
    try:
        return list(islice(_missing(cesql.parse(text, installed())), _MOST))
    except ExpressionError as error:
        return [error]


def _shown(fault: ExpressionError) -> str:
    return f"{fault.message} (character {fault.offset + 1})\n{fault.excerpt()}"
