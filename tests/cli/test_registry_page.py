"""The walk in docs/registry.md, done as it is printed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from penstock.client import Client
from penstock.config import Settings
from tests.cli.command import run

PAGE = (Path(__file__).parents[2] / "docs" / "registry.md").read_text(encoding="utf-8")
_, _, WALK = PAGE.partition("## From an empty registry to a checked event")


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.+?)```", WALK, re.DOTALL)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder in which the reader works, with the files of the page."""
    (tmp_path / "shop.cereg.yaml").write_text(blocks("yaml")[0])
    (tmp_path / "order.json").write_text(blocks("json")[0])
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def empty(server: Settings) -> str:
    """The address of a server whose registry is empty."""
    with Client(server.address) as client:
        client.import_registry({}, replace=True)
    return server.address


@pytest.mark.network
@pytest.mark.usefixtures("folder")
def test_commands_of_the_page_print_what_it_says(empty: str) -> None:
    steps = [step for block in blocks("console") for step in block.split("$ penstock ")[1:]]

    for step in steps:
        line, _, expected = step.partition("\n")
        assert run(*line.split(), PENSTOCK_URL=empty).out == expected, line


@pytest.mark.usefixtures("folder")
def test_python_of_the_page_runs() -> None:
    (code,) = blocks("python")

    exec(compile(code, "registry.md", "exec"), {})  # noqa: S102
