"""`penstock apply`: manifests become objects."""

from __future__ import annotations

from typing import Annotated

import typer

from penstock.cli import screen
from penstock.cli.manifests import Files, documents
from penstock.cli.objects import Objects, Where
from penstock.cli.options import Output, Server

Force = Annotated[
    bool, typer.Option("--force", help="Take over fields that somebody else set differently.")
]


def apply(
    where: Where, server: Server, output: Output, filename: Files = None, *, force: Force = False
) -> None:
    """Create or change Knative objects as manifests describe them."""
    if not filename:
        raise typer.BadParameter("give the files to apply", param_hint="--filename")
    found = documents(filename)
    done = []
    with server.client() as client:
        objects = Objects(client)
        for document in found:
            kind = objects.kind_of(document)
            name = document["metadata"]["name"]
            space = str(document["metadata"].get("namespace") or where.namespace)
            what = objects.apply(kind, space, document, force=force)
            done.append({"kind": kind.title, "namespace": space, "name": name, "result": what})
            if not output.json:
                typer.echo(f"{kind.title}/{name} {what}")
    if output.json:
        screen.json(done)
