"""`penstock services`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any

import typer

from penstock.cli import screen
from penstock.cli.group import FAILED, message
from penstock.cli.options import Output, Server, content, pairs
from penstock.errors import PenstockError, Problem, ResourceError

if TYPE_CHECKING:
    from penstock.client import Client, Service

_PANEL = "What the service says of itself"
_ID = re.compile("[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}")
Which = Annotated[str, typer.Argument(metavar="ID|NAME", help="Id or name of the service.")]
Several = Annotated[list[str], typer.Argument(metavar="ID|NAME", help="Ids or names of services.")]
Files = Annotated[
    list[str],
    typer.Argument(
        metavar="FILE", help="Files with a service, or an array of them, as JSON; - for stdin."
    ),
]
Document = Annotated[
    str | None,
    typer.Option(
        "--file", help="File with a whole service as JSON, instead; - for stdin.", metavar="FILE"
    ),
]


@dataclass(frozen=True, slots=True)
class Wish:
    """What is to be known of a service."""

    name: Annotated[
        str | None, typer.Option(help="Name, unique but for case.", rich_help_panel=_PANEL)
    ] = None
    subscription_url: Annotated[
        str | None,
        typer.Option(
            help="Address that takes subscriptions.", metavar="URL", rich_help_panel=_PANEL
        ),
    ] = None
    protocol: Annotated[
        list[str],
        typer.Option(help="Protocol of deliveries; give several for each.", rich_help_panel=_PANEL),
    ] = field(default_factory=list)
    specversion: Annotated[
        list[str],
        typer.Option(help="CloudEvents version; give several for each.", rich_help_panel=_PANEL),
    ] = field(default_factory=list)
    types: Annotated[
        list[str],
        typer.Option(
            "--type",
            metavar="TEXT",
            help="Type of events that it emits; give several for each.",
            rich_help_panel=_PANEL,
        ),
    ] = field(default_factory=list)
    config: Annotated[
        list[str],
        typer.Option(
            help="Key that a subscription's config may have, with its type.",
            metavar="KEY=TYPE",
            rich_help_panel=_PANEL,
        ),
    ] = field(default_factory=list)
    description: Annotated[
        str | None, typer.Option(help="What people should know of it.", rich_help_panel=_PANEL)
    ] = None
    docs_url: Annotated[
        str | None,
        typer.Option(help="Address of its documentation.", metavar="URL", rich_help_panel=_PANEL),
    ] = None
    auth_scope: Annotated[
        str | None,
        typer.Option(help="Scope that subscribers need.", rich_help_panel=_PANEL),
    ] = None

    def given(self) -> dict[str, Any]:
        """Return the attributes that the options give."""
        found = {
            "name": self.name,
            "description": self.description,
            "docsurl": self.docs_url,
            "specversions": self.specversion,
            "subscriptionurl": self.subscription_url,
            "subscriptionconfig": pairs(self.config, "--config"),
            "authscope": self.auth_scope,
            "protocols": self.protocol,
            "events": [{"type": each} for each in self.types],
        }
        return {name: value for name, value in found.items() if value not in (None, [], {})}

    def document(self, file: str | None, defaults: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the service that the options, or the file, describe."""
        given = self.given()
        if (file is None) == (not given):
            raise typer.BadParameter("give either a --file or options", param_hint="--file")
        if file is None:
            return {**defaults, **given}
        found = list(_documents(file, "--file"))
        if len(found) != 1:
            raise ResourceError([Problem("--file", f"holds {len(found)} services, not one")])
        return found[0]


def list_(server: Server, output: Output) -> None:
    """List the services that are known, the server itself among them."""
    with server.client() as client:
        found = client.services()
    if output.json:
        screen.json([one.document() for one in found])
        return
    rows = [(one.name, ", ".join(one.protocols), _emitted(one), one.id) for one in found]
    screen.table(("NAME", "PROTOCOLS", "EVENTS", "ID"), rows)


def show(which: Which, server: Server, output: Output) -> None:
    """Show a service."""
    with server.client() as client:
        found = _find(client, which)
    _print(found, output)


def create(wish: Wish, server: Server, output: Output, file: Document = None) -> None:
    """Make a service known and print its id."""
    document = wish.document(file, {"protocols": ["HTTP"], "specversions": ["1.0"]})
    with server.client() as client:
        made = client.create_service(document)
    if output.json:
        screen.json(made.document())
    else:
        typer.echo(made.id)


def import_(files: Files, server: Server, output: Output) -> None:
    """Import services that keep their ids, such as those that `list --json` printed elsewhere.

    All that can be imported are; those that cannot are named.
    """
    documents = [one for file in files for one in _documents(file, "FILE")]
    with server.client() as client:
        made = [found for one in documents if (found := _imported(client, one)) is not None]
    if output.json:
        screen.json([one.document() for one in made])
    else:
        for one in made:
            typer.echo(f"imported {one.id} {screen.clean(one.name)}")
    if len(made) < len(documents):
        raise typer.Exit(FAILED)


def update(which: Which, wish: Wish, server: Server, output: Output, file: Document = None) -> None:
    """Change what the options give, or replace everything by what is in a file."""
    with server.client() as client:
        found = _find(client, which)
        # With the stamps of what was read, so that nobody else's change is overwritten.
        document = wish.document(file, found.document())
        made = client.update_service(found.id, document)
    _print(made, output)


def delete(which: Several, server: Server, output: Output) -> None:
    """Remove services from the catalogue."""
    with server.client() as client:
        gone = [client.delete_service(_find(client, one).id) for one in which]
    if output.json:
        screen.json([one.document() for one in gone])
    else:
        for one in gone:
            typer.echo(f"deleted {one.id} {screen.clean(one.name)}")


def _imported(client: Client, document: Mapping[str, Any]) -> Service | None:
    try:
        return client.create_service(document)
    except PenstockError as exc:
        screen.note(f"not imported: {screen.clean(str(document.get('name', 'a service')))}")
        for line in message(exc):
            screen.note(f"  {line}")
        return None


def _find(client: Client, which: str) -> Service:
    return client.service(which) if _ID.fullmatch(which) else client.service_named(which)


def _documents(file: str, name: str) -> Iterator[Mapping[str, Any]]:
    import msgspec

    try:
        # As they are: the server names everything that is wrong with them.
        kind = dict[str, Any] | list[dict[str, Any]]
        found = msgspec.json.decode(content(file, name), type=kind)
    except msgspec.MsgspecError as exc:
        msg = f"{file} holds neither a JSON object nor an array of them: {exc}"
        raise ResourceError([Problem(name, msg)]) from exc
    yield from found if isinstance(found, list) else [found]


def _print(service: Service, output: Output) -> None:
    if output.json:
        screen.json(service.document())
    else:
        screen.fields(service.document())


def _emitted(service: Service) -> str:
    if service.events is None:
        return "not declared"
    return ", ".join(str(one.get("type", "")) for one in service.events) or "none"
