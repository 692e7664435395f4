"""`penstock filter`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from penstock.cli import screen
from penstock.cli.options import Output, content
from penstock.errors import Problem, ResourceError

if TYPE_CHECKING:
    from penstock.client import CloudEvent
    from penstock.filters import Filter

Text = Annotated[
    str,
    typer.Argument(
        metavar="FILTER",
        help="A filter expression, or an array of them, as JSON; @FILE for a file, - for stdin.",
    ),
]
Sql = Annotated[bool, typer.Option("--sql", help="FILTER is an expression in CloudEvents SQL.")]
File = Annotated[
    str, typer.Option("--event", metavar="FILE", help="File with one event; - for stdin.")
]


def check(text: Text, output: Output, sql: Sql = False) -> None:  # noqa: FBT002
    """Say whether a filter is valid, what it means, and how an index finds it.

    The exit code is 0 when the filter is valid, and 1 when it is not.
    """
    from penstock.filters.explain import explain, indexed

    try:
        filter_ = _filter(text, sql=sql)
    except ResourceError as error:
        if not output.json:
            raise
        screen.json({"valid": False, "problems": error.problems})
        raise typer.Exit(1) from error
    meaning, index = explain(filter_), indexed(filter_)
    if output.json:
        lookups = _lookups(filter_)
        screen.json({"valid": True, "meaning": meaning, "index": index, "lookups": lookups})
        return
    typer.echo("valid\n")
    typer.echo(screen.clean(f"{meaning}\n\n{index}"))


def try_(text: Text, output: Output, event: File, sql: Sql = False) -> None:  # noqa: FBT002
    """Try a filter on an event, and show clause by clause what it says.

    The exit code is 0 when the event passes, and 1 when it does not.
    """
    from penstock.filters.explain import trace

    if event == "-" and text in ("-", "@-"):
        raise ResourceError([Problem("--event", "cannot be - too: FILTER is read from there")])
    found = trace(_filter(text, sql=sql), _event(event))
    if output.json:
        screen.json(found)
    else:
        typer.echo("\n".join(map(screen.clean, found.lines())))
    if not found.matched:
        raise typer.Exit(1)


def _lookups(filter_: Filter) -> list[dict[str, str]] | None:
    cover = filter_.cover()
    if cover is None:
        return None
    return [{"kind": one.kind, "name": one.name, "text": one.text} for one in sorted(cover)]


def _filter(text: str, *, sql: bool) -> Filter:
    from penstock import filters

    given = _given(text)
    if sql:
        return filters.parse({"sql": given}, "FILTER")
    document = _document(given)
    if isinstance(document, list):
        return filters.parse_all(document, "FILTER")
    return filters.parse(document, "FILTER")


def _given(text: str) -> str:
    if text == "-" or text.startswith("@"):
        found = content(text.removeprefix("@"), "FILTER")
    else:
        # An argument that is no text reaches us with surrogates in the place of its bytes.
        found = text.encode("utf-8", "surrogatepass")
    try:
        # Editors of some systems put a mark at the beginning of a file.
        return found.decode("utf-8-sig")
    except UnicodeDecodeError as exc:
        raise ResourceError([Problem("FILTER", f"is not UTF-8: {exc.reason}")]) from exc


def _document(text: str) -> object:
    import msgspec

    try:
        return msgspec.json.decode(text)
    except (msgspec.MsgspecError, RecursionError) as exc:
        hint = "an expression in CloudEvents SQL needs --sql"
        raise ResourceError([Problem("FILTER", f"is not JSON: {exc}; {hint}")]) from exc


def _event(place: str) -> CloudEvent:
    from penstock.client import read_events

    found = list(read_events(content(place, "--event")))
    if len(found) != 1:
        raise ResourceError([Problem("--event", f"has {len(found)} events, where one is needed")])
    return found[0]
