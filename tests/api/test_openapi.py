"""The OpenAPI document says what the server does, no more and no less."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from starlette.routing import Route

from penstock.api import openapi
from penstock.api.app import FRAGMENTS, ROUTERS
from tests.api.served import BINARY, Served

PUBLISHING = {"/events", "/brokers/{namespace}/{name}", "/channels/{namespace}/{name}"}
DOCUMENT: Any = msgspec.json.decode(
    msgspec.json.encode(openapi.document([fragment() for fragment in FRAGMENTS]))
)
PLACES = {
    "namespace": "default",
    "name": "default",
    "id": "x",
    "number": "1",
    "groups": "schemaGroups",
    "group": "com.example.orders",
    "resources": "schemas",
    "resource": "r",
    "version": "1",
    "key": "k",
}
# Below it one application finds its own way.
REGISTRY = "/registry/{rest}"
# Nothing is there yet.
UNKNOWN = {"{number}", "{resource}", "channels"}
HEADERS = {**BINARY, "registry-format": "JsonSchema/draft-07"}
METHODS = {"get", "post", "put", "patch", "delete", "options"}


def routes(served: Served) -> set[str]:
    """The paths that the application knows."""
    found = [route for router in ROUTERS for route in router(served.control)]
    found += openapi.routes(served.control, FRAGMENTS)
    assert all(isinstance(route, Route) for route in found)
    # One slash more at the end leads to the same.
    paths = {re.sub(r":\w+}", "}", getattr(route, "path", "")) for route in found}
    return {path.rstrip("/") or "/" for path in paths}


def references(part: Any) -> Iterator[str]:  # noqa: ANN401 - any JSON value
    if isinstance(part, dict):
        if isinstance(part.get("$ref"), str):
            yield part["$ref"]
        part = list(part.values())
    for inner in part if isinstance(part, list) else ():
        yield from references(inner)


def test_document_has_every_path_and_no_other(served: Served) -> None:
    known = routes(served) | PUBLISHING | {"/metrics"}

    described = {
        REGISTRY if place.startswith("/registry/") else place for place in DOCUMENT["paths"]
    }
    assert described == known


@pytest.mark.parametrize("place", sorted(set(DOCUMENT["paths"]) - PUBLISHING))
def test_path_has_every_method_and_no_other(served: Served, place: str) -> None:
    path = re.sub(r"{(\w+)}", lambda match: PLACES.get(match[1], "x"), place)

    allow = served.request("OPTIONS", path).headers["allow"]

    known = {method.strip().lower() for method in allow.split(",")}
    assert DOCUMENT["paths"][place].keys() & METHODS == known


@pytest.mark.parametrize("place", sorted(PUBLISHING))
def test_events_are_only_posted(place: str) -> None:
    assert DOCUMENT["paths"][place].keys() - {"parameters"} == {"post", "options"}


def test_served_document_names_the_server_as_the_client_does(served: Served) -> None:
    reply = served.request("GET", "/openapi.json", headers={"host": "events.example.com"})

    assert reply.headers["content-type"] == "application/json"
    assert reply.document["servers"] == [{"url": "http://events.example.com"}]
    assert reply.document == {**DOCUMENT, "servers": reply.document["servers"]}


def test_references_lead_somewhere() -> None:
    for reference in references(DOCUMENT):
        found = DOCUMENT
        for key in reference.removeprefix("#/").split("/"):
            found = found[key]
        assert found


def test_operations_have_names_of_their_own() -> None:
    names = [
        operation["operationId"]
        for item in DOCUMENT["paths"].values()
        for method, operation in item.items()
        if method in METHODS
    ]

    assert len(set(names)) == len(names)


def test_examples_of_requests_are_accepted(served: Served) -> None:
    refused = {
        (place, kind): reply.body
        for place, item in DOCUMENT["paths"].items()
        for kind, content in item.get("post", {}).get("requestBody", {}).get("content", {}).items()
        if "example" in content and not UNKNOWN & set(place.split("/"))
        for reply in [
            served.post(
                place.format(**PLACES),
                msgspec.json.encode(content["example"]),
                {**(HEADERS if kind == "application/json" else {}), "content-type": kind},
            )
        ]
        if reply.status not in {200, 201, 202, 409}
    }

    assert not refused


def test_page_loads_nothing_from_elsewhere(served: Served) -> None:
    reply = served.get("/docs")

    page = reply.body.decode()
    assert reply.headers["content-type"].startswith("text/html")
    assert "default-src 'none'" in reply.headers["content-security-policy"]
    assert not re.search(r"""(?:src|href)=["']?(?:https?:)?//|@import|\burl\(|\bimport\(""", page)
    assert len(page.splitlines()) < 400
