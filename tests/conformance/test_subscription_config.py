"""Subscriptions API: `config` against what the services of this manager declare."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.api.served import Reply, Served, serving

covers = pytest.mark.covers


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server with a service of its own that declares what `config` may hold."""
    with serving(tmp_path_factory.mktemp("data")) as running:
        service = {
            "name": "clock",
            "specversions": ["1.0"],
            "subscriptionurl": f"http://127.0.0.1:{running.port}/subscriptions",
            "subscriptionconfig": {"interval": "Integer", "verbose": "Boolean"},
            "protocols": ["HTTP"],
            "events": [{"type": "com.example.tick"}],
        }
        assert running.post("/services", service).status == 201
        yield running


def create(served: Served, config: dict[str, Any]) -> Reply:
    body = {"protocol": "HTTP", "sink": "http://example.com/", "config": config}
    return served.post("/subscriptions", body)


@covers("SUB-026", "SUB-028")
def test_key_that_no_service_declares_is_refused_by_name(served: Served) -> None:
    reply = create(served, {"intervall": 5})

    assert (reply.status, reply.paths) == (400, ["config.intervall"])


@covers("SUB-027")
@pytest.mark.parametrize(
    ("config", "status"),
    [
        ({"interval": 5}, 201),
        ({"interval": "5"}, 201),
        ({"interval": 5, "verbose": True}, 201),
        ({}, 201),
        ({"interval": "soon"}, 400),
        ({"interval": 5.5}, 400),
        ({"interval": 5, "verbose": "maybe"}, 400),
    ],
)
def test_value_must_be_of_the_declared_type(
    served: Served, config: dict[str, Any], status: int
) -> None:
    reply = create(served, config)

    assert reply.status == status
    if status == 201:
        assert reply.document["config"] == config


@covers("SUB-026")
@pytest.mark.parametrize("method", ["PUT", "PATCH"])
def test_update_is_checked_too_and_changes_nothing(served: Served, method: str) -> None:
    made = create(served, {"interval": 5}).document
    body = {**made, "config": {"nosuch": 1}} if method == "PUT" else {"config": {"nosuch": 1}}

    reply = served.request(method, f"/subscriptions/{made['id']}", body)

    assert (reply.status, reply.paths) == (400, ["config.nosuch"])
    assert served.get(f"/subscriptions/{made['id']}").document == made
