"""The command line: one file per command."""

from __future__ import annotations


def main() -> None:
    """Run the command `penstock` with the arguments of this process."""
    from penstock.cli.app import app

    app(prog_name="penstock")


__all__ = ["main"]
