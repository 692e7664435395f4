"""`penstock delete`: objects go."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated

import typer

from penstock.cli import screen
from penstock.cli.manifests import Files, documents
from penstock.cli.objects import Kind, Objects, Where
from penstock.cli.options import Output, Server


@dataclass(frozen=True, slots=True)
class Doomed:
    """What is to be deleted."""

    kind: Annotated[str | None, typer.Argument(metavar="KIND", help="Kind of the objects.")] = None
    names: Annotated[
        list[str] | None, typer.Argument(metavar="NAME", help="Names of the objects.")
    ] = None
    filename: Files = None

    def places(self, objects: Objects, namespace: str) -> Iterator[tuple[Kind, str, str]]:
        """Yield the kind, namespace and name of each object."""
        for document in documents(self.filename or []):
            space = str(document["metadata"].get("namespace") or namespace)
            yield objects.kind_of(document), space, document["metadata"]["name"]
        if self.kind:
            known = objects.kind(self.kind)
            yield from ((known, namespace, name) for name in self.names or [])


def delete(doomed: Doomed, where: Where, server: Server, output: Output) -> None:
    """Delete Knative objects, by name or all that some manifests describe."""
    if bool(doomed.kind and doomed.names) is bool(doomed.filename):
        raise typer.BadParameter("give a KIND and names, or files", param_hint="KIND")
    done = []
    with server.client() as client:
        objects = Objects(client)
        for one, space, name in list(doomed.places(objects, where.namespace)):
            objects.delete(one, space, name)
            done.append({"kind": one.title, "namespace": space, "name": name})
            if not output.json:
                typer.echo(f"{one.title}/{name} deleted")
    if output.json:
        screen.json(done)
