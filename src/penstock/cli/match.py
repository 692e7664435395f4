"""Options that say which events are wanted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any

import typer

from penstock.cli.options import pairs

if TYPE_CHECKING:
    from penstock.client import Subscription

_PAIR = "NAME=VALUE"
_PANEL = "Which events"


@dataclass(frozen=True, slots=True)
class Match:
    """What an event must be like; everything given must hold."""

    types: Annotated[
        list[str],
        typer.Option(
            "--type",
            metavar="TEXT",
            help="Type of the event; give several for any of them.",
            rich_help_panel=_PANEL,
        ),
    ] = field(default_factory=list)
    source: Annotated[
        str | None, typer.Option(help="Source of the event, exactly.", rich_help_panel=_PANEL)
    ] = None
    exact: Annotated[
        list[str],
        typer.Option(help="An attribute equals the value.", metavar=_PAIR, rich_help_panel=_PANEL),
    ] = field(default_factory=list)
    prefix: Annotated[
        list[str],
        typer.Option(
            help="An attribute starts with the value.", metavar=_PAIR, rich_help_panel=_PANEL
        ),
    ] = field(default_factory=list)
    suffix: Annotated[
        list[str],
        typer.Option(
            help="An attribute ends with the value.", metavar=_PAIR, rich_help_panel=_PANEL
        ),
    ] = field(default_factory=list)
    filter: Annotated[
        list[str],
        typer.Option(
            help="A filter of the Subscriptions API, or an array of them, as JSON.",
            metavar="JSON",
            rich_help_panel=_PANEL,
        ),
    ] = field(default_factory=list)

    def subscription(self, sink: str, settings: Mapping[str, Any]) -> Subscription:
        """Return a subscription that sends these events to a sink."""
        from penstock.client import Subscription

        return Subscription(
            sink=sink,
            source=self.source,
            types=tuple(self.types),
            filters=self.filters(),
            protocolsettings=settings,
        )

    def filters(self) -> tuple[Mapping[str, Any], ...]:
        """Return the filter documents that the options stand for."""
        given = {"exact": self.exact, "prefix": self.prefix, "suffix": self.suffix}
        short = [
            {dialect: pairs(values, f"--{dialect}")} for dialect, values in given.items() if values
        ]
        return (*short, *(one for text in self.filter for one in _documents(text)))


def _documents(text: str) -> Iterator[Mapping[str, Any]]:
    import msgspec

    try:
        found = msgspec.json.decode(text, type=dict[str, Any] | list[dict[str, Any]])
    except msgspec.MsgspecError as exc:
        hint = f"{text!r} is neither a JSON object nor an array of them: {exc}"
        raise typer.BadParameter(hint, param_hint="--filter") from exc
    yield from found if isinstance(found, list) else [found]
