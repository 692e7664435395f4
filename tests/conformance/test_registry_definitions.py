"""The Registry Service: message definitions in each format, over real HTTP."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.api.registry import EVENT, RECORD, Client, clearing, registry
from tests.api.served import Reply

covers = pytest.mark.covers
GROUP = "/definitionGroups/dg1/definitions"
D = f"{GROUP}/d1"
URL = "https://example.com/schemas/com.example.myevent.json"
HTTP: dict[str, Any] = {
    "headers": [{"name": "Content-Type", "value": "application/json"}],
    "query": {"foo": "bar"},
    "path": "/foo/{bar}",
    "method": "POST",
}
AMQP: dict[str, Any] = {
    "properties": {
        "message-id": {"required": True},
        "to": {"value": "https://{host}/{queue}"},
        "subject": {"value": "MyMessageType", "required": True},
        "content-type": {"value": "application/json"},
        "content-encoding": {"value": "utf-8"},
    },
    "application-properties": {
        "my-application-property": {"value": "my-application-property-value"}
    },
}
MQTT: dict[str, Any] = {
    "qos": {"value": 1},
    "retain": {"value": False},
    "topic-name": {"value": "{deviceid}/telemetry"},
}
FIVE: dict[str, Any] = {
    "payload-format": {"value": 1},
    "message-expiry-interval": {"value": 60},
    "response-topic": {"value": "{a}/b"},
    "correlation-data": {"value": "AAA="},
    "content-type": {"value": "application/json"},
    "user-properties": [
        {"my-application-property": {"value": "x"}},
        {"my-application-property": {"value": "y"}},
    ],
}
KAFKA: dict[str, Any] = {
    "topic": {"value": "t-{x}"},
    "partition": {"value": 3},
    "key": {"value": "thisdevice"},
    "headers": {"h": {"value": "{x}"}},
    "timestamp": {"value": 0},
}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    with registry(tmp_path_factory.mktemp("data")) as running:
        yield running


@pytest.fixture
def client(server: Client) -> Client:
    clearing(server).created("/definitionGroups", {"id": "dg1"})
    return server


def propose(client: Client, metadata: Any, format_: str = "CloudEvents/1.0", **more: Any) -> Reply:  # noqa: ANN401
    return client.post(GROUP, {"id": "d1", "format": format_, "metadata": metadata, **more})


def declare(client: Client, **attributes: Any) -> Reply:  # noqa: ANN401
    return propose(client, {"attributes": attributes})


def good(ids: str, metadata: dict[str, Any], format_: str) -> Any:  # noqa: ANN401
    return pytest.param(metadata, format_, marks=covers(*ids.split()), id=f"{ids} {format_}")


def bad(ids: str, metadata: dict[str, Any], format_: str, path: str) -> Any:  # noqa: ANN401
    return pytest.param(metadata, format_, path, marks=covers(*ids.split()), id=f"{ids} {path}")


@covers("REG-209")
def test_definition_lives_in_a_group(client: Client) -> None:
    assert client.get("/definitions").status == 404
    assert client.post("/definitions", EVENT).status == 404
    assert propose(client, {}).status == 201


@covers("REG-210")
@pytest.mark.parametrize("format_", ["CloudEvents/1.0", "MQTT/3.1.1", "AMQP/1.0", "Kafka/0.11"])
def test_group_of_definitions_has_a_message_format(client: Client, format_: str) -> None:
    made = client.created("/definitionGroups", {"id": "x", "format": format_})

    assert made["format"] == format_
    assert client.post("/definitionGroups", {"format": ""}).paths == ["format"]


@covers("REG-211", "REG-171")
def test_formats_of_others_are_kept_as_they_are(client: Client) -> None:
    reply = propose(client, {"anything": [1, {"goes": None}]}, "AcmeMsg/1")

    assert reply.status == 201
    assert client.get(D).document["metadata"] == {"anything": [1, {"goes": None}]}


@covers("REG-214")
def test_format_is_taken_from_the_group_and_given_to_it(client: Client) -> None:
    nowhere = client.post(GROUP, {"metadata": {}})
    propose(client, {}, "AMQP/1.0")
    inferred = client.post(GROUP, {"id": "d2", "metadata": {}})

    assert (nowhere.status, nowhere.paths) == (400, ["format"])
    assert client.get("/definitionGroups/dg1").document["format"] == "AMQP/1.0"
    assert inferred.document["format"] == "AMQP/1.0"
    assert client.put("/definitionGroups/dg1", {"format": "MQTT/5.0"}).paths == ["format"]


@covers("REG-216")
@pytest.mark.parametrize("metadata", [None, [], "x"])
def test_metadata_is_a_required_object(client: Client, metadata: object) -> None:
    reply = propose(client, metadata)

    assert (reply.status, reply.paths) == (400, ["metadata"])


@covers("REG-217", "REG-218", "REG-219")
@pytest.mark.parametrize(
    ("more", "paths"),
    [
        ({"schemaformat": ""}, ["schemaformat"]),
        ({"schemaformat": "Avro"}, ["schemaformat"]),
        ({"schema": {}}, ["schemaformat"]),
        ({"schemaurl": URL}, ["schemaformat"]),
        ({"schemaformat": "Acme/1", "schema": "x", "schemaurl": URL}, ["schemaurl"]),
        ({"schemaformat": "XSD/1.0", "schema": {}}, ["schema"]),
    ],
)
def test_schema_of_a_definition_is_complete_and_single(
    client: Client, more: dict[str, Any], paths: list[str]
) -> None:
    reply = propose(client, {}, **more)

    assert (reply.status, reply.paths) == (400, paths)


@covers("REG-218", "REG-219")
@pytest.mark.parametrize("carrier", [{"schema": {"type": "string"}}, {"schemaurl": URL}])
def test_definition_has_a_schema_or_its_address(client: Client, carrier: dict[str, Any]) -> None:
    assert propose(client, {}, schemaformat="JsonSchema/draft-07", **carrier).status == 201
    assert carrier.items() <= client.get(D).document.items()


def test_schema_format_is_taken_from_the_schema_that_is_referred_to(client: Client) -> None:
    client.make_schema("s1")
    local = "#/schemaGroups/g1/schemas/s1"

    assert propose(client, {}, schemaurl=local).document["schemaformat"] == "Avro/1.9"
    assert propose(client, {}, id="d2", schemaurl=f"{local}x").status == 400


@covers("REG-220", "REG-204")
@pytest.mark.parametrize(
    ("suffix", "status"), [(":B", 201), (":C", 201), (":None", 400), ("", 400)]
)
def test_schema_url_chooses_one_object(client: Client, suffix: str, status: int) -> None:
    one, other = (RECORD.replace('"A"', f'"{name}"') for name in "BC")
    client.created("/schemaGroups", {"id": "g1"})
    assert client.add_schema("s1", {}, f"[{one},{other}]").status == 201

    reply = propose(
        client, {}, schemaformat="Avro/1.9", schemaurl=f"#/schemaGroups/g1/schemas/s1{suffix}"
    )

    assert reply.status == status
    assert status == 201 or reply.paths == ["schemaurl"]


@covers("REG-221", "REG-222", "REG-223", "REG-229", "REG-231")
@pytest.mark.parametrize(
    ("entry", "path"),
    [
        ({"required": "yes"}, "required"),
        ({"description": ""}, "description"),
        ({"type": "integer", "value": "x"}, "value"),
        ({"type": "float"}, "type"),
        ({"specurl": "a b"}, "specurl"),
    ],
)
def test_wrong_declaration_is_refused(client: Client, entry: dict[str, Any], path: str) -> None:
    reply = declare(client, subject=entry)

    assert (reply.status, reply.paths) == (400, [f"metadata.attributes.subject.{path}"])


@covers("REG-222", "REG-231")
def test_declaration_comes_back(client: Client) -> None:
    entry = {"required": True, "description": "d", "type": "string", "specurl": "/spec#x"}

    assert declare(client, subject=entry).status == 201
    assert client.get(D).document["metadata"]["attributes"]["subject"] == entry


@covers("REG-229", "REG-230")
@pytest.mark.parametrize(
    ("type_", "value", "wrong"),
    [
        ("boolean", True, "maybe"),
        ("string", "x", 1),
        ("symbol", "a_1", "a-b"),
        ("binary", "AAA=", "A"),
        ("timestamp", "2030-12-19T06:00:00Z", "yesterday"),
        ("timestamp", "01-01-0000T00:00:00Z", "01-02-0000T00:00:00Z"),
        ("duration", "P1DT2H", "1 day"),
        ("uritemplate", "{a}/b", "{a/b"),
        ("uri", "https://h/x", "x y"),
        ("urireference", "/x", "a b"),
        ("number", 1.5, "one"),
        ("integer", 7, 7.5),
    ],
)
def test_value_is_of_its_type(client: Client, type_: str, value: object, wrong: object) -> None:
    refused = declare(client, myext={"type": type_, "value": wrong})

    assert refused.paths == ["metadata.attributes.myext.value"]
    assert declare(client, myext={"type": type_, "value": value}).status == 201


@covers("REG-229", "REG-230")
@pytest.mark.parametrize("value", [None, {"a": 1}, "x", False])
def test_var_is_anything(client: Client, value: object) -> None:
    assert declare(client, myext={"type": "var", "value": value}).status == 201


def test_datetime_is_another_name_of_timestamp(client: Client) -> None:
    declare(client, time={"type": "datetime"})

    assert client.get(D).document["metadata"]["attributes"]["time"]["type"] == "timestamp"


@covers("REG-224")
@pytest.mark.parametrize("value", ["{foo}/bar", "{a}{b_1}", "https://{tenant}/{module}/x"])
def test_placeholders_are_symbols_in_braces(client: Client, value: str) -> None:
    assert declare(client, source={"type": "uritemplate", "value": value}).status == 201


@covers("REG-224")
@pytest.mark.parametrize("value", ["{foo/bar", "{+foo}", "{a-b}", "foo}", "{}"])
def test_other_placeholders_are_refused(client: Client, value: str) -> None:
    assert declare(client, source={"type": "uritemplate", "value": value}).status == 400


@covers("REG-232", "REG-233")
@pytest.mark.parametrize(("name", "status"), [("myext", 201), ("my-ext", 400), ("MyExt", 400)])
def test_attribute_names_are_lower_case_and_plain(client: Client, name: str, status: int) -> None:
    assert declare(client, **{name: {"value": "x"}}).status == status


@covers("REG-234")
def test_effective_view_has_the_base_types(client: Client) -> None:
    declare(client)

    found = client.get(f"{D}?effective").document["metadata"]["attributes"]

    assert {name: each["type"] for name, each in found.items()} == {
        "type": "string",
        "source": "uritemplate",
        "subject": "string",
        "id": "string",
        "time": "timestamp",
        "dataschema": "uritemplate",
        "datacontenttype": "string",
    }
    assert {name for name, each in found.items() if each["required"]} == {"type", "id", "source"}


@covers("REG-236")
@pytest.mark.parametrize(
    ("entry", "path"), [({"value": "0.3"}, "value"), ({"value": "1.0", "type": "uri"}, "type")]
)
def test_specversion_is_1_0(client: Client, entry: dict[str, str], path: str) -> None:
    reply = declare(client, specversion=entry)

    assert reply.status == 400
    assert f"metadata.attributes.specversion.{path}" in reply.paths
    assert declare(client, specversion={"type": "string", "value": "1.0"}).status == 201


@covers("REG-237", "REG-244")
@pytest.mark.parametrize("name", ["type", "id", "source"])
def test_required_attributes_are_not_declared_optional(client: Client, name: str) -> None:
    reply = declare(client, **{name: {"required": False}})

    assert reply.paths == [f"metadata.attributes.{name}.required"]
    assert declare(client, **{name: {"required": True, "type": "string"}}).status == 201


@covers("REG-238", "REG-239")
@pytest.mark.parametrize(("name", "value"), [("id", "7"), ("time", "2030-12-19T06:00:00Z")])
def test_value_against_advice_is_warned_of(client: Client, name: str, value: str) -> None:
    entry = {**EVENT, "metadata": {"attributes": {name: {"value": value}}}}

    reply = client.post("/", {"definitionGroups": {"dg1": {"definitions": {"d1": entry}}}})

    (warning,) = reply.document["warnings"]
    assert warning["path"].endswith(f"attributes.{name}.value")
    assert client.get(D).status == 200


@covers("REG-239")
def test_time_is_now_unless_it_says_otherwise(client: Client) -> None:
    declare(client)

    found = client.get(f"{D}?effective").document["metadata"]["attributes"]

    assert found["time"]["value"] == "01-01-0000T00:00:00Z"


@covers("REG-240")
@pytest.mark.parametrize(
    ("format_", "media_type"),
    [
        ("JsonSchema/draft-07", "application/json"),
        ("Avro/1.9", "application/vnd.apache.avro"),
        ("Protobuf/3", "application/protobuf"),
        ("XSD/1.0", "application/xml"),
    ],
)
def test_content_type_follows_from_the_schema_format(
    client: Client, format_: str, media_type: str
) -> None:
    propose(client, {"attributes": {}}, schemaformat=format_, schemaurl=URL)

    found = client.get(f"{D}?effective").document["metadata"]["attributes"]

    assert found["datacontenttype"]["value"] == media_type


@covers("REG-241")
def test_data_schema_follows_from_the_schema(client: Client) -> None:
    propose(client, {}, schemaformat="JsonSchema/draft-07", schema={})
    embedded = client.get(f"{D}?effective").document["metadata"]["attributes"]
    client.put(D, {**EVENT, "schemaformat": "JsonSchema/draft-07", "schemaurl": URL})
    linked = client.get(f"{D}?effective").document["metadata"]["attributes"]

    assert embedded["dataschema"]["value"] == f"{client.base}{D}"
    assert linked["dataschema"]["value"] == URL


@covers("REG-245", "REG-235")
def test_example_of_a_cloud_event_has_what_it_implies(client: Client) -> None:
    attributes = {
        "type": {"value": "com.example.myevent"},
        "source": {"value": "https://{tenant}/{module}/myevent", "type": "uritemplate"},
        "subject": {"type": "urireference"},
        "time": {"required": True},
    }

    made = propose(
        client, {"attributes": attributes}, schemaformat="JsonSchema/draft-07", schemaurl=URL
    )

    found = client.get(f"{D}?effective").document["metadata"]["attributes"]
    assert made.status == 201
    assert (found["time"]["required"], found["id"]["required"]) == (True, True)
    assert found["datacontenttype"]["value"] == "application/json"
    assert found["dataschema"]["value"] == URL
    assert found["subject"]["type"] == "urireference"


@pytest.mark.parametrize(
    ("metadata", "format_"),
    [
        *(good("REG-246 REG-247 REG-250", HTTP, f"HTTP/{each}") for each in ("1.1", "2", "3")),
        good("REG-248", {"headers": [{"name": "Set-Cookie", "value": x} for x in "ab"]}, "HTTP/2"),
        good("REG-252", {"status": "200"}, "HTTP/1.1"),
        good("REG-254", {"path": "/{t}", "headers": [{"name": "x", "value": "{t}"}]}, "HTTP/1.1"),
        good("REG-255", {}, "AMQP/1.0"),
        good("REG-256 REG-263 REG-262 REG-257", AMQP, "AMQP/1.0"),
        good(
            "REG-257",
            {"application-properties": {"my_prop": {"type": "integer", "value": 1}}},
            "AMQP/1.0",
        ),
        good(
            "REG-258",
            {"message-annotations": {"x-opt": {"type": "boolean", "value": True}}},
            "AMQP/1.0",
        ),
        good(
            "REG-259", {"delivery-annotations": {"x": {"type": "uri", "value": "a:b"}}}, "AMQP/1.0"
        ),
        good("REG-260", {"header": {"durable": {"value": True}, "ttl": {"value": 9}}}, "AMQP/1.0"),
        good("REG-261", {"footer": {"x": {"value": "y"}}}, "AMQP/1.0"),
        *(good("REG-264 REG-265 REG-268", MQTT, f"MQTT/{each}") for each in ("3.1.1", "5.0")),
        good("REG-266 REG-267", {**MQTT, **FIVE}, "MQTT/5.0"),
        good("REG-270 REG-273", KAFKA, "Kafka/0.11"),
    ],
)
def test_metadata_of_a_format_comes_back(
    client: Client, metadata: dict[str, Any], format_: str
) -> None:
    reply = propose(client, metadata, format_)

    assert reply.status == 201, reply.body
    assert client.get(D).document["metadata"] == metadata


@pytest.mark.parametrize(
    ("metadata", "format_", "path"),
    [
        bad("REG-247", {"verb": "x"}, "HTTP/1.1", "verb"),
        bad("REG-248", {"headers": [{"name": "a b", "value": "x"}]}, "HTTP/1.1", "headers[0].name"),
        bad("REG-249", {"query": {"a": 1}}, "HTTP/1.1", "query.a"),
        bad("REG-250", {"path": "/{x"}, "HTTP/1.1", "path"),
        bad("REG-251", {"method": "P OST"}, "HTTP/1.1", "method"),
        bad("REG-252", {"status": "99"}, "HTTP/1.1", "status"),
        bad("REG-252", {"status": "abc"}, "HTTP/1.1", "status"),
        bad("REG-252", {"status": 200}, "HTTP/1.1", "status"),
        bad("REG-253", {"status": "200", "method": "GET"}, "HTTP/1.1", "status"),
        bad("REG-255", {"body": {}}, "AMQP/1.0", "body"),
        bad(
            "REG-256",
            {"properties": {"group-sequence": {"value": "x"}}},
            "AMQP/1.0",
            "properties.group-sequence.value",
        ),
        bad(
            "REG-256",
            {"properties": {"user-id": {"value": "?"}}},
            "AMQP/1.0",
            "properties.user-id.value",
        ),
        bad(
            "REG-257",
            {"application-properties": {"a b": {}}},
            "AMQP/1.0",
            "application-properties.a b",
        ),
        bad("REG-258", {"message-annotations": {"a b": {}}}, "AMQP/1.0", "message-annotations.a b"),
        bad("REG-259", {"delivery-annotations": {"ä": {}}}, "AMQP/1.0", "delivery-annotations.ä"),
        bad("REG-260", {"header": {"durable": {"value": 7}}}, "AMQP/1.0", "header.durable.value"),
        bad("REG-261", {"footer": {"a b": {}}}, "AMQP/1.0", "footer.a b"),
        *(bad("REG-266", {name: one}, "MQTT/3.1.1", name) for name, one in FIVE.items()),
        bad("REG-265", {"retain": {"value": "x"}}, "MQTT/3.1.1", "retain.value"),
        bad("REG-269", {"qos": {"value": 3}}, "MQTT/5.0", "qos.value"),
        bad("REG-270", {"partition": {"value": "x"}}, "Kafka/0.11", "partition.value"),
        bad("REG-270", {"timestamp": {"value": "x"}}, "Kafka/0.11", "timestamp.value"),
    ],
)
def test_wrong_metadata_is_refused_with_its_path(
    client: Client, metadata: dict[str, Any], format_: str, path: str
) -> None:
    reply = propose(client, metadata, format_)

    assert (reply.status, reply.paths) == (400, [f"metadata.{path}"])
    assert client.get(D).status == 404


@covers("REG-271")
@pytest.mark.parametrize(("given", "kept"), [("Kafka", "Kafka/0.11"), ("HTTP", "HTTP/1.1")])
def test_version_of_a_format_may_be_left_out(client: Client, given: str, kept: str) -> None:
    assert propose(client, {}, given).document["format"] == kept


def test_headers_and_properties_may_be_written_in_either_way(client: Client) -> None:
    propose(client, {"headers": [{"x-a": {"value": "1"}}], "path": {"value": "/p"}}, "HTTP/1.1")
    found = client.get(D).document["metadata"]
    client.delete("/definitionGroups/dg1")
    client.created("/definitionGroups", {"id": "dg1"})
    propose(client, {"user-properties": [{"name": "a", "value": "1"}]}, "MQTT/5.0")

    assert found == {"headers": [{"name": "x-a", "value": "1"}], "path": "/p"}
    assert client.get(D).document["metadata"] == {"user-properties": [{"a": {"value": "1"}}]}


def test_definition_may_be_wrapped(client: Client) -> None:
    assert client.post(GROUP, {"id": "d1", "definition": EVENT}).status == 201
    assert client.get(D).document["metadata"] == EVENT["metadata"]


def test_all_problems_of_a_definition_are_named_at_once(client: Client) -> None:
    reply = propose(client, {"attributes": {"A-b": {"type": "x"}}}, tags=[], schemaformat="Avro")

    assert set(reply.paths) == {
        "tags",
        "metadata.attributes.A-b",
        "metadata.attributes.A-b.type",
        "schemaformat",
    }
