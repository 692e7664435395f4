"""Bad input of every kind is refused with its path, and never breaks the server."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.api.registry import JSON, Client, registry

NAMES = (
    *("id", "name", "description", "tags", "epoch", "docs", "format", "usage", "origin", "uri"),
    *("deprecated", "channel", "config", "definitionGroups", "definitions", "definitionsCount"),
    *("protocol", "endpoints", "options", "strict", "metadata", "attributes", "schema", "qos"),
    *("schemaformat", "schemaurl", "versions", "versionId", "schemaGroups", "schemas", "removal"),
    *("headers", "value", "type", "required", "will-message", "definition", "singular", "plural"),
    *("groups", "resources", "$schema", "specversion", "schemaBase64", "schemaUri", "a", ""),
)
TEXTS = (
    *("", "x", "CloudEvents/1.0", "AMQP/1.0", "MQTT/5.0", "HTTP/1.1", "Avro/1.9", "Protobuf/3"),
    *("JsonSchema/draft-07", "XSD/1.0", "consumer", "#/endpoints/x", "#/", "#", "{a}", "{a", "/"),
    *("https://h/x", "2030-01-01T00:00:00Z", "\ud800", "\x00", "ß", "a" * 200, "Kafka", "//[", "%"),
)
scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(TEXTS)
values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=5)
    ),
    max_leaves=25,
)
PATHS = (
    *("/", "/model", "/endpoints", "/schemaGroups", "/definitionGroups", "/endpoints/e1"),
    *("/definitionGroups/dg1/definitions", "/schemaGroups/g1/schemas", "/schemaGroups/g1"),
    *("/schemaGroups/g1/schemas/s1?meta", "/definitionGroups/dg1/definitions/d1"),
    *("/schemaGroups/g1/schemas/s1/versions/1?meta", "/schemaGroups/g1/schemas/s1"),
)


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    with registry(tmp_path_factory.mktemp("data")) as running:
        running.make_schema("s1")
        running.make_definition("d1")
        running.make_endpoint("e1")
        yield running


@settings(max_examples=250, suppress_health_check=list(HealthCheck))
@given(st.sampled_from(PATHS), st.sampled_from(("POST", "PUT", "DELETE")), values)
def test_no_document_breaks_the_server(
    client: Client, path: str, method: str, value: object
) -> None:
    if path == "/model" and method == "PUT" and isinstance(value, dict):
        value = {**value, "groups": [*_own(value), {"singular": 1}]}

    reply = client.send(method, path, json.dumps(value), JSON)

    assert reply.status < 500, (path, method, value, reply.body)


@settings(max_examples=150, suppress_health_check=list(HealthCheck))
@given(
    st.dictionaries(
        st.sampled_from(
            ("id", "name", "version", "epoch", "format", "type", "schemaURI", "x", "tags")
        ),
        st.text(st.characters(min_codepoint=32, max_codepoint=255), max_size=8),
    ),
    st.binary(max_size=20),
)
def test_no_header_breaks_the_server(
    client: Client, attributes: dict[str, str], body: bytes
) -> None:
    headers = {f"registry-{name}": text for name, text in attributes.items()}

    for method, path in (
        ("POST", "/schemaGroups/g1/schemas"),
        ("PUT", "/schemaGroups/g1/schemas/s1"),
    ):
        reply = client.send(method, path, body, headers)
        assert reply.status < 500, (method, headers, body, reply.body)


@settings(max_examples=150, suppress_health_check=list(HealthCheck))
@given(
    st.lists(
        st.sampled_from(("%", "/", "a", "%00", "%ff", "..", "?", "inline=", "&", "meta", ",", ".")),
        max_size=8,
    )
)
def test_no_path_breaks_the_server(client: Client, parts: list[str]) -> None:
    reply = client.get("/" + "".join(parts))

    assert reply.status < 500


def _own(value: dict[str, Any]) -> list[object]:
    groups = value.get("groups")
    return groups if isinstance(groups, list) else []
