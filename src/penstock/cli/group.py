"""The top of the command line: errors become short messages and exit codes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import typer
from typer.core import TyperGroup

from penstock.cli import screen
from penstock.errors import (
    ConflictError,
    EventError,
    LimitError,
    PenstockError,
    Problem,
    ResourceError,
)

FAILED = 1
_SHOWN = 20


class Commands(TyperGroup):
    """Commands whose errors are shown without a traceback, unless --debug is given."""

    def invoke(self, ctx: Any) -> Any:  # noqa: ANN401 - the library's context has no public name
        try:
            return super().invoke(ctx)
        except PenstockError as exc:
            if ctx.params.get("debug"):
                raise
            for line in message(exc):
                typer.echo(screen.clean(line), err=True)
            raise typer.Exit(FAILED) from exc


def message(error: PenstockError) -> list[str]:
    """Return the lines that tell a person of an error: each problem on its own."""
    match error:
        case EventError() | ResourceError():
            return _listed(error.problems)
        case ConflictError() if error.problems:
            return _listed(error.problems)
        case LimitError() if error.retry_after is not None:
            return [f"error: {error}", f"       try again in {error.retry_after} s"]
    return [f"error: {error}"]


def _listed(problems: Sequence[Problem]) -> list[str]:
    lines = [f"error: {problem}" for problem in problems[:_SHOWN]]
    left = len(problems) - _SHOWN
    return [*lines, f"error: and {left} more problems"] if left > 0 else lines
