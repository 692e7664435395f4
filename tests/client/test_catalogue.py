from __future__ import annotations

import asyncio
from typing import Any

import msgspec
import pytest

from penstock.client import AsyncClient, Client, Service
from penstock.config import Settings
from penstock.errors import ConflictError, NotFoundError, ResourceError

pytestmark = pytest.mark.network

WANTED = Service(
    name="gauges & more",
    specversions=("1.0",),
    subscriptionurl="https://events.example.com/subscriptions",
    protocols=("HTTP", "X-CUSTOM"),
    events=({"type": "a"},),
    more={"epoch": 5},
)


def test_service_lives_from_create_to_delete(client: Client) -> None:
    made = client.create_service(WANTED)

    assert made.document() | WANTED.document() == made.document()
    assert client.service(made.id) == client.service_named("GAUGES & more") == made
    assert made in client.services()
    changed = client.update_service(made.id, msgspec.structs.replace(made, description="new"))
    assert (changed.description, changed.discversion, changed.more) == ("new", 2, {"epoch": 5})
    assert client.delete_service(made.id) == changed
    with pytest.raises(NotFoundError):
        client.service(made.id)


def test_update_of_what_somebody_else_changed_is_a_conflict(client: Client) -> None:
    made = client.create_service(WANTED)
    client.update_service(made.id, msgspec.structs.replace(made, description="theirs"))

    with pytest.raises(ConflictError, match="discversion is 2, not 1"):
        client.update_service(made.id, msgspec.structs.replace(made, description="mine"))

    assert client.delete_service(made.id).description == "theirs"


def test_problems_of_a_document_come_back_with_their_paths(client: Client) -> None:
    document: dict[str, Any] = {**WANTED.document(), "name": "", "protocols": []}

    with pytest.raises(ResourceError) as caught:
        client.create_service(document)

    assert [problem.path for problem in caught.value.problems] == ["name", "protocols"]


def test_services_can_be_awaited(server: Settings) -> None:
    async def run() -> tuple[Service, ...]:
        async with AsyncClient(server.address) as client:
            return await client.services()

    assert "penstock" in [one.name for one in asyncio.run(run())]
