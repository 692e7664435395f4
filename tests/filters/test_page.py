"""Every example of docs/filters.md."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from penstock import filters
from penstock.errors import ResourceError
from penstock.events import CloudEvent, from_attributes
from penstock.filters import DIALECTS, Place
from penstock.filters.explain import indexed
from tests.cli import command as command_line

PAGE = (Path(__file__).parents[2] / "docs" / "filters.md").read_text(encoding="utf-8")


def blocks(kind: str) -> list[str]:
    return re.findall(rf"^```{kind}\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)


def arrows(kind: str) -> list[tuple[str, str]]:
    lines = "".join(blocks(kind)).splitlines()
    return [(left, right) for left, _, right in (line.partition(" → ") for line in lines)]


def an_event(text: str) -> CloudEvent:
    needed: dict[str, Any] = {"specversion": "1.0", "id": "1", "source": "/s", "type": "t"}
    return from_attributes(needed | json.loads(text))


@pytest.mark.parametrize("block", blocks("filter"))
def test_example_says_yes_and_no(block: str) -> None:
    expression, *events = block.splitlines()
    filter_ = filters.parse(json.loads(expression))

    answers = [filter_.matches(an_event(event[4:])) for event in events]

    assert answers == [event.startswith("yes ") for event in events]
    assert any(answers)


@pytest.mark.parametrize(("expression", "path"), arrows("refused"))
def test_example_is_refused_at_its_path(expression: str, path: str) -> None:
    with pytest.raises(ResourceError) as caught:
        filters.parse_all([json.loads(expression)])

    assert [problem.path for problem in caught.value.problems] == [path]


@pytest.mark.parametrize(("expression", "words"), arrows("indexed"))
def test_example_is_indexed_as_said(expression: str, words: str) -> None:
    assert indexed(filters.parse(json.loads(expression))) == words


def test_underlined_fault_is_as_shown() -> None:
    (shown,) = blocks("text")

    with pytest.raises(ResourceError) as caught:
        filters.parse_all([{"sql": "type == 'a'"}])

    assert str(caught.value) == shown.rstrip("\n")


def sessions() -> list[tuple[str, str]]:
    """The commands of the page, and what they print."""
    parts = "".join(blocks("console")).split("$ ")[1:]
    return [(command, shown) for command, _, shown in (part.partition("\n") for part in parts)]


@pytest.mark.parametrize(("command", "shown"), sessions())
def test_command_prints_what_is_shown(
    command: str, shown: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "order.json").write_text(*blocks("event"))
    monkeypatch.chdir(tmp_path)

    assert command_line.run(*shlex.split(command)[1:]).out == shown


def run(block: str) -> dict[str, Any]:
    scope: dict[str, Any] = {"__name__": "example"}
    exec(compile(block, "docs/filters.md", "exec", dont_inherit=True), scope)  # noqa: S102
    return scope


def test_python_examples_run() -> None:
    first, second = blocks("python")
    even = run(second)["Even"]
    place = Place("f", 1, even.read)

    assert "filter_" in run(first)
    assert even.read("priority", place).matches(an_event('{"priority": 4}'))
    assert not even.read("priority", place).matches(an_event('{"priority": 5}'))
    with pytest.raises(ResourceError):
        even.read(5, place)


def test_list_example_is_valid() -> None:
    (block,) = blocks("json")

    assert filters.parse_all(json.loads(block)["filters"]).names() == {"type", "source"}


@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_dialect_has_an_example(dialect: str) -> None:
    assert any(f'{{"{dialect}": ' in block for block in blocks("filter"))


@pytest.mark.parametrize("limit", [f"{filters.DEEPEST} levels", f"{filters.LARGEST:,} characters"])
def test_limits_are_named(limit: str) -> None:
    assert limit in PAGE
