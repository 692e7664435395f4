"""Python source, built from lines and blocks, for the compiler."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeAlias

# Lines, and after a line that ends in a colon the block below it.
Block: TypeAlias = "list[str | Block]"

REFUSE = "return False"
_RAISE = "refuse()"


def source(name: str, body: Block, *, refuses: bool = True) -> str:
    """Return a function of `event`; where it may not refuse for its caller, it raises."""
    lines = (_RAISE if line == REFUSE and not refuses else line for line in _lines(body))
    return "\n".join([f"def {name}(event):", " value = event.value", *lines])


def compiled(functions: list[str], scope: Mapping[str, object]) -> dict[str, Callable[..., Any]]:
    """Return what functions, in Python, become in a scope that has nothing else in it."""
    # The source is put together from fixed pieces; texts of users are literals in it.
    names: dict[str, Any] = {"__builtins__": {}, **scope}
    exec(compile("\n".join(functions), "<cesql>", "exec"), names)  # noqa: S102
    return names


def _lines(body: Block) -> Iterator[str]:
    # Blocks may be nested deeper than Python recurses.
    waiting = [iter(body)]
    while waiting:
        for part in waiting[-1]:
            if isinstance(part, list):
                waiting.append(iter(part))
                break
            yield f"{' ' * len(waiting)}{part}"
        else:
            waiting.pop()
