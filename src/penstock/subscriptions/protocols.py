"""Delivery protocols: the six names, where their sinks are, and what may be set for each."""

from __future__ import annotations

import re
from collections.abc import Mapping
from urllib.parse import unquote, urlsplit

from penstock.errors import Problem, ResourceError
from penstock.routing import ContentMode
from penstock.subscriptions.reading import mapping, refuse, text
from penstock.subscriptions.settings import (
    DELIVERY,
    DELIVERY_DEFAULTS,
    HTTP,
    Protocol,
    choice,
    whole,
)

_WEB_SOCKETS = frozenset({"ws", "wss"})
_LONGEST_MQTT_TEXT = 65_535
_MOST_EXPIRY = (1 << 32) - 1
_KAFKA_TOPIC = re.compile(r"[A-Za-z0-9._-]{1,249}")
_CLIENT_ID = re.compile(r"[ -~]+")
_ATTRIBUTE = re.compile(r"[a-z0-9]+")
_NATS_TOKEN = re.compile(r"[^\s\x00-\x1f\x7f.*>]+")
_ACKS: Mapping[object, str] = {"0": "0", "1": "1", "all": "all", "-1": "all"}


def _flag(value: object, path: str) -> bool:
    if isinstance(value, bool):
        return value
    raise refuse(path, "must be true or false")


def _mqtt_topic(value: object, path: str) -> str:
    topic = _mqtt_text(text(value, path), path)
    if "+" in topic or "#" in topic:
        raise refuse(path, "must not have + or #: nobody can publish to a wildcard")
    return topic


def _mqtt_text(found: str, path: str) -> str:
    if "\0" in found or len(found.encode("utf-8", "surrogatepass")) > _LONGEST_MQTT_TEXT:
        raise refuse(path, f"must have no NUL and at most {_LONGEST_MQTT_TEXT} bytes")
    return found


def _user_properties(value: object, path: str) -> dict[str, str]:
    problems: list[Problem] = []
    found = {}
    for name, content in mapping(value, path).items():
        try:
            if not isinstance(content, str):
                raise refuse(f"{path}.{name}", "must be a string")
            found[_mqtt_text(name, path)] = _mqtt_text(content, f"{path}.{name}")
        except ResourceError as exc:
            problems += exc.problems
    if problems:
        raise ResourceError(problems)
    return found


def _link_properties(value: object, path: str) -> dict[str, object]:
    properties = mapping(value, path)
    problems = [
        Problem(f"{path}.{name}", fault)
        for name, content in properties.items()
        for wrong, fault in (
            (not name.isascii(), "must have an ASCII name: it becomes an AMQP symbol"),
            (not isinstance(content, str | bool | int | float), "must be a text, number or flag"),
        )
        if wrong
    ]
    if problems:
        raise ResourceError(problems)
    return dict(properties)


def _kafka_topic(value: object, path: str) -> str:
    topic = text(value, path)
    if fault := _kafka_topic_fault(topic):
        raise refuse(path, fault)
    return topic


def _kafka_topic_fault(topic: str) -> str | None:
    if _KAFKA_TOPIC.fullmatch(topic) and topic not in {".", ".."}:
        return None
    return "must be 1 to 249 letters, digits, dots, underscores or hyphens"


def _key_attribute(value: object, path: str) -> str:
    name = text(value, path)
    if not _ATTRIBUTE.fullmatch(name) or name == "data":
        raise refuse(path, "must be the name of one context attribute, such as partitionkey")
    return name


def _client_id(value: object, path: str) -> str:
    found = text(value, path)
    if not _CLIENT_ID.fullmatch(found):
        raise refuse(path, "must be printable ASCII")
    return found


def _acks(value: object, path: str) -> str:
    spelled = str(value) if isinstance(value, int) and not isinstance(value, bool) else value
    if isinstance(spelled, str) and spelled in _ACKS:
        return _ACKS[spelled]
    raise refuse(path, "must be 0, 1 or all")


def _nats_subject(value: object, path: str) -> str:
    subject = text(value, path)
    if all(_NATS_TOKEN.fullmatch(token) for token in subject.split(".")):
        return subject
    raise refuse(path, "must be words joined by dots, without *, > or blanks")


def node(sink: str) -> str:
    """Return what the path of a sink names: a topic, a queue; empty where it names nothing."""
    return unquote(urlsplit(sink).path.removeprefix("/"))


def _kafka_place(sink: str, settings: Mapping[str, object]) -> str | None:
    if "topicname" in settings:
        return None
    topic = node(sink)
    if not topic:
        return "is required, here or as the path of the sink"
    fault = _kafka_topic_fault(topic)
    return f"is taken from the path of the sink, which {fault}" if fault else None


def _amqp_place(sink: str, settings: Mapping[str, object]) -> str | None:
    named, address = node(sink), settings.get("address")
    if address is None:
        return None if named else "is required, here or as the path of the sink"
    # The path of a WebSocket is where it is opened, not the node behind it.
    if not named or urlsplit(sink).scheme.lower() in _WEB_SOCKETS or named == address:
        return None
    return f"differs from the path of the sink, {named!r}: give one of them"


_MQTT = {
    "topicname": _mqtt_topic,
    "qos": whole(0, 2),
    "retain": _flag,
    "expiry": whole(0, _MOST_EXPIRY),
    "userproperties": _user_properties,
}
_MQTT_SCHEMES = ("mqtt", "mqtts", "tcp", "ssl", "ws", "wss")
_MQTT_DEFAULTS = {**DELIVERY_DEFAULTS, "qos": 1, "retain": False}

PROTOCOLS: Mapping[str, Protocol] = {
    "HTTP": HTTP,
    "MQTT3": Protocol(
        schemes=_MQTT_SCHEMES,
        # A message of MQTT 3 has no room for attributes beside the payload.
        settings={**DELIVERY, **_MQTT, "contentmode": choice(ContentMode.STRUCTURED)},
        defaults={**_MQTT_DEFAULTS, "contentmode": ContentMode.STRUCTURED.value},
        required=("topicname",),
        dropped=frozenset({"expiry", "userproperties"}),
    ),
    "MQTT5": Protocol(
        schemes=_MQTT_SCHEMES,
        settings={**DELIVERY, **_MQTT},
        defaults=_MQTT_DEFAULTS,
        required=("topicname",),
    ),
    "AMQP": Protocol(
        schemes=("amqp", "amqps", "ws", "wss"),
        settings={
            **DELIVERY,
            "address": text,
            "linkname": text,
            "sendersettlementmode": choice("settled", "unsettled"),
            "linkproperties": _link_properties,
        },
        defaults={**DELIVERY_DEFAULTS, "sendersettlementmode": "unsettled"},
        place="address",
        agree=_amqp_place,
    ),
    "KAFKA": Protocol(
        schemes=("kafka", "kafkas", "tcp"),
        settings={
            **DELIVERY,
            "topicname": _kafka_topic,
            "partitionkeyextractor": _key_attribute,
            "clientid": _client_id,
            "acks": _acks,
        },
        defaults={**DELIVERY_DEFAULTS, "acks": "all"},
        aliases={"ackmode": "acks"},
        place="topicname",
        agree=_kafka_place,
    ),
    "NATS": Protocol(
        schemes=("nats", "tls", "ws", "wss"),
        settings={**DELIVERY, "subject": _nats_subject},
        defaults=DELIVERY_DEFAULTS,
        required=("subject",),
    ),
}
"""What a subscription may say for each protocol that CloudEvents binds to (SUB-070)."""


def protocol(value: object, path: str) -> str:
    """Return the name of a protocol, one of the six."""
    name = text(value, path)
    if name in PROTOCOLS:
        return name
    if name.upper() in PROTOCOLS:
        raise refuse(path, f"is compared with regard to case: write {name.upper()}")
    raise refuse(path, f"is not supported; known are {', '.join(PROTOCOLS)}")
