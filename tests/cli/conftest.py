from __future__ import annotations

from collections.abc import Iterator

import pytest

from penstock.client import Client
from penstock.config import Settings
from tests.client import server as api


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Settings]:
    """The settings of a running API."""
    with api.running(tmp_path_factory.mktemp("data")) as settings:
        yield settings


@pytest.fixture
def client(server: Settings) -> Iterator[Client]:
    """A client of the API, which has no subscriptions when a test starts."""
    with Client(server.address) as made:
        yield made
        for one in list(made.subscriptions()):
            made.delete_subscription(one.id)
