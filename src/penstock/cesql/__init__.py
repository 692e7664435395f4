"""CloudEvents SQL: expressions over the context attributes of an event."""

from __future__ import annotations

from penstock.cesql.evaluate import Expression, MissingFunction, Result, evaluate, parse
from penstock.cesql.functions import BUILT_IN, Function, Functions
from penstock.cesql.lookups import Cover, Lookup
from penstock.cesql.reads import Reads
from penstock.cesql.values import ErrorKind, EvaluationError

__all__ = [
    "BUILT_IN",
    "Cover",
    "ErrorKind",
    "EvaluationError",
    "Expression",
    "Function",
    "Functions",
    "Lookup",
    "MissingFunction",
    "Reads",
    "Result",
    "evaluate",
    "parse",
]
