"""The command line, as tests call it."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass

from typer.testing import CliRunner

from penstock.cli.app import app


@dataclass(frozen=True, slots=True)
class Done:
    """What a command printed, and its exit code."""

    code: int
    out: str
    err: str


def run(*arguments: str, stdin: str | bytes | None = None, **environment: str) -> Done:
    """Run a command inside this process."""
    result = CliRunner().invoke(app, list(arguments), input=stdin, env=environment)
    return Done(result.exit_code, result.stdout, result.stderr)


def start(*arguments: str, **environment: str) -> subprocess.Popen[str]:
    """Start a command as a process of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "penstock", *arguments],
        env=os.environ | environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(process: subprocess.Popen[str]) -> Done:
    """Wait for a process, and return what it printed from now on."""
    with process:
        out, err = process.communicate(timeout=30)
    return Done(process.returncode, out, err)
