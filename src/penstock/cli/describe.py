"""`penstock describe`: everything about one object."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from penstock.cli import screen
from penstock.cli.get import KindName
from penstock.cli.objects import Objects, Where
from penstock.cli.options import Output, Server
from penstock.errors import NotFoundError

Name = Annotated[str, typer.Argument(metavar="NAME", help="Name of the object.")]


def describe(kind: KindName, name: Name, where: Where, server: Server, output: Output) -> None:
    """Show everything about a Knative object, and why it is ready or not."""
    with server.client() as client:
        objects = Objects(client)
        known = objects.kind(kind)
        found = objects.get(known, where.namespace, name)
    if found is None:
        raise NotFoundError(f"there is no {known.title} {name!r}", address=name)
    if output.json:
        screen.json(found)
        return
    metadata = found["metadata"]
    status = dict(found.get("status") or {})
    conditions = status.pop("conditions", [])
    names = ("name", "namespace", "labels", "generation", "creationTimestamp", "uid")
    screen.fields({key: metadata.get(key) for key in names})
    for title in ("spec", "data"):
        _tree(title, found.get(title))
    _tree("status", status)
    if conditions:
        typer.echo("conditions")
        rows = [
            (f"  {one['type']}", one["status"], one.get("reason", ""), one.get("message", ""))
            for one in conditions
        ]
        screen.table(("  TYPE", "STATUS", "REASON", "MESSAGE"), rows)


def _tree(title: str, value: Any) -> None:  # noqa: ANN401 - any JSON value
    import yaml

    if value:
        text = yaml.safe_dump(value, sort_keys=False, allow_unicode=True).rstrip()
        typer.echo(title)
        typer.echo("\n".join(f"  {screen.clean(line)}" for line in text.splitlines()))
