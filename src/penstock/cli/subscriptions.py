"""`penstock subscriptions`."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from penstock.cli import screen
from penstock.cli.match import Match
from penstock.cli.options import Broker, Output, Server, content, pairs
from penstock.errors import Problem, ResourceError

if TYPE_CHECKING:
    from penstock.client import Subscription

_PANEL = "Delivery"
Id = Annotated[str, typer.Argument(metavar="ID", help="Id of the subscription.")]
Ids = Annotated[list[str], typer.Argument(metavar="ID", help="Ids of subscriptions.")]
Limit = Annotated[int, typer.Option(min=0, help="Most to show; 0 for all.", metavar="N")]


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
    mode: Annotated[
        Literal["binary", "structured"] | None,
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

    def document(self, match: Match) -> Subscription | Mapping[str, Any]:
        """Return the subscription to ask for."""
        if (self.sink is None) == (self.file is None):
            raise typer.BadParameter("give either a --sink or a --file", param_hint="--sink")
        if self.sink is not None:
            return match.subscription(self.sink, self.settings())
        if self.settings() or match != Match():
            hint = "excludes options that say what is in the file"
            raise typer.BadParameter(hint, param_hint="--file")
        return _read(content(str(self.file), "--file"))

    def settings(self) -> Mapping[str, Any]:
        """Return the protocol settings that are given."""
        given = {
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


def list_(broker: Broker, server: Server, output: Output, limit: Limit = 100) -> None:
    """List subscriptions."""
    with server.client() as client:
        found = client.subscriptions(broker.broker)
        shown = list(itertools.islice(found, limit or None))
        more = next(found, None) is not None
    if output.json:
        screen.json(shown)
    else:
        screen.table(("ID", "SINK", "EVENTS"), [(one.id, one.sink, _wanted(one)) for one in shown])
    if more:
        screen.note(f"there are more than {limit}: raise --limit, or use --limit 0 for all")


def show(id: Id, broker: Broker, server: Server, output: Output) -> None:  # noqa: A002
    """Show a subscription."""
    with server.client() as client:
        found = client.subscription(id, broker.broker)
    _print(found, output)


def status(id: Id, broker: Broker, server: Server, output: Output) -> None:  # noqa: A002
    """Show how the deliveries of a subscription go."""
    with server.client() as client:
        found = client.subscription_status(id, broker.broker)
    if output.json:
        screen.json(found)
        return
    names = ("matched", "delivered", "parked", "dead", "retried", "last_error")
    counts = {name.replace("_", " "): getattr(found.deliveries, name) for name in names}
    sink = {"sink": found.sink.state, "failures in a row": found.sink.failures}
    screen.fields({"stopped": found.stopped, **counts, **sink, "cause": found.sink.cause})


def create(wish: Wish, match: Match, broker: Broker, server: Server, output: Output) -> None:
    """Create a subscription and print its id.

    It receives every event that is published from now on and matches.
    """
    with server.client() as client:
        made = client.create_subscription(wish.document(match), broker.broker)
    if output.json:
        screen.json(made)
    else:
        typer.echo(made.id)


def delete(ids: Ids, broker: Broker, server: Server, output: Output) -> None:
    """Delete subscriptions."""
    with server.client() as client:
        gone = [client.delete_subscription(one, broker.broker) for one in ids]
    if output.json:
        screen.json(gone)
    else:
        for one in gone:
            typer.echo(f"deleted {one.id}")


def _read(body: bytes) -> Mapping[str, Any]:
    import msgspec

    try:
        # As it is: the server is generous about how a subscription is written.
        return msgspec.json.decode(body, type=dict[str, Any])
    except msgspec.MsgspecError as exc:
        raise ResourceError([Problem("--file", f"holds no JSON object: {exc}")]) from exc


def _print(subscription: Subscription, output: Output) -> None:
    import msgspec

    if output.json:
        screen.json(subscription)
    else:
        screen.fields(msgspec.to_builtins(subscription) | {"protocol": subscription.protocol})


def _wanted(subscription: Subscription) -> str:
    """Return in a few words which events a subscription is for."""
    import msgspec

    parts = [
        f"type {' or '.join(subscription.types)}" if subscription.types else "",
        f"source {subscription.source}" if subscription.source else "",
        msgspec.json.encode(subscription.filters).decode() if subscription.filters else "",
    ]
    return ", ".join(filter(None, parts)) or "all"
