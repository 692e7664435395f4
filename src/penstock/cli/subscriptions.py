"""`penstock subscriptions`."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer

from penstock.cli import screen
from penstock.cli.match import Match
from penstock.cli.options import Broker, Output, Place, Server
from penstock.cli.wish import Change, Wish

if TYPE_CHECKING:
    from penstock.client import Status, Subscription

Id = Annotated[str, typer.Argument(metavar="ID", help="Id of the subscription.")]
Ids = Annotated[list[str], typer.Argument(metavar="ID", help="Ids of subscriptions.")]
Limit = Annotated[int, typer.Option(min=0, help="Most to show; 0 for all.", metavar="N")]


@dataclass(frozen=True, slots=True)
class Only:
    """Which subscriptions are listed."""

    sink: Annotated[str | None, typer.Option(help="Only those with this sink.")] = None
    type: Annotated[str | None, typer.Option(help="Only those that name this type.")] = None
    protocol: Annotated[str | None, typer.Option(help="Only those of this protocol.")] = None


def list_(only: Only, broker: Broker, server: Server, output: Output, limit: Limit = 100) -> None:
    """List subscriptions."""
    with server.client() as client:
        found = client.subscriptions(broker.broker, **asdict(only))
        shown = list(itertools.islice(found, limit or None))
        more = next(found, None) is not None
    if output.json:
        screen.json(shown)
    else:
        rows = [(one.id, _state(one), one.sink, _wanted(one)) for one in shown]
        screen.table(("ID", "STATE", "SINK", "EVENTS"), rows)
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
    screen.fields(_standing(found))


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


def update(id: Id, change: Change, match: Match, place: Place, output: Output) -> None:  # noqa: A002
    """Change a subscription.

    What is given becomes different, all else stays; --file replaces all of it.
    """
    with place.client() as client:
        if change.file is None:
            made = client.patch_subscription(id, change.patch(match), place.broker)
        else:
            made = client.update_subscription({**change.whole(match), "id": id}, place.broker)
    _print(made, output)


def pause(ids: Ids, broker: Broker, server: Server, output: Output) -> None:
    """Pause subscriptions: their events wait until they are resumed."""
    with server.client() as client:
        done = [client.pause_subscription(one, broker.broker) for one in ids]
    _tell("paused", done, output)


def resume(ids: Ids, broker: Broker, server: Server, output: Output) -> None:
    """Resume subscriptions: what waited is delivered, and what comes from now on."""
    with server.client() as client:
        done = [client.resume_subscription(one, broker.broker) for one in ids]
    _tell("resumed", done, output)


def delete(ids: Ids, broker: Broker, server: Server, output: Output) -> None:
    """Delete subscriptions."""
    with server.client() as client:
        gone = [client.delete_subscription(one, broker.broker) for one in ids]
    _tell("deleted", gone, output)


def _tell(done: str, subscriptions: Iterable[Subscription], output: Output) -> None:
    if output.json:
        screen.json(subscriptions)
    else:
        for one in subscriptions:
            typer.echo(f"{done} {one.id}")


def _state(subscription: Subscription) -> str:
    return "paused" if subscription.paused else "active"


def _standing(status: Status) -> dict[str, object]:
    """Return the status in the order in which a person asks."""
    error, sums = status.last_error, status.deliveries
    answer = f", answered {error.status}" if error and error.status else ""
    return {
        "state": status.state,
        "reason": status.reason,
        "backlog": status.backlog.events,
        "unread": status.backlog.unread,
        "parked": status.backlog.parked,
        "matched": sums.matched,
        "delivered": sums.delivered,
        "dead": sums.dead,
        "retried": sums.retried,
        "per second": f"{status.rates.get('delivered', 0.0):.1f} delivered",
        "catching up": status.catchup and f"{status.catchup.remaining} events to go",
        "last success": _moment(status.last_success),
        "last error": error and f"{_moment(error.at)}: {error.cause}{answer}",
        "next retry": _moment(status.next_retry),
        "sink": status.sink.state,
        "failures in a row": status.sink.failures,
        "cause": status.sink.cause,
    }


def _moment(seconds: float | None) -> str | None:
    if seconds is None:
        return None
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%SZ")


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
