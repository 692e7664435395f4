"""`penstock doctor`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import typer

from penstock.cli import machine, screen, server
from penstock.cli.check import Check, State
from penstock.cli.flags import Config, settings
from penstock.cli.options import Output
from penstock.config import Settings

Quick = Annotated[
    bool, typer.Option("--quick", help="Leave out the files, whose every byte is read.")
]
_COLOURS = {State.OK: "green", State.WARN: "yellow", State.FAIL: "red"}


def doctor(
    output: Output,
    config: Config = None,
    quick: Quick = False,  # noqa: FBT002
    **given: object,
) -> None:
    """Check whether the server can run here, and say what to do if not.

    The exit code is 1 when a check fails; warnings are no failures.
    """
    found = []
    for check in _checks(settings(given, config), quick=quick):
        found.append(check)
        if not output.json:
            _print(check)
    if output.json:
        screen.json(found)
    if any(check.state is State.FAIL for check in found):
        raise typer.Exit(1)


def _checks(chosen: Settings, *, quick: bool) -> Iterator[Check]:
    yield machine.python()
    yield machine.spark_java()
    yield from machine.packages()
    yield machine.memory()
    yield machine.disk(chosen.folder)
    yield server.folder(chosen)
    yield server.port(chosen)
    if not quick:
        yield from server.files(chosen)


def _print(check: Check) -> None:
    typer.secho(f"{check.state:<5}", fg=_COLOURS[check.state], nl=False)
    typer.echo(f"{check.name:<9} {screen.clean(check.found)}")
    if check.advice:
        typer.echo(f"{'':<15}→ {check.advice}")
