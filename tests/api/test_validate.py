from __future__ import annotations

import json
from typing import Any

import pytest

from tests.api.registry import Client, clearing
from tests.api.served import BATCHED, BINARY, EVENT, STRUCTURED, Reply, Served

TYPE = "com.example.sold"
DEFINITION: dict[str, Any] = {
    "format": "CloudEvents/1.0",
    "metadata": {
        "attributes": {"type": {"value": TYPE}, "subject": {"value": "{shop}", "required": True}}
    },
    "schemaformat": "JsonSchema/draft-07",
    "schema": {"type": "object", "properties": {"amount": {"type": "number"}}},
}
GOOD = {**EVENT, "subject": "s", "data": {"amount": 5}}
BAD = {**EVENT, "data": {"amount": "x"}}


@pytest.fixture
def registry(served: Served) -> Client:
    """A registry that knows one type of events."""
    client = clearing(Client(served))
    client.created("/definitionGroups", {"id": "g", "definitions": {"d": DEFINITION}})
    return client


def validate(client: Client, body: object, headers: dict[str, str]) -> Reply:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    return client.served.request("POST", "/validate", content, headers)


def binary(**headers: str) -> dict[str, str]:
    return {**BINARY, **headers}


def test_event_is_taken_in_any_content_mode(registry: Client) -> None:
    good = [
        validate(registry, {"amount": 5}, binary(**{"ce-subject": "s"})),
        validate(registry, GOOD, STRUCTURED),
        validate(registry, [GOOD], BATCHED),
    ]
    bad = [
        validate(registry, {"amount": "x"}, BINARY),
        validate(registry, BAD, STRUCTURED),
        validate(registry, [BAD], BATCHED),
    ]

    assert [reply.status for reply in (*good, *bad)] == [200] * 6
    assert [reply.paths for reply in good] == [[], [], []]
    single = ["subject", "data/amount"]
    assert [reply.paths for reply in bad] == [single, single, [f"[0].{one}" for one in single]]


def test_answer_says_which_definition_judged(registry: Client) -> None:
    found = validate(registry, GOOD, STRUCTURED).document

    assert found == {
        "problems": [],
        "known": True,
        "definition": f"{registry.base}/definitionGroups/g/definitions/d",
    }
    assert registry.follow(found["definition"]).status == 200


def test_event_that_nobody_describes_is_not_known(registry: Client) -> None:
    found = validate(registry, {**EVENT, "type": "other"}, STRUCTURED).document

    assert found == {"problems": [], "known": False}


def test_each_event_of_a_batch_is_judged_by_itself(registry: Client) -> None:
    found = validate(registry, [GOOD, BAD, {**EVENT, "type": "other"}], BATCHED).document

    assert [len(each["problems"]) for each in found["events"]] == [0, 2, 0]
    assert [each["known"] for each in found["events"]] == [True, True, False]
    assert found["known"] is False
    assert [at["path"] for at in found["problems"]] == ["[1].subject", "[1].data/amount"]
    assert validate(registry, [], BATCHED).document == {
        "problems": [],
        "known": True,
        "events": [],
    }


@pytest.mark.parametrize(
    ("body", "headers", "status"),
    [
        (b"{", STRUCTURED, 400),
        (b"[" * 5_000, BATCHED, 400),
        (b"", {}, 400),
        (b"{}", STRUCTURED, 400),
        (b'{"a": 1}', {"content-type": "application/json"}, 400),
        (b"x", {"content-type": "application/cloudevents+x"}, 415),
    ],
)
def test_what_is_no_event_is_refused(
    registry: Client, body: bytes, headers: dict[str, str], status: int
) -> None:
    reply = validate(registry, body, headers)

    assert reply.status == status
    assert reply.headers["content-type"] == "application/problem+json"


def test_problems_of_what_is_no_event_are_all_named(registry: Client) -> None:
    reply = validate(registry, {"specversion": "1.0", "source": "a b"}, STRUCTURED)

    assert reply.status == 400
    assert set(reply.paths) == {"id", "source", "type"}


def test_nothing_is_published(registry: Client) -> None:
    head = registry.served.head()

    validate(registry, GOOD, STRUCTURED)

    assert registry.served.head() == head


def test_change_of_the_registry_counts_at_once(registry: Client) -> None:
    before = validate(registry, GOOD, STRUCTURED).paths

    changed = {**DEFINITION, "schema": {"type": "array"}}
    reply = registry.put("/definitionGroups/g/definitions/d", changed)
    after = validate(registry, GOOD, STRUCTURED).paths
    registry.delete("/definitionGroups/g")

    assert reply.status == 200
    assert (before, after) == ([], ["data"])
    assert validate(registry, GOOD, STRUCTURED).document["known"] is False


def test_schema_that_an_event_names_is_found_by_its_address(registry: Client) -> None:
    headers = {"registry-format": "JsonSchema/draft-07"}
    registry.make_schema("s")
    registry.add_schema("j", headers, '{"type": "array"}')
    named = {**EVENT, "type": "x", "dataschema": f"{registry.base}/schemaGroups/g1/schemas/j"}

    good = validate(registry, {**named, "data": []}, STRUCTURED)
    bad = validate(registry, {**named, "data": {}}, STRUCTURED)
    lost = validate(
        registry, {**named, "dataschema": f"{registry.base}/schemaGroups/x"}, STRUCTURED
    )

    assert [reply.paths for reply in (good, bad, lost)] == [[], ["data"], ["dataschema"]]


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE"])
def test_other_methods_are_refused(served: Served, method: str) -> None:
    reply = served.request(method, "/validate")

    assert (reply.status, reply.headers["allow"]) == (405, "POST,OPTIONS")
