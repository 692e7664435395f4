"""The documentation names everything that a user can type or meet."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from penstock.cli.flags import meanings
from penstock.config import Settings
from tools import docs

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
COMMANDS = list(docs.commands())


def section(name: str) -> str:
    """The part of the page below a heading."""
    _, found, rest = PAGE.partition(f"\n## {name}\n")
    assert found, f"{name} is missing: run python -m tools.docs"
    return rest.partition("\n## ")[0]


def test_page_is_up_to_date() -> None:
    assert docs.page() == PAGE, "run python -m tools.docs"


@pytest.mark.parametrize("command", COMMANDS, ids=lambda one: one.name)
def test_command_is_documented_with_its_options(command: docs.Command) -> None:
    text = section(command.name)

    names = {name for one in command.parameters for name in one.opts if name.startswith("-")}
    documented = set(re.findall(r"(?<![\w-])--?[a-z][a-z-]*", text))
    assert names <= documented
    assert (command.command.help or "").splitlines()[0] in text


@pytest.mark.parametrize("name", Settings.__struct_fields__)
def test_setting_is_documented(name: str) -> None:
    (row,) = [line for line in section("Settings").splitlines() if line.startswith(f"| `{name}` ")]

    assert f"`--{name.replace('_', '-')}`" in row
    assert f"`PENSTOCK_{name.upper()}`" in row
    assert row.endswith(f"| {meanings()[name]} |".replace("|", "|"))


@pytest.mark.parametrize("kind", docs.error_classes(), ids=lambda one: one.__name__)
def test_error_is_documented(kind: type[Exception]) -> None:
    assert f"| `{kind.__name__}` | {kind.__doc__} |" in section("Errors")


def test_hidden_commands_are_not_documented() -> None:
    assert "serve-api" not in PAGE


def test_checking_notices_a_page_that_is_out_of_date(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = tmp_path / "cli.md"
    monkeypatch.setattr(docs, "PAGE", page)
    docs.main([])
    fresh = docs.main(["--check"])
    page.write_text(page.read_text() + "by hand")

    assert (fresh, docs.main(["--check"])) == (0, 1)
