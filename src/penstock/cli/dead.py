"""`penstock dead`."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated

import typer

from penstock.cli import screen
from penstock.cli.options import Output, Server

if TYPE_CHECKING:
    from penstock.client import Client, DeadLetter, Retried

_AT_ONCE = 500
_COLUMNS = ("NUMBER", "WHEN", "ROUTE", "DESTINATION", "TRIES", "CAUSE")
Number = Annotated[int, typer.Argument(metavar="NUMBER", help="Number of the dead letter.")]
Route = Annotated[str | None, typer.Option(help="Only those of this subscription.", metavar="ID")]


@dataclass(frozen=True, slots=True)
class Part:
    """Which part of the list is shown."""

    route: Route = None
    before: Annotated[
        int | None, typer.Option(min=1, help="Only those with a lower number.", metavar="NUMBER")
    ] = None
    limit: Annotated[int, typer.Option(min=0, help="Most to show; 0 for all.", metavar="N")] = 50


@dataclass(frozen=True, slots=True)
class Choice:
    """Which dead letters are meant."""

    numbers: Annotated[
        list[int], typer.Argument(metavar="NUMBER", help="Numbers of dead letters.")
    ] = field(default_factory=list)
    every: Annotated[bool, typer.Option("--all", help="All of them, or all of --route.")] = False
    route: Route = None

    def of(self, client: Client) -> list[int]:
        """Return the numbers of the dead letters that are meant."""
        if bool(self.numbers) == self.every or (self.route is not None and not self.every):
            hint = "give the numbers of dead letters, or --all with or without --route"
            raise typer.BadParameter(hint, param_hint="NUMBER")
        if self.every:
            return [one.number for one in client.dead_letters(self.route)]
        return self.numbers


def list_(part: Part, server: Server, output: Output) -> None:
    """List deliveries that were given up, the newest first."""
    with server.client() as client:
        found = client.dead_letters(part.route, part.before)
        shown = list(itertools.islice(found, part.limit or None))
        more = next(found, None) is not None
    if output.json:
        screen.json(shown)
    else:
        screen.table(_COLUMNS, map(_row, shown))
    if more:
        screen.note(f"there are more: continue with --before {shown[-1].number}, or raise --limit")


def _row(dead: DeadLetter) -> tuple[object, ...]:
    return dead.number, dead.at, dead.route, dead.destination, dead.attempts, dead.cause


def show(number: Number, server: Server, output: Output) -> None:
    """Show a dead letter with its event and the cause."""
    import msgspec

    with server.client() as client:
        found = client.dead_letter(number)
    if output.json:
        screen.json(found)
        return
    screen.fields(msgspec.to_builtins(found) | {"event": None})
    if found.event is not None:
        screen.event(found.event)


def retry(choice: Choice, server: Server, output: Output) -> None:
    """Have dead letters delivered again.

    They leave the list; those that fail again come back under a new number.
    The exit code is 1 when some could not be sent again.
    """
    done: list[Retried] = []
    with server.client() as client:
        numbers = iter(choice.of(client))
        while some := list(itertools.islice(numbers, _AT_ONCE)):
            done.append(client.retry_dead_letters(some))
    _report("retried", sum(one.retried for one in done), output)
    skipped = [dead for one in done for dead in one.skipped]
    for dead in skipped:
        screen.note(screen.clean(dead.why))
    if skipped:
        raise typer.Exit(1)


def delete(choice: Choice, server: Server, output: Output) -> None:
    """Throw dead letters away for good."""
    with server.client() as client:
        numbers = choice.of(client)
        for number in numbers:
            client.delete_dead_letter(number)
    _report("deleted", len(numbers), output)


def _report(done: str, count: int, output: Output) -> None:
    if output.json:
        screen.json({done: count}, pretty=False)
    else:
        typer.echo(f"{done} {count}")
