"""`penstock triggers`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Any

import typer

from penstock.cli import delete, describe, get, screen
from penstock.cli.objects import Objects, Where
from penstock.cli.options import Output, Server, pairs

_KIND = "triggers"
Name = Annotated[str, typer.Argument(metavar="NAME", help="Name of the trigger.")]
Names = Annotated[list[str], typer.Argument(metavar="NAME", help="Names of triggers.")]


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which events a trigger takes, and where to."""

    subscriber: Annotated[
        str, typer.Option(help="Address that receives the events.", metavar="URL")
    ] = ""
    broker: Annotated[str, typer.Option(help="Broker of the namespace.", metavar="NAME")] = (
        "default"
    )
    attribute: Annotated[
        list[str],
        typer.Option(help="Attribute that events must have, and its value.", metavar="NAME=VALUE"),
    ] = field(default_factory=list)

    def document(self, name: str) -> dict[str, Any]:
        """Return the manifest of the trigger."""
        if not self.subscriber:
            raise typer.BadParameter("is required", param_hint="--subscriber")
        spec: dict[str, Any] = {"broker": self.broker, "subscriber": {"uri": self.subscriber}}
        attributes = pairs(self.attribute, "--attribute")
        if attributes:
            spec["filter"] = {"attributes": attributes}
        head = {"apiVersion": "eventing.knative.dev/v1", "kind": "Trigger"}
        return {**head, "metadata": {"name": name}, "spec": spec}


def list_(selection: get.Selection, where: Where, server: Server, output: Output) -> None:
    """List triggers."""
    get.get(_KIND, selection, where, server, output)


def show(name: Name, where: Where, server: Server, output: Output) -> None:
    """Show everything about a trigger, and why it is ready or not."""
    describe.describe(_KIND, name, where, server, output)


def create(name: Name, wanted: Wanted, where: Where, server: Server, output: Output) -> None:
    """Create a trigger, or change the one of that name."""
    document = wanted.document(name)
    with server.client() as client:
        objects = Objects(client)
        kind = objects.kind(_KIND)
        what = objects.apply(kind, where.namespace, document, force=False)
        made = objects.get(kind, where.namespace, name)
    if output.json:
        screen.json(made)
    else:
        typer.echo(f"{kind.title}/{name} {what}")


def delete_(names: Names, where: Where, server: Server, output: Output) -> None:
    """Delete triggers."""
    delete.delete(delete.Doomed(_KIND, names), where, server, output)
