"""What commands print: for people to the terminal, for machines as JSON."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from rich.console import Console

# What came in with an event must not steer the terminal.
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_MOST_TEXT = 20_000
_WIDEST = 100_000


def clean(text: str) -> str:
    """Return the text with control characters made visible."""
    return _CONTROL.sub(lambda match: match[0].encode("unicode_escape").decode("ascii"), text)


def console() -> Console:
    """Return the terminal, or whatever standard output is."""
    from rich.console import Console

    shown = Console(highlight=False, markup=False, emoji=False, soft_wrap=True)
    if not shown.is_terminal:
        # A file or a pipe has no edge at which to break lines.
        shown.width = _WIDEST
    return shown


def note(text: str) -> None:
    """Tell a person something beside the output."""
    typer.echo(text, err=True)


def json(value: object, *, pretty: bool = True) -> None:
    """Print a value as JSON, over several lines or on one."""
    import msgspec

    body = msgspec.json.encode(value)
    typer.echo(msgspec.json.format(body, indent=2) if pretty else body)


def table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print a table; nothing in it is cut off."""
    from rich.table import Table
    from rich.text import Text

    shown = Table(box=None, pad_edge=False, header_style="bold")
    for index, name in enumerate(columns):
        shown.add_column(name, overflow="fold", no_wrap=index == 0)
    for row in rows:
        shown.add_row(*(Text(clean(str(cell))) for cell in row))
    console().print(shown)


def fields(values: Mapping[str, object]) -> None:
    """Print names and values, one pair per line; what is empty is left out."""
    present = {name: value for name, value in values.items() if value not in (None, "", (), {})}
    width = max(map(len, present), default=0)
    for name, value in present.items():
        typer.echo(f"{name:<{width}}  {clean(_shown(value))}")


def event(document: Mapping[str, Any]) -> None:
    """Print an event in JSON format for a person to read."""
    from rich.text import Text

    rest = {name: value for name, value in document.items() if name not in _HEAD | _DATA}
    line = Text.assemble(
        (clean(str(document.get("type", ""))), "bold green"),
        f"  {clean(str(document.get('source', '')))}",
        (f"  {clean(str(document.get('id', '')))}", "dim"),
    )
    shown = console()
    shown.print(line)
    for name, value in rest.items():
        shown.print(Text(f"  {name}: {clean(_shown(value))}"))
    if text := _data(document):
        shown.print(Text(text, style="cyan"))


_HEAD = {"specversion", "type", "source", "id"}
_DATA = {"data", "data_base64"}


def _data(document: Mapping[str, Any]) -> str:
    if "data_base64" in document:
        size = len(document["data_base64"]) * 3 // 4
        return f"  ({size} bytes that are no text)"
    if "data" not in document:
        return ""
    text = _pretty(document["data"])
    cut = f"\n… ({len(text)} characters)" if len(text) > _MOST_TEXT else ""
    return "\n".join(f"  {clean(line)}" for line in (text[:_MOST_TEXT] + cut).split("\n"))


def _pretty(value: object) -> str:
    import msgspec

    if isinstance(value, str):
        return value
    return msgspec.json.format(msgspec.json.encode(value), indent=2).decode()


def _shown(value: object) -> str:
    import msgspec

    return value if isinstance(value, str) else msgspec.json.encode(value).decode()
