from __future__ import annotations

import asyncio
import inspect

import pytest

from penstock.client import AsyncClient, Client, Subscription, event
from penstock.config import Settings
from penstock.errors import NotFoundError

pytestmark = pytest.mark.network


def public(kind: type) -> dict[str, object]:
    """The methods of a class with their parameters."""
    return {
        name: list(inspect.signature(value).parameters)
        for name, value in vars(kind).items()
        if not name.startswith("_") and callable(value)
    }


def test_both_clients_can_do_the_same() -> None:
    assert public(AsyncClient) == public(Client)


def test_methods_tell_what_they_do() -> None:
    missing = [
        name
        for name in public(AsyncClient)
        if name != "close" and not inspect.getdoc(getattr(AsyncClient, name))
    ]

    assert not missing


def test_subscription_lives_from_create_to_delete(server: Settings) -> None:
    async def run() -> None:
        async with AsyncClient(server.address) as client:
            made = await client.create_subscription(Subscription(sink="http://h/"))
            assert made.id in [one.id async for one in client.subscriptions(limit=1)]
            assert (await client.delete_subscription(made.id)).id == made.id
            with pytest.raises(NotFoundError):
                await client.subscription(made.id)

    asyncio.run(run())


def test_many_publish_at_once(server: Settings) -> None:
    events = [event(type="t", source="/s") for _ in range(20)]

    async def run() -> list[str]:
        async with AsyncClient(server.address) as client:
            return await asyncio.gather(*map(client.publish, events))

    assert asyncio.run(run()) == [one.id for one in events]


def test_nobody_there_is_said() -> None:
    async def run() -> None:
        async with AsyncClient("http://127.0.0.1:1") as client:
            await client.readiness()

    with pytest.raises(NotFoundError, match="nothing answers"):
        asyncio.run(run())
