"""`penstock publish`."""

from __future__ import annotations

import itertools
import time
import uuid
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from penstock.cli import screen
from penstock.cli.draft import Draft
from penstock.cli.options import Broker, Output, Server, content

if TYPE_CHECKING:
    from penstock.client import Client, CloudEvent

_BATCH = 500


@dataclass(frozen=True, slots=True)
class Manner:
    """How events are sent."""

    file: Annotated[
        str | None,
        typer.Option(
            help="File with one event, a JSON array of events, or one event per line; - for stdin.",
            metavar="FILE",
        ),
    ] = None
    mode: Annotated[
        Literal["binary", "structured", "batched"] | None,
        typer.Option(
            help="How an event is laid into a request.",
            show_default="binary for one event, batched for several",
        ),
    ] = None
    repeat: Annotated[
        int,
        typer.Option(
            min=1, help="Send everything this many times; repetitions get new ids.", metavar="N"
        ),
    ] = 1
    rate: Annotated[
        float | None, typer.Option(min=0.001, help="Events per second, at most.", metavar="R")
    ] = None
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Do not print the ids.")] = field(
        default=False
    )


def publish(draft: Draft, manner: Manner, broker: Broker, server: Server, output: Output) -> None:
    """Publish events and print the id of each that was accepted.

    Accepted means durable: the server answers when the event is on disk.
    All events are checked before the first is sent.
    """
    total, events = _events(draft, manner)
    group = _group(manner, total)
    count = 0
    try:
        with server.client() as client, _progress(total) as advance:
            send = _sender(client, manner, broker.broker)
            for batch in _paced(_grouped(events, group), manner.rate):
                send(batch)
                count += len(batch)
                if not manner.quiet:
                    _print(batch, json=output.json)
                advance(len(batch))
    finally:
        if total > 1:
            screen.note(f"published {count} of {total} events")


def _events(draft: Draft, manner: Manner) -> tuple[int, Iterator[CloudEvent]]:
    if manner.file is None:
        if manner.repeat > 1 and draft.id is not None:
            raise typer.BadParameter("every repetition needs an id of its own", param_hint="--id")
        event = draft.event()
        return manner.repeat, _repeated(lambda: iter([event]), manner.repeat)
    if draft.given():
        names = ", ".join(draft.given())
        raise typer.BadParameter(f"excludes {names}: the file has it all", param_hint="--file")

    from penstock.client import check_events, read_events

    body = content(manner.file, "--file")
    return check_events(body) * manner.repeat, _repeated(lambda: read_events(body), manner.repeat)


def _repeated(events: Callable[[], Iterator[CloudEvent]], times: int) -> Iterator[CloudEvent]:
    import msgspec

    yield from events()
    for event in itertools.chain.from_iterable(events() for _ in range(times - 1)):
        yield msgspec.structs.replace(event, id=str(uuid.uuid4()))


def _group(manner: Manner, total: int) -> int:
    """Return how many events go into one request."""
    if manner.mode in ("binary", "structured") or (manner.mode is None and total == 1):
        return 1
    # A slow pace is kept more evenly with small batches.
    return _BATCH if manner.rate is None else max(min(_BATCH, int(manner.rate / 5)), 1)


def _grouped(events: Iterable[CloudEvent], most: int) -> Iterator[list[CloudEvent]]:
    from penstock.client import batches

    return batches(events, most)


def _sender(
    client: Client, manner: Manner, broker: str | None
) -> Callable[[list[CloudEvent]], None]:
    from penstock.client import Mode

    def send(batch: list[CloudEvent]) -> None:
        if len(batch) > 1 or manner.mode == "batched":
            client.publish_batch(batch, broker)
        else:
            client.publish(batch[0], broker, Mode(manner.mode or "binary"))

    return send


def _paced(batches: Iterable[list[CloudEvent]], rate: float | None) -> Iterator[list[CloudEvent]]:
    """Yield the batches, each no earlier than the rate allows."""
    started, sent = time.monotonic(), 0
    for batch in batches:
        if rate is not None:
            time.sleep(max(started + sent / rate - time.monotonic(), 0.0))
        yield batch
        sent += len(batch)


def _print(batch: list[CloudEvent], *, json: bool) -> None:
    for event in batch:
        if json:
            fields = {"id": event.id, "source": event.source, "type": event.type}
            screen.json(fields, pretty=False)
        else:
            typer.echo(screen.clean(event.id))


@contextmanager
def _progress(total: int) -> Iterator[Callable[[int], None]]:
    """Show a bar while many events are sent and a person is watching."""
    import sys

    if total <= _BATCH or not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console
    from rich.progress import Progress

    # Ids on a terminal are printed above the bar; ids in a file or pipe are left alone.
    bar = Progress(console=Console(stderr=True), redirect_stdout=sys.stdout.isatty())
    with bar:
        task = bar.add_task("publishing", total=total)
        yield lambda count: bar.advance(task, count)
