"""One event from the command line."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Annotated

import typer

from penstock.cli.options import content, pairs

if TYPE_CHECKING:
    from penstock.client import CloudEvent

_SOURCE = "/penstock/cli"
_PANEL = "The event"
_OPTIONS = {
    "type": "--type",
    "source": "--source",
    "subject": "--subject",
    "id": "--id",
    "data": "--data",
    "datacontenttype": "--content-type",
}


@dataclass(frozen=True, slots=True)
class Draft:
    """The attributes and data of an event, as far as they are given."""

    type: Annotated[str | None, typer.Option(help="What happened.", rich_help_panel=_PANEL)] = None
    source: Annotated[
        str | None,
        typer.Option(help="Where it happened.", show_default=_SOURCE, rich_help_panel=_PANEL),
    ] = None
    subject: Annotated[
        str | None, typer.Option(help="What it happened to.", rich_help_panel=_PANEL)
    ] = None
    id: Annotated[
        str | None,
        typer.Option(help="Id of the event.", show_default="a new one", rich_help_panel=_PANEL),
    ] = None
    data: Annotated[
        str | None,
        typer.Option(
            help="Data of the event; @FILE reads a file and - reads stdin.",
            metavar="TEXT",
            rich_help_panel=_PANEL,
        ),
    ] = None
    content_type: Annotated[
        str | None,
        typer.Option(
            help="Media type of the data.",
            show_default="JSON or plain text, as the data is",
            rich_help_panel=_PANEL,
        ),
    ] = None
    ext: Annotated[
        list[str],
        typer.Option(help="Extension attribute.", metavar="NAME=VALUE", rich_help_panel=_PANEL),
    ] = field(default_factory=list)

    def given(self) -> list[str]:
        """Return the options that were given."""
        present = [one.name for one in fields(self) if getattr(self, one.name) not in (None, [])]
        return [f"--{name.replace('_', '-')}" for name in present]

    def event(self) -> CloudEvent:
        """Return the event; EventError names everything that is wrong with it."""
        from penstock.client import event

        if self.type is None:
            raise typer.BadParameter("give the type of the event, or a --file", param_hint="--type")
        data = self._data()
        attributes = {
            "subject": self.subject,
            "datacontenttype": self.content_type or media_type(data),
            **({} if self.id is None else {"id": self.id}),
            **self._extensions(),
        }
        return event(type=self.type, source=self.source or _SOURCE, data=data, **attributes)

    def _extensions(self) -> dict[str, str]:
        found = pairs(self.ext, "--ext")
        for name, own in _OPTIONS.items():
            if name in found:
                hint = f"{name!r} is no extension: use {own}"
                raise typer.BadParameter(hint, param_hint="--ext")
        return found

    def _data(self) -> bytes | None:
        match self.data:
            case None:
                return None
            case "-":
                return content("-", "--data")
            case text if text.startswith("@"):
                return content(text[1:], "--data")
            case text:
                return text.encode("utf-8", "surrogateescape")


def media_type(data: bytes | None) -> str | None:
    """Return what the data seems to be: JSON, text, or just bytes."""
    import msgspec

    if data is None:
        return None
    try:
        data.decode()
        msgspec.json.decode(data)
    except UnicodeDecodeError:
        return "application/octet-stream"
    except msgspec.MsgspecError:
        return "text/plain; charset=utf-8"
    return "application/json"
