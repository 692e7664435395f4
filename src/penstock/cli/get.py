"""`penstock get`: objects in a table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer

from penstock.cli import screen
from penstock.cli.objects import Objects, Where
from penstock.cli.options import Output, Server

KindName = Annotated[
    str, typer.Argument(metavar="KIND", help="Kind of objects, like brokers or triggers.")
]


@dataclass(frozen=True, slots=True)
class Selection:
    """Which objects of a kind are meant."""

    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="Only the object of this name.")
    ] = None
    selector: Annotated[
        str, typer.Option("--selector", "-l", help="Labels to select by.", metavar="SELECTOR")
    ] = ""
    all_namespaces: Annotated[bool, typer.Option("--all-namespaces", help="In all namespaces.")] = (
        False
    )


def get(kind: KindName, selection: Selection, where: Where, server: Server, output: Output) -> None:
    """Show Knative objects: brokers, triggers, channels, subscriptions and others."""
    space = "" if selection.all_namespaces else where.namespace
    with server.client() as client:
        objects = Objects(client)
        found = objects.table(
            objects.kind(kind), space, selection.name or "", labelSelector=selection.selector
        )
    shown = [row["object"] for row in found["rows"]]
    if output.json:
        screen.json(shown[0] if selection.name else shown)
        return
    wanted = [one["priority"] == 0 for one in found["columnDefinitions"]]
    head = [one["name"].upper() for one in found["columnDefinitions"] if one["priority"] == 0]
    rows = [
        [cell for cell, is_wanted in zip(row["cells"], wanted, strict=True) if is_wanted]
        for row in found["rows"]
    ]
    if selection.all_namespaces:
        head = ["NAMESPACE", *head]
        spaces = (one["metadata"].get("namespace", "") for one in shown)
        rows = [[place, *row] for place, row in zip(spaces, rows, strict=True)]
    screen.table(head, rows)
