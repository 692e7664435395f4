"""`penstock registry check-event` and `make-event`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any

import typer

from penstock.cli import screen
from penstock.cli.group import FAILED
from penstock.cli.options import Output, Server, content, pairs
from penstock.cli.registry_files import read, together

if TYPE_CHECKING:
    from penstock.client import CloudEvent

Events = Annotated[
    str, typer.Argument(metavar="FILE", help="One event, an array, or one per line; - for stdin.")
]
_AT_ONCE = 500


@dataclass(frozen=True, slots=True)
class Against:
    """What events are checked against."""

    registry: Annotated[
        list[str],
        typer.Option(
            metavar="FILE", help="Registry file to use instead of a server; give several for each."
        ),
    ] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Filling:
    """What an event is filled with."""

    set: Annotated[
        list[str],
        typer.Option(help="Placeholder or attribute, and its value.", metavar="NAME=VALUE"),
    ] = field(default_factory=list)
    data: Annotated[
        str, typer.Option(help="Data: a text, @FILE, or - for stdin.", show_default="none")
    ] = ""

    def body(self) -> bytes | None:
        """Return the data, if there is any."""
        if self.data == "-" or self.data.startswith("@"):
            return content(self.data.removeprefix("@"), "--data")
        return self.data.encode() if self.data else None


def check_event(file: Events, against: Against, server: Server, output: Output) -> None:
    """Check events against the registry of a server, or against registry files.

    The exit code is 0 when no event has problems, and 1 when one has.
    """
    from penstock.client import batches, check_events, read_events

    body = content(file, "FILE")
    check_events(body)
    groups = batches(read_events(body), _AT_ONCE)
    files = against.registry
    found = _with_files(groups, files) if files else _with_server(groups, server)
    wrong = 0
    for event, judged in found:
        wrong += bool(judged["problems"])
        _print_judgement(event, judged, json=output.json)
    if wrong:
        raise typer.Exit(FAILED)


def make_event(
    path: Annotated[
        str, typer.Argument(help="Definition, as in definitionGroups/shop/definitions/created.")
    ],
    filling: Filling,
    server: Server,
) -> None:
    """Print an event that a definition describes, ready for `penstock publish @FILE`.

    Placeholders, and attributes without a value, are filled in with --set; the id and the time by
    themselves.
    """
    from penstock.client import document, event
    from penstock.registry import produced

    with server.client() as client:
        definition = client.registry_effective(path)
    # Whose id and time are those of the moment.
    fresh = event(type="any", source="/any")
    given = {"id": fresh.id, **pairs(filling.set, "--set")}
    made = produced(definition, given, fresh.time or "", filling.body())
    typer.echo(screen.clean(document(made).decode()))


def _with_server(
    groups: Iterator[list[CloudEvent]], server: Server
) -> Iterator[tuple[CloudEvent, Mapping[str, Any]]]:
    import msgspec

    with server.client() as client:
        for group in groups:
            judged = client.validate_batch(group).events
            yield from zip(group, map(msgspec.to_builtins, judged), strict=True)


def _with_files(
    groups: Iterator[list[CloudEvent]], files: Sequence[str]
) -> Iterator[tuple[CloudEvent, Mapping[str, Any]]]:
    import msgspec

    from penstock.registry import Validator
    from penstock.registry.files import opened

    _, store, _ = opened(together(read(files)))
    validator = Validator(store)
    for group in groups:
        for event in group:
            yield event, msgspec.to_builtins(validator.judge(event))


def _print_judgement(event: CloudEvent, judged: Mapping[str, Any], *, json: bool) -> None:
    if json:
        shown = {name: judged[name] for name in ("problems", "known", "definition", "unchecked")}
        screen.json({"id": event.id, "type": event.type, **shown}, pretty=False)
        return
    word = "wrong" if judged["problems"] else "good" if judged["known"] else "unknown"
    typer.echo(screen.clean(f"{word}  {event.type}  {event.id}"))
    for each in judged["problems"]:
        typer.echo(screen.clean(f"  {each['path']}: {each['message']}"))
    if judged["unchecked"]:
        typer.echo(screen.clean(f"  data not checked: {judged['unchecked']}"))
