"""Every example of docs/cesql.md."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from penstock import cesql
from penstock.cesql import BUILT_IN, ErrorKind, functions, like, parser
from penstock.events import from_attributes

PAGE = (Path(__file__).parents[2] / "docs" / "cesql.md").read_text(encoding="utf-8")


def blocks(kind: str) -> list[str]:
    return re.findall(rf"^```{kind}\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)


EVENT = from_attributes(json.loads(blocks("json")[0]))
EXAMPLES = [line.rsplit(" → ", 1) for line in "".join(blocks("cesql")).splitlines()]


@pytest.mark.parametrize(("text", "expected"), EXAMPLES)
def test_example_gives_the_result_that_is_shown(text: str, expected: str) -> None:
    value, error = re.fullmatch(r"(.*?)(?:, (\w+))?", expected).groups()  # type: ignore[union-attr]

    result = cesql.evaluate(text, EVENT)

    assert (json.dumps(result.value), result.error) == (value, error)


@pytest.mark.parametrize("block", blocks("python"))
def test_python_example_runs(block: str) -> None:
    exec(block, {})  # noqa: S102


@pytest.mark.parametrize("kind", ErrorKind)
def test_every_error_is_named(kind: ErrorKind) -> None:
    assert f"| `{kind}` |" in PAGE


@pytest.mark.parametrize("name", {name for name, _ in BUILT_IN.fixed} | set(BUILT_IN.variadic))
def test_every_function_is_named(name: str) -> None:
    assert f"`{name}(" in PAGE


@pytest.mark.parametrize(
    "limit",
    [
        f"{parser.LONGEST:,} bytes",
        f"{parser.DEEPEST} levels",
        f"{like.LONGEST_WILD} characters",
        f"{functions.LONGEST_TEXT:,} characters",
    ],
)
def test_limits_are_named(limit: str) -> None:
    assert limit in PAGE
