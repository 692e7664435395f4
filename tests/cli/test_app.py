from __future__ import annotations

import json
import subprocess
import sys

import pytest

import penstock
from penstock.cli.app import app
from tests.cli.command import finish, run, start
from tools.docs import Command, commands

COMMANDS = list(commands())


def test_version_is_that_of_the_package() -> None:
    done = run("--version")

    assert (done.code, done.out) == (0, f"penstock {penstock.__version__}\n")


@pytest.mark.parametrize("command", COMMANDS, ids=lambda one: one.name)
def test_every_command_explains_itself(command: Command) -> None:
    done = run(*command.name.split()[1:], "--help", TERM="dumb", COLUMNS="200")

    assert done.code == 0
    assert command.command.help.split("\n")[0] in done.out
    for parameter in command.command.params:
        assert parameter.param_type_name == "argument" or parameter.opts[0] in done.out


@pytest.mark.parametrize(
    "command",
    [one for one in COMMANDS if not hasattr(one.command, "commands")],
    ids=lambda one: one.name,
)
def test_every_command_has_an_example(command: Command) -> None:
    assert f"$ {command.name}" in command.command.epilog


@pytest.mark.parametrize("command", COMMANDS, ids=lambda one: one.name)
def test_every_option_says_what_it_does(command: Command) -> None:
    silent = [one.name for one in command.command.params if not one.help]

    assert not silent


def test_processes_of_the_server_are_not_shown() -> None:
    assert "serve-" not in run("--help").out


@pytest.mark.parametrize(
    "arguments",
    [("nonsense",), ("publish", "--nonsense"), ("up", "--port", "x"), ("dead", "show", "x"), ()],
    ids=str,
)
def test_wrong_usage_has_its_own_exit_code(arguments: tuple[str, ...]) -> None:
    assert run(*arguments).code == 2


def test_error_is_a_short_message() -> None:
    done = run("publish", "--type", "t", "--url", "http://127.0.0.1:1")

    assert done.code == 1
    assert done.out == ""
    assert done.err.startswith("error: nothing answers at http://127.0.0.1:1")
    assert len(done.err.splitlines()) == 1


def test_each_problem_has_its_line() -> None:
    done = run("publish", "--type", "", "--source", "%", "--ext", "A=1")

    assert [line.split(":")[:2] for line in done.err.splitlines()] == [
        ["error", " source"],
        ["error", " type"],
        ["error", " A"],
    ]


def test_debug_shows_where_an_error_came_from() -> None:
    done = finish(start("--debug", "publish", "--type", ""))

    assert done.code == 1
    assert "Traceback" in done.err
    assert "penstock.errors.EventError" in done.err


def test_help_does_not_load_what_only_the_server_needs() -> None:
    script = (
        "import json, sys\n"
        "from penstock.cli.app import app\n"
        "try:\n    app(['--help'])\n"
        "except SystemExit:\n    print(json.dumps(sorted(sys.modules)))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], check=True, capture_output=True, text=True
    )

    loaded = {name.partition(".")[0] for name in json.loads(done.stdout.splitlines()[-1])}
    assert "typer" in loaded
    assert not loaded & {"pyspark", "pyarrow", "pandas", "sqlalchemy", "uvicorn", "pyreqwest"}


def test_shell_can_complete() -> None:
    assert app._add_completion  # noqa: SLF001 - has no other name
    assert "--install-completion" in run("--help").out
