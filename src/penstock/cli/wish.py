"""Options that say where events go, and how."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

import typer

from penstock.cli.match import Match
from penstock.cli.options import content, pairs
from penstock.errors import Problem, ResourceError

_PANEL = "Delivery"
_PROPERTIES = frozenset({"source", "types", "filters", "config", "sinkCredential"})


@dataclass(frozen=True, slots=True)
class Wish:
    """What is to receive events, and how they are to be delivered."""

    sink: Annotated[
        str | None, typer.Option(help="Address that receives the events.", metavar="URL")
    ] = None
    file: Annotated[
        str | None,
        typer.Option(
            help="File with a whole subscription as JSON, instead; - for stdin.", metavar="FILE"
        ),
    ] = None
    protocol: Annotated[
        str | None,
        typer.Option(
            help="Protocol of the deliveries.", show_default="HTTP", rich_help_panel=_PANEL
        ),
    ] = None
    mode: Annotated[
        Literal["binary", "structured", "batch"] | None,
        typer.Option(help="How an event is laid into a request.", rich_help_panel=_PANEL),
    ] = None
    header: Annotated[
        list[str],
        typer.Option(help="Header of every request.", metavar="NAME=VALUE", rich_help_panel=_PANEL),
    ] = field(default_factory=list)
    method: Annotated[
        str | None, typer.Option(help="HTTP method of the requests.", rich_help_panel=_PANEL)
    ] = None
    timeout: Annotated[
        float | None,
        typer.Option(help="Seconds to wait for an answer.", metavar="S", rich_help_panel=_PANEL),
    ] = None
    retry: Annotated[
        int | None,
        typer.Option(
            help="Retries after the first attempt.",
            show_default="as many as fit into 24 hours",
            metavar="N",
            rich_help_panel=_PANEL,
        ),
    ] = None
    backoff_delay: Annotated[
        str | None,
        typer.Option(
            help="Wait before the first retry, like PT2S.",
            metavar="DURATION",
            rich_help_panel=_PANEL,
        ),
    ] = None
    backoff_policy: Annotated[
        Literal["linear", "exponential"] | None,
        typer.Option(help="How waits grow.", rich_help_panel=_PANEL),
    ] = None
    dead_letter_sink: Annotated[
        str | None,
        typer.Option(
            help="Address that receives what could not be delivered.",
            metavar="URL",
            rich_help_panel=_PANEL,
        ),
    ] = None
    max_in_flight: Annotated[
        int | None,
        typer.Option(
            help="Most requests waiting for an answer.", metavar="N", rich_help_panel=_PANEL
        ),
    ] = None
    setting: Annotated[
        list[str],
        typer.Option(
            help="Any other setting of the protocol; the value is JSON or else text.",
            metavar="NAME=VALUE",
            rich_help_panel=_PANEL,
        ),
    ] = field(default_factory=list)
    config: Annotated[
        list[str],
        typer.Option(
            help="Configuration, such as startfrom=earliest.",
            metavar="NAME=VALUE",
            rich_help_panel="Which events",
        ),
    ] = field(default_factory=list)

    def document(self, match: Match) -> Mapping[str, Any]:
        """Return the subscription to ask for."""
        if (self.sink is None) == (self.file is None):
            raise typer.BadParameter("give either a --sink or a --file", param_hint="--sink")
        if self.sink is None:
            return self.whole(match)
        return {"protocol": "HTTP", **self.parts(match)}

    def parts(self, match: Match) -> dict[str, Any]:
        """Return the properties that are given."""
        given: dict[str, Any] = {
            "sink": self.sink,
            "protocol": self.protocol,
            "source": match.source,
            "types": match.types,
            "filters": list(match.filters()),
            "config": values(self.config, "--config"),
            "protocolsettings": self.settings(),
        }
        return {name: value for name, value in given.items() if value not in (None, [], {})}

    def whole(self, match: Match) -> dict[str, Any]:
        """Return the subscription that is in the file."""
        if self.parts(match):
            hint = "excludes options that say what is in the file"
            raise typer.BadParameter(hint, param_hint="--file")
        return _read(content(str(self.file), "--file"))

    def settings(self) -> dict[str, Any]:
        """Return the protocol settings that are given."""
        given = {
            **values(self.setting, "--setting"),
            "contentmode": self.mode,
            "headers": pairs(self.header, "--header"),
            "method": self.method,
            "timeout": self.timeout,
            "retry": self.retry,
            "backoffdelay": self.backoff_delay,
            "backoffpolicy": self.backoff_policy,
            "deadlettersink": self.dead_letter_sink,
            "maxinflight": self.max_in_flight,
        }
        return {name: value for name, value in given.items() if value not in (None, {})}


@dataclass(frozen=True, slots=True)
class Change(Wish):
    """What is to be different."""

    unset: Annotated[
        list[str],
        typer.Option(
            help="Property or protocol setting to remove, such as types or retry.", metavar="NAME"
        ),
    ] = field(default_factory=list)

    def patch(self, match: Match) -> dict[str, Any]:
        """Return the merge patch that makes the change."""
        made = self.parts(match)
        for name in self.unset:
            if name in _PROPERTIES:
                made[name] = None
            else:
                made.setdefault("protocolsettings", {})[name] = None
        if not made:
            raise typer.BadParameter("say what is to change", param_hint="--unset")
        return made


def values(given: Iterable[str], name: str) -> dict[str, Any]:
    """Return pairs whose values are JSON, or else text."""
    return {key: _value(text) for key, text in pairs(given, name).items()}


def _value(text: str) -> Any:  # noqa: ANN401 - any JSON value
    import msgspec

    try:
        return msgspec.json.decode(text)
    except msgspec.MsgspecError:
        return text


def _read(body: bytes) -> dict[str, Any]:
    import msgspec

    try:
        # As it is: the server is generous about how a subscription is written.
        return msgspec.json.decode(body, type=dict[str, Any])
    except msgspec.MsgspecError as exc:
        raise ResourceError([Problem("--file", f"holds no JSON object: {exc}")]) from exc
