"""Subscriptions API: the settings of the protocols beside HTTP, as they are checked and shown."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from penstock.errors import ResourceError
from penstock.routing import ContentMode
from penstock.subscriptions.protocols import PROTOCOLS
from penstock.subscriptions.subscription import Subscription, read
from tests.api.served import serving

SINKS = {
    "HTTP": "https://h/in",
    "MQTT3": "mqtt://h",
    "MQTT5": "mqtts://h:8883",
    "AMQP": "amqp://h/q1",
    "KAFKA": "kafka://h:9092/orders",
    "NATS": "nats://h:4222",
}
LEAST: dict[str, dict[str, Any]] = {
    "MQTT3": {"topicname": "a/b"},
    "MQTT5": {"topicname": "a/b"},
    "NATS": {"subject": "a.b"},
}
MQTT = pytest.mark.parametrize("protocol", ["MQTT3", "MQTT5"])
covers = pytest.mark.covers


def document(protocol: str, sink: str = "", **settings: object) -> dict[str, Any]:
    return {
        "protocol": protocol,
        "sink": sink or SINKS[protocol],
        "protocolsettings": {**LEAST.get(protocol, {}), **settings},
    }


def realized(protocol: str, sink: str = "", **settings: object) -> dict[str, Any]:
    """The settings as the client gets them back."""
    shown = read(document(protocol, sink, **settings)).document()["protocolsettings"]
    assert isinstance(shown, dict)
    return shown


def faults(protocol: str, sink: str = "", **settings: object) -> list[str]:
    """Where the problems of a proposal are."""
    with pytest.raises(ResourceError) as raised:
        read(document(protocol, sink, **settings))
    return [problem.path.removeprefix("protocolsettings.") for problem in raised.value.problems]


@covers("SUB-070")
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_protocol_is_what_its_name_says_whatever_the_scheme(protocol: str) -> None:
    found = read(document(protocol))

    assert set(PROTOCOLS) == {"AMQP", "MQTT3", "MQTT5", "HTTP", "KAFKA", "NATS"}
    assert (found.protocol, found.route(()).target.protocol) == (protocol, protocol)


@covers("SUB-068", "SUB-070")
@pytest.mark.parametrize("protocol", ["AMQP", "MQTT3", "MQTT5", "NATS"])
def test_one_scheme_serves_several_protocols(protocol: str) -> None:
    assert read(document(protocol, "wss://h/amqp")).route(()).target.protocol == protocol


@covers("SUB-068")
@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("sink", ["ftp://h/x", "kafka:///t", "h:9092", "amqp://u:secret@h/q"])
def test_sink_must_be_an_address_of_the_protocol(protocol: str, sink: str) -> None:
    assert "sink" in faults(protocol, sink)


@covers("SUB-079", "SUB-125")
@MQTT
def test_mqtt_needs_a_topic(protocol: str) -> None:
    assert faults(protocol, topicname=None) == ["topicname"]
    assert realized(protocol, topicname="a/b")["topicname"] == "a/b"


@covers("SUB-079")
@MQTT
@pytest.mark.parametrize("topic", ["", "a/+", "#", "a\0b", "x" * 65_536, 5, ["a"]])
def test_mqtt_topic_must_be_publishable(protocol: str, topic: object) -> None:
    assert faults(protocol, topicname=topic) == ["topicname"]


@covers("SUB-080", "SUB-075")
@MQTT
def test_mqtt_quality_of_service_is_0_1_or_2(protocol: str) -> None:
    assert [realized(protocol, qos=level)["qos"] for level in (0, 1, 2)] == [0, 1, 2]
    assert [faults(protocol, qos=level) for level in (3, -1, "high", True, 1.5)] == [["qos"]] * 5


@covers("SUB-081", "SUB-083", "SUB-127")
@MQTT
def test_mqtt_defaults_are_shown(protocol: str) -> None:
    shown = realized(protocol)

    assert (shown["qos"], shown["retain"]) == (1, False)


@covers("SUB-082", "SUB-075")
@MQTT
def test_mqtt_retain_is_a_flag(protocol: str) -> None:
    assert realized(protocol, retain=True)["retain"] is True
    assert faults(protocol, retain=1) == ["retain"]


@covers("SUB-084", "SUB-086")
def test_mqtt5_takes_expiry_and_user_properties() -> None:
    chosen: dict[str, Any] = {"expiry": 60, "userproperties": {"k": "v", "K": "w"}}

    target = read(document("MQTT5", **chosen)).route(()).target

    assert {name: target.settings[name] for name in chosen} == chosen


@covers("SUB-084", "SUB-086")
@pytest.mark.parametrize(
    ("settings", "path"),
    [
        ({"expiry": -1}, "expiry"),
        ({"expiry": 1 << 32}, "expiry"),
        ({"expiry": "60"}, "expiry"),
        ({"userproperties": []}, "userproperties"),
        ({"userproperties": {"k": 1}}, "userproperties.k"),
        ({"userproperties": {"": "v"}}, "userproperties"),
    ],
)
def test_mqtt5_refuses_what_no_message_can_carry(settings: dict[str, Any], path: str) -> None:
    assert faults("MQTT5", **settings) == [path]


@covers("SUB-087")
def test_mqtt3_drops_what_only_mqtt5_has() -> None:
    shown = realized("MQTT3", expiry=60, userproperties={"k": "v"})

    assert not {"expiry", "userproperties"} & set(shown)


def test_mqtt3_carries_events_in_structured_mode_only() -> None:
    found = read(document("MQTT3"))

    assert found.route(()).target.mode is ContentMode.STRUCTURED
    assert faults("MQTT3", contentmode="binary") == ["contentmode"]


@covers("SUB-088", "SUB-089")
@pytest.mark.parametrize(
    ("sink", "settings"),
    [
        ("amqp://h", {"address": "q1"}),
        ("amqp://h/", {"address": "q1"}),
        ("amqp://h/q1", {}),
        ("amqp://h/a%20b", {"address": "a b"}),
        ("wss://h/amqp", {"address": "q1"}),
    ],
)
def test_amqp_node_is_in_the_setting_or_in_the_path(sink: str, settings: dict[str, Any]) -> None:
    shown = realized("AMQP", sink, **settings)

    assert {name: shown[name] for name in settings} == settings
    assert ("address" in shown) == ("address" in settings)


@covers("SUB-088")
@pytest.mark.parametrize(
    ("sink", "settings"), [("amqp://h", {}), ("amqp://h/q1", {"address": "q2"})]
)
def test_amqp_node_is_never_guessed(sink: str, settings: dict[str, Any]) -> None:
    assert faults("AMQP", sink, **settings) == ["address"]


@covers("SUB-090", "SUB-094")
def test_amqp_link_is_described_in_either_spelling() -> None:
    shown = realized("AMQP", linkName="l1", linkProperties={"tenant": "t1", "n": 5})

    assert (shown["linkname"], shown["linkproperties"]) == ("l1", {"tenant": "t1", "n": 5})


@pytest.mark.parametrize(
    ("settings", "path"),
    [
        ({"linkname": ""}, "linkname"),
        ({"linkname": 5}, "linkname"),
        ({"linkproperties": "x"}, "linkproperties"),
        ({"linkproperties": {"a": []}}, "linkproperties.a"),
        ({"linkproperties": {"ä": "x"}}, "linkproperties.ä"),
    ],
)
def test_amqp_link_must_be_describable(settings: dict[str, Any], path: str) -> None:
    assert faults("AMQP", **settings) == [path]


@covers("SUB-092", "SUB-093", "SUB-127")
def test_amqp_settlement_is_unsettled_unless_said() -> None:
    assert realized("AMQP")["sendersettlementmode"] == "unsettled"
    assert realized("AMQP", sendersettlementmode="settled")["sendersettlementmode"] == "settled"
    assert faults("AMQP", sendersettlementmode="mixed") == ["sendersettlementmode"]


@covers("SUB-096")
@pytest.mark.parametrize(
    ("sink", "settings"), [("kafka://h", {"topicname": "t"}), ("kafka://h/t", {})]
)
def test_kafka_topic_is_in_the_setting_or_in_the_path(sink: str, settings: dict[str, Any]) -> None:
    assert realized("KAFKA", sink, **settings).get("topicname") == settings.get("topicname")


@covers("SUB-096", "SUB-125")
@pytest.mark.parametrize(
    ("sink", "settings"),
    [
        ("kafka://h", {}),
        ("kafka://h/", {}),
        ("kafka://h/a/b", {}),
        ("kafka://h/t", {"topicname": ""}),
        ("kafka://h/t", {"topicname": "a b"}),
        ("kafka://h/t", {"topicname": ".."}),
        ("kafka://h/t", {"topicname": "x" * 250}),
    ],
)
def test_kafka_needs_a_topic_that_can_exist(sink: str, settings: dict[str, Any]) -> None:
    assert faults("KAFKA", sink, **settings) == ["topicname"]


@covers("SUB-097")
def test_kafka_key_is_taken_from_one_attribute() -> None:
    for name in ("partitionkey", "subject", "source"):
        assert realized("KAFKA", partitionkeyextractor=name)["partitionkeyextractor"] == name
    for wrong in ("", "Subject", "data", "a.b", "$.x", 5):
        assert faults("KAFKA", partitionkeyextractor=wrong) == ["partitionkeyextractor"]


@covers("SUB-098")
def test_kafka_client_may_have_a_name() -> None:
    assert realized("KAFKA", clientid="shop-1")["clientid"] == "shop-1"
    assert [faults("KAFKA", clientid=wrong) for wrong in ("", "a\nb", 5)] == [["clientid"]] * 3


@covers("SUB-099")
@pytest.mark.parametrize(
    ("given", "shown"),
    [("0", "0"), ("1", "1"), ("all", "all"), ("-1", "all"), (0, "0"), (1, "1"), (-1, "all")],
)
@pytest.mark.parametrize("name", ["acks", "ackmode", "ackMode"])
def test_kafka_acks_are_shown_in_one_spelling(name: str, given: object, shown: str) -> None:
    chosen: dict[str, Any] = {name: given}

    found = realized("KAFKA", **chosen)

    assert found["acks"] == shown
    assert name == "acks" or name not in found


@covers("SUB-099")
@pytest.mark.parametrize("given", ["2", "ALL", "", 2, True, 1.0, ["1"]])
def test_kafka_acks_have_no_other_values(given: object) -> None:
    assert faults("KAFKA", acks=given) == ["acks"]


def test_kafka_waits_for_all_unless_said() -> None:
    assert realized("KAFKA")["acks"] == "all"


def test_two_names_of_one_setting_are_refused() -> None:
    assert faults("KAFKA", acks="1", ackmode=1) == ["acks"]


@covers("SUB-100", "SUB-125")
def test_nats_needs_a_subject() -> None:
    assert faults("NATS", subject=None) == ["subject"]
    assert realized("NATS", subject="a.b")["subject"] == "a.b"


@covers("SUB-100")
@pytest.mark.parametrize("subject", ["", "a.*", ">", "a b", "a..b", ".a", "a.", "a\tb", 5])
def test_nats_subject_must_be_publishable(subject: object) -> None:
    assert faults("NATS", subject=subject) == ["subject"]


@covers("SUB-074")
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_settings_of_delivery_are_the_same_for_every_protocol(protocol: str) -> None:
    chosen: dict[str, Any] = {"retry": 3, "timeout": 5, "deadlettersink": "http://dead/"}

    found: Subscription = read(document(protocol, **chosen))

    assert found.route(()).policy.retries == 3
    assert {name: found.protocolsettings[name] for name in chosen} == chosen
    assert faults(protocol, nosuch=1) == ["nosuch"]


@covers("SUB-009", "SUB-072")
def test_protocol_without_a_sink_is_refused_with_all_else_that_is_wrong(tmp_path: Path) -> None:
    with serving(tmp_path) as served:
        good = served.post("/subscriptions", document("KAFKA"))
        wrong = served.post("/subscriptions", document("MQTT5", qos=3))

        assert (good.status, good.paths) == (400, ["protocol"])
        assert "only over HTTP" in good.document["detail"]
        assert wrong.paths == ["protocol", "protocolsettings.qos"]
        assert served.get("/subscriptions").document == []
