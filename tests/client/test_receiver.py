from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable

import pytest
from pyreqwest.simple.request import pyreqwest_request

from penstock.bindings import http
from penstock.client import CloudEvent, Mode, event
from penstock.client.receiver import receiving
from penstock.errors import ResourceError

pytestmark = pytest.mark.network


def received(send: Callable[[str], Awaitable[None]]) -> list[CloudEvent]:
    """The events that a receiver got while something was sent to its address."""
    arrived: list[CloudEvent] = []

    async def run() -> None:
        async with receiving(arrived.append) as address:
            await send(address)

    asyncio.run(run())
    return arrived


def test_events_arrive_in_every_mode() -> None:
    made = event(type="t", source="/s", data={"a": 1})

    async def send(address: str) -> None:
        for mode in Mode:
            message = http.write(made, mode)
            headers = [(name.decode(), value.decode()) for name, value in message.headers]
            request = pyreqwest_request("POST", address).headers(headers)
            answer = await request.body_bytes(message.body).send()
            assert answer.status == 204

    assert received(send) == [made, made, made]


def test_what_is_no_event_is_refused_and_not_taken() -> None:
    async def send(address: str) -> None:
        answer = await pyreqwest_request("POST", address).body_text("hello").send()
        assert answer.status == 400
        assert "specversion" in await answer.text()

    assert received(send) == []


def test_handshake_allows_the_origin_that_asks() -> None:
    async def send(address: str) -> None:
        request = pyreqwest_request("OPTIONS", address)
        answer = await request.header("WebHook-Request-Origin", "sender.example").send()
        assert answer.status == 200
        assert answer.get_header("webhook-allowed-origin") == "sender.example"
        assert answer.get_header("webhook-allowed-rate") == "*"

    received(send)


def test_other_methods_are_refused() -> None:
    async def send(address: str) -> None:
        answer = await pyreqwest_request("GET", address).send()
        assert answer.status == 405
        assert answer.get_header("allow") == "POST, OPTIONS"

    received(send)


def test_nobody_listens_afterwards() -> None:
    addresses: list[str] = []

    async def send(address: str) -> None:
        addresses.append(address)

    received(send)

    port = int(addresses[0].rstrip("/").rpartition(":")[2])
    with socket.socket() as probe:
        assert probe.connect_ex(("127.0.0.1", port)) != 0


def test_address_of_another_machine_is_refused() -> None:
    async def run() -> None:
        async with receiving(lambda _: None, "192.0.2.1"):
            pass

    with pytest.raises(ResourceError, match=r"cannot listen on 192\.0\.2\.1"):
        asyncio.run(run())
