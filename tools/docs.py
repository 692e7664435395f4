"""Write docs/cli.md from the command line itself: `python -m tools.docs`, or `--check` it."""

from __future__ import annotations

import dataclasses
import inspect
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import typer.main

from penstock import errors
from penstock.cli.app import app
from penstock.cli.flags import meanings
from penstock.config import Settings

PAGE = Path(__file__).parent.parent / "docs" / "cli.md"

INTRO = """\
# Command line and settings

This page is made by `python -m tools.docs` from the commands themselves; do not edit it.

Commands talk to the server at `--url`, else at `PENSTOCK_URL`, else at `http://127.0.0.1:8080`.
`--json` prints data for machines; everything that is not data goes to standard error.
`penstock --install-completion` lets the shell complete commands and options.

| exit code | meaning |
|---|---|
| 0 | done |
| 1 | refused or failed; each problem is on a line of its own on standard error |
| 2 | wrong usage |
| 130 | interrupted |

An error is one short message; `penstock --debug COMMAND` shows its traceback.
"""

SETTINGS = """\
## Settings

A setting is an option of `penstock up`, an environment variable, or a key of a TOML file.
The option wins over the environment, and the environment over the file.
The file is named by `--config` or `PENSTOCK_CONFIG`.
Unknown settings are refused, and all wrong ones are named at once.
"""

ERRORS = """\
## Errors

The Python client raises these; the command line prints their text.
"""


@dataclasses.dataclass(frozen=True, slots=True)
class Command:
    """One command with its full name."""

    name: str
    command: Any

    @property
    def parameters(self) -> list[Any]:
        """What the table of the command lists; the settings have a table of their own."""
        settings = Settings.__struct_fields__ if self.name == "penstock up" else ()
        return [
            one
            for one in self.command.params
            if not getattr(one, "hidden", False) and one.name not in settings
        ]


def commands(name: str = "penstock", command: Any = None) -> Iterator[Command]:  # noqa: ANN401
    """Yield every command that users see, groups before what is in them."""
    command = command or typer.main.get_command(app)
    yield Command(name, command)
    for key, below in getattr(command, "commands", {}).items():
        if not below.hidden:
            yield from commands(f"{name} {key}", below)


def error_classes() -> list[type[errors.PenstockError]]:
    """Return every public error class in the order of its definition."""
    return [
        value
        for name, value in vars(errors).items()
        if inspect.isclass(value)
        and issubclass(value, errors.PenstockError)
        and not name.startswith("_")
    ]


def page() -> str:
    """Return the whole page."""
    parts = [INTRO, *map(_command, commands()), SETTINGS + _settings(), ERRORS + _errors()]
    return "\n".join(parts) + "\n"


def _command(one: Command) -> str:
    texts = [f"## {one.name}", inspect.cleandoc(one.command.help or "")]
    examples = [
        line.removeprefix("$ ")
        for line in (one.command.epilog or "").split("\n\n")
        if line.startswith("$ ")
    ]
    if examples:
        texts.append("```sh\n" + "\n".join(examples) + "\n```")
    below = getattr(one.command, "commands", {})
    if below:
        names = (f"`{one.name} {key}`" for key, each in below.items() if not each.hidden)
        texts.append(f"Commands: {', '.join(names)}.")
    if one.parameters:
        rows = [_option(one, parameter) for parameter in one.parameters]
        texts.append(_table(("option", "meaning"), rows))
    if one.name == "penstock up":
        texts.append("Every setting below is an option as well.")
    return "\n\n".join(texts) + "\n"


def _option(one: Command, parameter: Any) -> tuple[str, str]:  # noqa: ANN401
    name, meaning = parameter.get_help_record(typer.Context(one.command, info_name=one.name))
    return f"`{name}`", meaning.replace(r"\[", "[")


def _settings() -> str:
    rows = [
        (
            f"`{one.name}`",
            f"`--{one.name.replace('_', '-')}`",
            f"`PENSTOCK_{one.name.upper()}`",
            f"`{one.default}`" if one.default != "" else "",
            meanings()[one.name],
        )
        for one in msgspec.structs.fields(Settings)
    ]
    return "\n" + _table(("setting", "option", "environment", "default", "meaning"), rows)


def _errors() -> str:
    rows = [(f"`{one.__name__}`", inspect.getdoc(one) or "") for one in error_classes()]
    return "\n" + _table(("error", "meaning"), rows)


def _table(names: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    head = list(names)
    lines = [head, ["---"] * len(head), *([_cell(cell) for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def main(arguments: list[str]) -> int:
    made = page()
    if "--check" not in arguments:
        PAGE.write_text(made, encoding="utf-8")
        return 0
    if PAGE.read_text(encoding="utf-8") == made:
        return 0
    print("docs/cli.md is out of date: run python -m tools.docs", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
