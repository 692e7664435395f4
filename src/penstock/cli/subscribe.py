"""`penstock subscribe`."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from penstock.cli import screen
from penstock.cli.match import Match
from penstock.cli.options import Broker, Output, Server

if TYPE_CHECKING:
    from penstock.client import AsyncClient, CloudEvent, Subscription


@dataclass(frozen=True, slots=True)
class Until:
    """When to stop, and where to listen."""

    count: Annotated[
        int | None, typer.Option(min=1, help="Stop after so many events.", metavar="N")
    ] = None
    once: Annotated[bool, typer.Option("--once", help="Stop after one event.")] = False
    timeout: Annotated[
        float | None, typer.Option(min=0.0, help="Stop after so many seconds.", metavar="S")
    ] = None
    host: Annotated[
        str, typer.Option(help="Address to receive on; the server must be able to reach it.")
    ] = "127.0.0.1"

    @property
    def wanted(self) -> int | None:
        return 1 if self.once else self.count


def subscribe(match: Match, until: Until, broker: Broker, server: Server, output: Output) -> None:
    """Print events as they arrive.

    Starts a receiver on a free port, subscribes it, and deletes the subscription at the end.
    Stop it with Ctrl-C. The exit code is 1 when fewer than --count events arrived.
    """
    arrivals = Arrivals(_as_json if output.json else _for_people, until.wanted)
    asyncio.run(_listen(match, until, broker.broker, (server.url, arrivals)))
    if arrivals.missing:
        screen.note(f"{arrivals.missing} of {until.wanted} events did not arrive")
        raise typer.Exit(1)


class Arrivals:
    """Shows events until there are enough of them."""

    def __init__(self, show: Callable[[CloudEvent], None], wanted: int | None) -> None:
        self._show = show
        self._left = wanted
        self.over = asyncio.Event()
        self.failure: OSError | None = None

    @property
    def missing(self) -> int:
        return self._left or 0

    def take(self, event: CloudEvent) -> None:
        if self.over.is_set():
            return
        try:
            self._show(event)
        except OSError as exc:  # nobody reads our output any more
            self.failure = exc
            self.over.set()
        if self._left is not None:
            self._left -= 1
            if self._left == 0:
                self.over.set()


async def _listen(
    match: Match, until: Until, broker: str | None, ends: tuple[str | None, Arrivals]
) -> None:
    from penstock.client import AsyncClient
    from penstock.client.receiver import receiving
    from penstock.client.subscribing import SETTINGS

    url, arrivals = ends
    # Before anything is made: a signal must find us ready to clean up.
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, arrivals.over.set)
    async with AsyncClient(url) as client, receiving(arrivals.take, until.host) as sink:
        wanted = match.subscription(sink, SETTINGS)
        async with _subscribed(client, wanted, broker) as made:
            screen.note(f"subscribed as {made.id}, receiving at {sink}")
            try:
                async with asyncio.timeout(until.timeout):
                    await arrivals.over.wait()
            except TimeoutError:
                pass
    if arrivals.failure is not None:
        raise arrivals.failure


@asynccontextmanager
async def _subscribed(
    client: AsyncClient, wanted: Subscription, broker: str | None
) -> AsyncIterator[Subscription]:
    made = await client.create_subscription(wanted, broker)
    try:
        yield made
    finally:
        await client.delete_subscription(made.id, broker)


def _as_json(event: CloudEvent) -> None:
    from penstock.client import document

    typer.echo(document(event))


def _for_people(event: CloudEvent) -> None:
    import msgspec

    from penstock.client import document

    screen.event(msgspec.json.decode(document(event)))
