from __future__ import annotations

import inspect
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import pytest
import typer
from typer.testing import CliRunner

from penstock.cli.options import content, examples, option, pairs, spread
from penstock.errors import ResourceError


@dataclass(frozen=True)
class Size:
    width: int = 1
    height: Annotated[int, typer.Option(help="How high.")] = 2


def area(name: str, size: Size, **more: object) -> None:
    typer.echo(f"{name} {size.width * size.height} {more}")


def test_group_becomes_options() -> None:
    parameters = inspect.signature(spread(area)).parameters

    assert list(parameters) == ["name", "width", "height"]


def test_command_gets_its_group_back() -> None:
    app = typer.Typer()
    app.command()(spread(area, [option("depth", int, 5)]))

    done = CliRunner().invoke(app, ["box", "--width", "3"])

    assert done.output == "box 6 {'depth': 5}\n"


def test_pairs_are_split_at_the_first_equals_sign() -> None:
    assert pairs(["a=b=c", "d="], "--ext") == {"a": "b=c", "d": ""}


@pytest.mark.parametrize("values", [["a"], ["=b"], ["a=1", "a=2"]], ids=str)
def test_what_is_no_pair_is_wrong_usage(values: list[str]) -> None:
    with pytest.raises(typer.BadParameter):
        pairs(values, "--ext")


def test_content_is_that_of_the_file(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"\x00\xff")

    assert content(str(tmp_path / "file"), "--data") == b"\x00\xff"


def test_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ResourceError, match=r"--data: cannot read .*nothing: No such file"):
        content(str(tmp_path / "nothing"), "--data")


def test_examples_are_paragraphs() -> None:
    assert examples("a", "b") == "Examples:\n\n$ a\n\n$ b"
