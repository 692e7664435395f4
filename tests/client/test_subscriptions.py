"""Subscriptions looked after through the client."""

from __future__ import annotations

import asyncio
import http.client
from urllib.parse import urlsplit

import pytest
from msgspec.structs import replace

from penstock.client import AsyncClient, Client, Subscription
from penstock.config import Settings
from penstock.errors import NotFoundError, PreconditionError, ResourceError

pytestmark = pytest.mark.network

LEAST = Subscription(sink="http://127.0.0.1:9/in")


def test_update_replaces_what_was_read(client: Client) -> None:
    made = client.create_subscription(LEAST)

    changed = client.update_subscription(replace(made, types=("a",)))

    assert changed.types == ("a",)
    assert changed.etag != made.etag
    assert client.subscription(made.id) == changed


def test_update_of_what_somebody_else_changed_is_refused(client: Client) -> None:
    made = client.create_subscription(LEAST)
    other = client.update_subscription(replace(made, types=("theirs",)))

    with pytest.raises(PreconditionError):
        client.update_subscription(replace(made, types=("ours",)))

    assert client.subscription(made.id) == other


def test_update_by_a_document_replaces_whatever_is_there(client: Client) -> None:
    made = client.create_subscription(LEAST)
    client.update_subscription(replace(made, types=("a",)))

    changed = client.update_subscription({"id": made.id, "protocol": "HTTP", "sink": "http://h/"})

    assert (changed.sink, changed.types) == ("http://h/", ())


def test_update_without_an_id_is_refused_before_it_is_sent(client: Client) -> None:
    with pytest.raises(ResourceError, match="id"):
        client.update_subscription(LEAST)


def test_patch_changes_only_what_it_names(client: Client) -> None:
    made = client.create_subscription(replace(LEAST, types=("a",), source="/s"))

    changed = client.patch_subscription(made.id, {"types": ["b"], "source": None})

    assert (changed.types, changed.source, changed.sink) == (("b",), None, made.sink)


def test_patch_and_delete_can_ask_for_a_version(client: Client) -> None:
    made = client.create_subscription(LEAST)
    client.patch_subscription(made.id, {"source": "/s"}, etag=made.etag)

    with pytest.raises(PreconditionError):
        client.patch_subscription(made.id, {"source": "/t"}, etag=made.etag)
    with pytest.raises(PreconditionError):
        client.delete_subscription(made.id, etag=made.etag)

    assert client.subscription(made.id).source == "/s"


def test_list_can_be_narrowed(client: Client) -> None:
    one = client.create_subscription(replace(LEAST, types=("a",)))
    client.create_subscription(replace(LEAST, types=("b",)))
    client.create_subscription(Subscription(sink="http://other/", types=("a",)))

    found = list(client.subscriptions(sink=LEAST.sink, type="a", protocol="HTTP"))

    assert [each.id for each in found] == [one.id]


def test_paused_subscription_can_be_resumed(client: Client) -> None:
    made = client.create_subscription(LEAST)

    paused = client.pause_subscription(made.id)
    state = client.subscription_status(made.id).state
    resumed = client.resume_subscription(made.id)

    assert (made.paused, paused.paused, state, resumed.paused) == (False, True, "paused", False)
    with pytest.raises(NotFoundError):
        client.pause_subscription("nobody")


def deliver(url: str, number: int) -> None:
    """Send an event to a sink, as the pipeline would."""
    connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=5)
    headers = {"ce-specversion": "1.0", "ce-id": str(number), "ce-source": "/s", "ce-type": "t"}
    connection.request("POST", "/", b"", headers)
    assert connection.getresponse().status == 204
    connection.close()


def test_subscribe_gives_events_as_they_arrive(client: Client) -> None:
    with client.subscribe({"types": ["t"]}, silence=5) as events:
        (made,) = client.subscriptions()
        for number in range(2):
            deliver(made.sink, number)
        arrived = [next(events).id, next(events).id]

    assert made.types == ("t",)
    assert arrived == ["0", "1"]
    assert list(client.subscriptions()) == []


def test_subscribe_ends_after_some_silence(client: Client) -> None:
    with client.subscribe(silence=0.01) as events:
        assert list(events) == []


def test_subscribe_works_in_asyncio_too(server: Settings) -> None:
    async def run() -> list[str]:
        async with AsyncClient(server.address) as client:
            async with client.subscribe(silence=5) as events:
                (made,) = [one async for one in client.subscriptions()]
                await asyncio.to_thread(deliver, made.sink, 7)
                arrived = [(await anext(events)).id]
            assert [one async for one in client.subscriptions()] == []
            return arrived

    assert asyncio.run(run()) == ["7"]
