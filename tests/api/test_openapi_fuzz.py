"""Requests made up from our own OpenAPI document, against a live server process."""

from __future__ import annotations

import contextlib
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import msgspec
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, settings
from schemathesis import checks
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from penstock.api import openapi
from penstock.api.app import FRAGMENTS
from penstock.client import Client, Service, Subscription
from penstock.client.call import Call
from penstock.errors import PenstockError
from penstock.registry.kinds import MODEL
from tests.client import server as api

pytestmark = pytest.mark.network

DOCUMENT: Any = msgspec.json.decode(
    msgspec.json.encode(openapi.document([fragment() for fragment in FRAGMENTS]))
)
Case = schemathesis.Case[Any]
# Its systematic part takes most of the time, so that is left to the long run.
BRIEF = schemathesis.Config.from_dict({"phases": {"coverage": {"enabled": False}}})
brief = schemathesis.openapi.from_dict(DOCUMENT, config=BRIEF)
thorough = schemathesis.openapi.from_dict(DOCUMENT)
CHECKS: list[Any] = [
    checks.not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]
QUIET = settings(
    max_examples=6,
    deadline=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)


SCHEMA = (
    ("content-type", "application/json"),
    ("registry-id", "fuzzed"),
    ("registry-format", "JsonSchema/draft-07"),
)
NAMES = {
    "namespace": ["default"],
    "name": ["default"],
    "groups": ["schemaGroups"],
    "group": ["fuzzed"],
    "resources": ["schemas"],
    "resource": ["fuzzed"],
}


@dataclass(frozen=True, slots=True)
class Target:
    """A live server, and names of things that are there."""

    client: Client
    services: list[str]
    subscriptions: list[str]

    def known(self, case: Case, name: str) -> list[str]:
        """What a placeholder can stand for so that something is there."""
        if name == "id":
            return self.services if case.path.startswith("/services") else self.subscriptions
        return NAMES.get(name, ["1"])


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Target]:
    with (
        api.running(tmp_path_factory.mktemp("data")) as running,
        Client(running.address) as client,
    ):
        for number in range(30):
            client.create_service(a_service(f"fuzzed {number}"))
            client.create_subscription(Subscription(sink="http://127.0.0.1:9/"))
        yield Target(
            client,
            [one.id for one in client.services()],
            [one.id for one in client.subscriptions()],
        )


def fill_registry(client: Client) -> None:
    """Have something in the registry, whatever the last request did to it."""
    groups = "/registry/schemaGroups"
    for method, path, body in (
        ("PUT", "/registry/model", msgspec.json.encode(MODEL.document())),
        ("POST", groups, b'{"id": "fuzzed"}'),
        ("POST", f"{groups}/fuzzed/schemas", b"{}"),
    ):
        # It may be there already.
        with contextlib.suppress(PenstockError):
            client.send(Call(method, path, lambda _: None, SCHEMA, body))


def a_service(name: str) -> Service:
    place = "https://events.example.com/subscriptions"
    return Service(name=name, specversions=("1.0",), subscriptionurl=place, protocols=("HTTP",))


def hit(case: Case, target: Target) -> None:
    """Send a request, aimed at something that is there about every second time."""
    # By chance, but the same chance when the library tries a case again.
    chance = zlib.crc32(repr((case.path_parameters, case.query, case.body)).encode())
    if case.path_parameters and chance % 2:
        if case.path.startswith("/registry"):
            fill_registry(target.client)
        case.path_parameters = {
            name: known[chance % len(known)]
            for name in case.path_parameters
            for known in [target.known(case, name)]
        }
    # Without a pipeline the server is not ready, and says so.
    excluded: list[Any] = [checks.not_a_server_error] if case.path == "/readyz" else []
    case.call_and_validate(base_url=target.client.url, checks=CHECKS, excluded_checks=excluded)


@brief.parametrize()
@QUIET
def test_every_answer_is_documented(case: Case, target: Target) -> None:
    hit(case, target)


@pytest.mark.soak
@thorough.parametrize()
@settings(QUIET, max_examples=400)
def test_every_answer_is_documented_at_length(case: Case, target: Target) -> None:
    hit(case, target)
