"""Events as they arrive: a receiver and a subscription that live as long as a `with` block."""

from __future__ import annotations

import asyncio
import queue
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from typing import TYPE_CHECKING, Any

from penstock.events import CloudEvent

if TYPE_CHECKING:
    from penstock.client.awaiting import AsyncClient
    from penstock.client.blocking import Client

# Should this process be killed, the server is to give up soon on what it cannot deliver any more.
SETTINGS: Mapping[str, Any] = {"retry": 3, "backoffdelay": "PT1S", "timeout": 10}


@asynccontextmanager
async def awaiting(
    client: AsyncClient,
    wanted: Mapping[str, Any] | None = None,
    broker: str | None = None,
    host: str = "127.0.0.1",
    silence: float | None = None,
) -> AsyncIterator[AsyncIterator[CloudEvent]]:
    """Give the events that arrive, until nothing has come for `silence` seconds.

    `wanted` is a subscription as JSON document; its sink is filled in. The server must be able to
    reach us at `host`.
    """
    from penstock.client.receiver import receiving  # noqa: PLC0415 - most clients start no server

    arrived: asyncio.Queue[CloudEvent] = asyncio.Queue()
    async with receiving(arrived.put_nowait, host) as sink:
        made = await client.create_subscription(_document(wanted, sink), broker)
        try:
            yield _from_asyncio(arrived, silence)
        finally:
            await client.delete_subscription(made.id, broker)


@contextmanager
def blocking(
    client: Client,
    wanted: Mapping[str, Any] | None = None,
    broker: str | None = None,
    host: str = "127.0.0.1",
    silence: float | None = None,
) -> Iterator[Iterator[CloudEvent]]:
    """Give the events that arrive, until nothing has come for `silence` seconds.

    `wanted` is a subscription as JSON document; its sink is filled in. The server must be able to
    reach us at `host`.
    """
    from anyio.from_thread import start_blocking_portal  # noqa: PLC0415

    from penstock.client.receiver import receiving  # noqa: PLC0415 - most clients start no server

    arrived: queue.SimpleQueue[CloudEvent] = queue.SimpleQueue()
    with (
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(receiving(arrived.put, host)) as sink,
    ):
        made = client.create_subscription(_document(wanted, sink), broker)
        try:
            yield _from_thread(arrived, silence)
        finally:
            client.delete_subscription(made.id, broker)


def _document(wanted: Mapping[str, Any] | None, sink: str) -> Mapping[str, Any]:
    return {"protocolsettings": SETTINGS, **(wanted or {}), "protocol": "HTTP", "sink": sink}


async def _from_asyncio(
    arrived: asyncio.Queue[CloudEvent], silence: float | None
) -> AsyncIterator[CloudEvent]:
    while True:
        try:
            async with asyncio.timeout(silence):
                event = await arrived.get()
        except TimeoutError:
            return
        yield event


def _from_thread(
    arrived: queue.SimpleQueue[CloudEvent], silence: float | None
) -> Iterator[CloudEvent]:
    while True:
        try:
            yield arrived.get(timeout=silence)
        except queue.Empty:
            return
