"""The dialect `sql`: a CESQL expression is true."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Self

from penstock import cesql
from penstock.cesql.functions import installed
from penstock.cesql.lookups import Cover
from penstock.errors import ExpressionError
from penstock.filters.base import Attributes, Place

_AROUND = 40


@dataclass(frozen=True, slots=True)
class Sql:
    """Matches events for which a CESQL expression is true, without any error."""

    text: str
    expression: cesql.Expression = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        expression = cesql.parse(self.text, installed())
        for name, count, offset in expression.missing_functions():
            message = f"there is no function {name} that takes {count} arguments"
            raise ExpressionError(message, text=self.text, offset=offset)
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
            raise at.refuse(f"{_located(error)}\n{_underlined(error)}") from error

    def matches(self, event: Attributes) -> bool:
        # Compiled at the first event: of many filters, most never see one.
        return self.expression.passes(event)

    def names(self) -> frozenset[str]:
        return self.expression.names()

    def cover(self) -> Cover:
        return self.expression.cover()

    def document(self) -> Mapping[str, object]:
        return {"sql": self.text}


def _located(error: ExpressionError) -> str:
    return f"{error.message} (character {error.offset + 1})"


def _underlined(error: ExpressionError) -> str:
    start = max(error.text.rfind("\n", 0, error.offset) + 1, error.offset - _AROUND)
    end = error.text.find("\n", error.offset)
    shown = error.text[start : min(end if end >= 0 else len(error.text), error.offset + _AROUND)]
    return f"  {shown}\n  {' ' * (error.offset - start)}^"
