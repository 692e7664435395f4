"""The Registry Service: endpoints and the options of their protocols, over real HTTP."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.api.registry import EVENT, Client, clearing, registry
from tests.api.served import Reply

covers = pytest.mark.covers
E = "/endpoints/e1"
FAR, PAST = "2999-01-01T00:00:00Z", "2020-01-01T00:00:00-00:00"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    with registry(tmp_path_factory.mktemp("data")) as running:
        yield running


@pytest.fixture
def client(server: Client) -> Client:
    for id_ in server.get("/endpoints").document:
        server.put(f"/endpoints/{id_}", {"usage": "consumer"})
    return clearing(server)


def propose(client: Client, **more: Any) -> Reply:  # noqa: ANN401
    return client.post("/endpoints", {"id": "e1", "usage": "producer", **more})


def configure(client: Client, protocol: str, address: str | None = None, **options: Any) -> Reply:  # noqa: ANN401
    config: dict[str, Any] = {"protocol": protocol}
    if address is not None:
        config["endpoints"] = [address]
    named = {name.replace("_", "-"): value for name, value in options.items()}
    return propose(client, config={**config, **({"options": named} if named else {})})


def one(name: str, value: object) -> dict[str, Any]:
    return {name: value}


def option(ids: str, protocol: str, name: str, value: object, path: str = "") -> Any:  # noqa: ANN401
    marks = covers(*ids.split())
    return pytest.param(protocol, name, value, path, marks=marks, id=f"{ids} {name} {value}")


@covers("REG-275", "REG-171")
def test_endpoint_holds_definitions_of_any_format(client: Client) -> None:
    client.make_endpoint("e1")

    made = client.created(f"{E}/definitions", {"id": "d", "format": "AMQP/1.0", "metadata": {}})

    assert made["metadata"] == {}
    assert client.get(f"{E}?inline").document["definitions"]["d"]["format"] == "AMQP/1.0"


@covers("REG-276")
@pytest.mark.parametrize("usage", [None, "sender", "", ["producer"]])
def test_usage_is_one_of_three(client: Client, usage: object) -> None:
    reply = propose(client, usage=usage)

    assert (reply.status, reply.paths) == (400, ["usage"])


@covers("REG-277", "REG-286")
def test_endpoints_of_a_channel_are_found_by_usage(client: Client) -> None:
    for usage in ("subscriber", "consumer", "producer"):
        client.make_endpoint(usage, usage=usage, channel="queue1")

    found = client.get("/endpoints").document.values()

    assert {each["usage"] for each in found if each["channel"] == "queue1"} == {
        "subscriber",
        "consumer",
        "producer",
    }
    assert propose(client, channel=7).paths == ["channel"]


@covers("REG-278")
@pytest.mark.parametrize("origin", ["", "/relative", 7])
def test_origin_is_an_absolute_uri(client: Client, origin: object) -> None:
    assert propose(client, origin=origin).paths == ["origin"]


@covers("REG-278")
def test_origin_is_the_endpoint_itself_unless_it_says_otherwise(client: Client) -> None:
    elsewhere = "https://example2.com/myregistry/endpoints/9876"
    client.make_endpoint("e1")
    client.make_endpoint("e2", origin=elsewhere)

    assert client.get(f"{E}?effective").document["origin"] == f"{client.base}{E}"
    assert client.get("/endpoints/e2").document["origin"] == elsewhere


@covers("REG-279", "REG-283", "REG-284")
@pytest.mark.parametrize(
    "deprecated",
    [
        {},
        {"effective": PAST, "removal": FAR},
        {"alternative": "https://example.com/endpoints/123", "docs": "https://example.com/why"},
    ],
)
def test_deprecation_comes_back(client: Client, deprecated: dict[str, str]) -> None:
    assert propose(client, deprecated=deprecated).status == 201
    assert client.get(E).document["deprecated"] == deprecated


@covers("REG-280", "REG-281", "REG-284")
@pytest.mark.parametrize(
    ("deprecated", "path"),
    [
        ([], "deprecated"),
        ({"effective": "soon"}, "deprecated.effective"),
        ({"removal": "2030-13-01T00:00:00Z"}, "deprecated.removal"),
        ({"effective": FAR, "removal": PAST}, "deprecated.removal"),
        ({"docs": "x"}, "deprecated.docs"),
    ],
)
def test_wrong_deprecation_is_refused(client: Client, deprecated: object, path: str) -> None:
    assert propose(client, deprecated=deprecated).paths == [path]


@covers("REG-282")
def test_endpoint_is_not_removed_before_its_time(client: Client) -> None:
    propose(client, deprecated={"removal": FAR})
    client.make_endpoint("e2")

    assert client.delete(E).status == 409
    assert client.delete("/endpoints").status == 409
    assert client.delete("/endpoints", [{"id": "e2"}, {"id": "e1"}]).status == 409
    assert set(client.get("/endpoints").document) == {"e1", "e2"}
    client.put(E, {"usage": "producer", "deprecated": {"removal": PAST}})
    assert client.delete(E).status == 200


@covers("REG-288")
def test_groups_of_definitions_are_references(client: Client) -> None:
    groups = ["#/definitionGroups/x", "https://h/registry/definitiongroups/y"]

    made = propose(client, definitionGroups=groups).document

    assert made["definitionGroups"] == groups
    assert "definitionGroupsUrl" not in made
    assert client.put(E, {"usage": "producer", "definitionGroups": ["a b"]}).paths == [
        "definitionGroups[0]"
    ]


@covers("REG-289", "REG-290", "REG-295", "REG-297")
@pytest.mark.parametrize(
    ("config", "paths"),
    [
        ({}, ["config.protocol"]),
        ({"protocol": ""}, ["config.protocol"]),
        ([], ["config", "config.protocol"]),
        ({"protocol": "HTTP", "endpoints": ["/x"]}, ["config.endpoints[0]"]),
        ({"protocol": "HTTP", "endpoints": "x"}, ["config.endpoints"]),
        ({"protocol": "HTTP", "strict": "x"}, ["config.strict"]),
    ],
)
def test_wrong_configuration_is_refused(client: Client, config: object, paths: list[str]) -> None:
    reply = propose(client, config=config)

    assert (reply.status, reply.paths) == (400, paths)


@covers("REG-289", "REG-295", "REG-297")
def test_configuration_is_optional_and_keeps_its_order(client: Client) -> None:
    addresses = ["https://b", "https://a", "https://c"]
    client.make_endpoint("e0")
    made = propose(client, config={"protocol": "HTTP/1.1", "endpoints": addresses}).document

    assert made["config"]["endpoints"] == addresses
    assert client.get(f"{E}?effective").document["config"]["strict"] is False


@covers("REG-291", "REG-292")
@pytest.mark.parametrize(
    ("given", "meant"),
    [
        *((each, each) for each in ("HTTP/1.1", "HTTP/2", "HTTP/3", "AMQP/1.0", "MQTT/3.1.1")),
        *((each, each) for each in ("MQTT/5.0", "NATS/1.0.0", "KAFKA/3.5", "BunnyMQ/0.9.1")),
        ("HTTP", "HTTP/1.1"),
        ("AMQP", "AMQP/1.0"),
        ("MQTT", "MQTT/5.0"),
        ("NATS", "NATS/1.0.0"),
        ("Kafka/2.0", "KAFKA/2.0"),
        ("KAFKA", "KAFKA/3.5"),
    ],
)
def test_protocol_is_known_by_name_and_version(client: Client, given: str, meant: str) -> None:
    assert configure(client, given).status == 201
    assert client.get(f"{E}?effective").document["config"]["protocol"] == meant


@covers("REG-294", "REG-291")
@pytest.mark.parametrize("protocol", ["AMQP/0.9", "HTTP/4", "MQTT/", "MQTT/3"])
def test_unknown_version_of_a_known_protocol_is_refused(client: Client, protocol: str) -> None:
    assert configure(client, protocol).paths == ["config.protocol"]


@covers("REG-292")
@pytest.mark.parametrize(
    ("protocol", "options"),
    [("HTTP", {"method": "P OST"}), ("MQTT", {"qos": 7}), ("KAFKA", {"acks": 9})],
)
def test_short_name_has_the_same_checks(
    client: Client, protocol: str, options: dict[str, Any]
) -> None:
    assert configure(client, protocol, **options).status == 400


@covers("REG-296")
@pytest.mark.parametrize(
    ("protocol", "options", "path"),
    [
        ("HTTP/1.1", {"verb": "x"}, "verb"),
        ("BunnyMQ/0.9.1", {"a": ""}, "a"),
        ("BunnyMQ/0.9.1", {"a": 1}, "a"),
    ],
)
def test_wrong_options_are_refused(
    client: Client, protocol: str, options: dict[str, Any], path: str
) -> None:
    assert configure(client, protocol, **options).paths == [f"config.options.{path}"]
    assert configure(client, "BunnyMQ/0.9.1", a="b").status == 201


@covers("REG-298")
def test_endpoint_has_no_place_for_credentials(client: Client) -> None:
    for protocol in ("HTTP", "AMQP", "MQTT", "KAFKA", "NATS"):
        for name in ("password", "token", "credentials"):
            assert configure(client, protocol, **{name: "x"}).status == 400


@pytest.mark.parametrize(
    ("protocol", "address", "status"),
    [
        pytest.param(*case, marks=covers(id_), id=f"{id_} {case[1]}")
        for id_, *case in [
            ("REG-299", "HTTP/1.1", "https://h/x", 201),
            ("REG-299", "HTTP/1.1", "ftp://h", 400),
            ("REG-304", "AMQP/1.0", "amqps://h/queue", 201),
            ("REG-304", "AMQP/1.0", "http://h", 400),
            ("REG-304", "AMQP/1.0", "amqp://h//x", 400),
            ("REG-311", "MQTT/5.0", "mqtt://h/a/b", 201),
            ("REG-311", "MQTT/5.0", "mqtt://h/a/+/b", 400),
            ("REG-312", "MQTT/3.1.1", "tcp://h", 201),
            ("REG-312", "MQTT/3.1.1", "tcp://h/x", 400),
            ("REG-312", "MQTT/3.1.1", "wss://h:443", 201),
            ("REG-319", "KAFKA/3.5", "PLAINTEXT://h:9092", 201),
            ("REG-319", "KAFKA/3.5", "SSL://h:9093", 201),
            ("REG-319", "KAFKA/3.5", "PLAINTEXT://h", 400),
            ("REG-325", "NATS/1.0.0", "nats://h:4222", 201),
            ("REG-325", "NATS/1.0.0", "nats://h", 400),
            ("REG-325", "NATS/1.0.0", "http://h:1", 400),
        ]
    ],
)
def test_address_fits_its_protocol(
    client: Client, protocol: str, address: str, status: int
) -> None:
    reply = configure(client, protocol, address)

    assert reply.status == status
    assert status == 201 or reply.paths == ["config.endpoints[0]"]


@pytest.mark.parametrize(
    ("protocol", "name", "value", "path"),
    [
        option("REG-300", "HTTP/1.1", "method", "PUT"),
        option("REG-301", "HTTP/1.1", "headers", [{"name": "a", "value": "b"}] * 2),
        option("REG-302 REG-303", "HTTP/1.1", "query", {"a": "{tenant}"}),
        option("REG-303", "HTTP/1.1", "headers", [{"name": "a", "value": "{tenant}"}]),
        option("REG-307 REG-310", "AMQP/1.0", "link-properties", {"a": "{x}"}),
        option("REG-308 REG-310", "AMQP/1.0", "connection-properties", {"a": "{x}"}),
        option("REG-309", "AMQP/1.0", "distribution-mode", "copy"),
        option("REG-306", "AMQP/1.0", "durable", value=True),
        option("REG-313", "MQTT/5.0", "topic", "{deviceid}/telemetry"),
        option("REG-314", "MQTT/5.0", "qos", 2),
        option("REG-317", "MQTT/5.0", "will-topic", "{x}"),
        option("REG-320", "KAFKA/3.5", "topic", "{x}"),
        option("REG-321", "KAFKA/3.5", "acks", -1),
        option("REG-322", "KAFKA/3.5", "key", "{x}"),
        option("REG-323", "KAFKA/3.5", "partition", 7),
        option("REG-324", "KAFKA/3.5", "consumer-group", "{x}"),
        option("REG-326", "NATS/1.0.0", "subject", "a.{b}"),
    ],
)
def test_option_comes_back(
    client: Client, protocol: str, name: str, value: object, path: str
) -> None:
    assert not path
    assert configure(client, protocol, **one(name, value)).status == 201
    assert client.get(E).document["config"]["options"] == {name: value}


@pytest.mark.parametrize(
    ("protocol", "name", "value", "path"),
    [
        option("REG-300", "HTTP/1.1", "method", "P OST", "method"),
        option("REG-301", "HTTP/1.1", "headers", [{"name": "a", "value": ""}], "headers[0].value"),
        option("REG-302", "HTTP/1.1", "query", {"a": ""}, "query.a"),
        option("REG-306", "AMQP/1.0", "durable", 7, "durable"),
        option("REG-307", "AMQP/1.0", "link-properties", {"a": ""}, "link-properties.a"),
        option("REG-308", "AMQP/1.0", "connection-properties", {"": "a"}, "connection-properties"),
        option("REG-309", "AMQP/1.0", "distribution-mode", "steal", "distribution-mode"),
        option("REG-314", "MQTT/5.0", "qos", 3, "qos"),
        option("REG-315", "MQTT/5.0", "retain", "x", "retain"),
        option("REG-316", "MQTT/5.0", "clean-session", 1, "clean-session"),
        option("REG-317", "MQTT/5.0", "will-topic", "", "will-topic"),
        option("REG-320", "KAFKA/3.5", "topic", "", "topic"),
        option("REG-321", "KAFKA/3.5", "acks", 2, "acks"),
        option("REG-322", "KAFKA/3.5", "key", "", "key"),
        option("REG-323", "KAFKA/3.5", "partition", "x", "partition"),
        option("REG-324", "KAFKA/3.5", "consumer-group", "", "consumer-group"),
    ],
)
def test_wrong_option_is_refused(
    client: Client, protocol: str, name: str, value: object, path: str
) -> None:
    reply = configure(client, protocol, **one(name, value))

    assert (reply.status, reply.paths) == (400, [f"config.options.{path}"])


def test_numbers_and_truths_may_be_written_as_texts(client: Client) -> None:
    configure(client, "MQTT/5.0", qos="1", retain="true")

    assert client.get(E).document["config"]["options"] == {"qos": 1, "retain": True}


def test_configuration_at_the_top_is_moved_to_its_place(client: Client) -> None:
    made = propose(client, protocol="Kafka/2.0", options={"topic": "mytopic", "acks": 1}).document

    assert made["config"] == {"protocol": "KAFKA/2.0", "options": {"topic": "mytopic", "acks": 1}}
    assert "protocol" not in made


@covers("REG-300", "REG-316", "REG-314", "REG-321")
@pytest.mark.parametrize(
    ("protocol", "defaults"),
    [
        ("HTTP/1.1", {"method": "POST"}),
        ("AMQP/1.0", {"durable": False}),
        ("MQTT/5.0", {"qos": 0, "retain": False, "clean-session": True}),
        ("KAFKA/3.5", {"acks": 1}),
    ],
)
def test_effective_options_have_defaults(
    client: Client, protocol: str, defaults: dict[str, Any]
) -> None:
    configure(client, protocol)

    assert client.get(f"{E}?effective").document["config"]["options"] == defaults


@covers("REG-305", "REG-313")
@pytest.mark.parametrize(
    ("protocol", "address", "option"),
    [("AMQP/1.0", "amqp://h/path", "node"), ("MQTT/5.0", "mqtt://h/path", "topic")],
)
def test_option_overrides_the_path(
    client: Client, protocol: str, address: str, option: str
) -> None:
    configure(client, protocol, address)
    before = client.get(f"{E}?effective").document["config"]["address"]
    client.delete(E)
    configure(client, protocol, address, **{option: "chosen"})

    assert before == "path"
    assert client.get(f"{E}?effective").document["config"]["address"] == "chosen"


@covers("REG-306", "REG-309", "REG-315", "REG-322", "REG-323", "REG-324")
@pytest.mark.parametrize(
    ("usage", "protocol", "options"),
    [
        ("consumer", "AMQP/1.0", {"durable": True}),
        ("producer", "AMQP/1.0", {"distribution-mode": "copy"}),
        ("consumer", "MQTT/5.0", {"retain": True}),
        ("consumer", "KAFKA/3.5", {"key": "k", "partition": 1, "acks": 0}),
        ("producer", "KAFKA/3.5", {"consumer-group": "c"}),
    ],
)
def test_option_of_another_usage_is_kept_without_effect(
    client: Client, usage: str, protocol: str, options: dict[str, Any]
) -> None:
    made = propose(client, usage=usage, config={"protocol": protocol, "options": options})

    assert made.document["config"]["options"] == options
    effective = client.get(f"{E}?effective").document["config"]["options"]
    assert not options.keys() & effective.keys()


@covers("REG-314", "REG-315")
def test_definition_overrides_quality_and_retention(client: Client) -> None:
    configure(client, "MQTT/5.0", qos=0, retain=False)
    metadata = {"qos": {"value": 1}, "retain": {"value": True}}

    client.created(f"{E}/definitions", {"format": "MQTT/5.0", "metadata": metadata})

    effective = client.get(f"{E}?effective").document["config"]["options"]
    assert (effective["qos"], effective["retain"]) == (1, True)


@covers("REG-318")
@pytest.mark.parametrize(
    ("format_", "status"), [("CloudEvents/1.0", 201), ("MQTT/3.1.1", 201), ("AMQP/1.0", 400)]
)
def test_will_message_is_a_definition_that_fits(client: Client, format_: str, status: int) -> None:
    client.created(
        "/definitionGroups",
        {"id": "g", "definitions": {"w": {**EVENT, "format": format_, "metadata": {}}}},
    )

    reply = configure(client, "MQTT/5.0", will_message="#/definitionGroup/g/definitions/w")

    assert reply.status == status
    assert status == 201 or reply.paths == ["config.options.will-message"]


@covers("REG-318")
@pytest.mark.parametrize("reference", ["", "#/definitionGroups/g/definitions/none"])
def test_will_message_that_leads_nowhere_is_refused(client: Client, reference: str) -> None:
    reply = configure(client, "MQTT/5.0", will_message=reference)

    assert (reply.status, reply.paths[0]) == (400, "config.options.will-message")
