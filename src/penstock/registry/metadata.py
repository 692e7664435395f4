"""Metadata of messages: which properties each message format has, and how they are declared."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from penstock.registry import formats, values
from penstock.registry.faults import Faults, within

_CLOUD_EVENTS: Mapping[str, str] = {
    "type": "string",
    "source": "uritemplate",
    "subject": "string",
    "id": "string",
    "time": "timestamp",
    "dataschema": "uritemplate",
    "datacontenttype": "string",
}
BASE_TYPES = _CLOUD_EVENTS
"""The types of CloudEvents attributes that a definition does not declare."""
ALWAYS_REQUIRED = ("type", "id", "source")
_ATTRIBUTE = re.compile(r"[a-z0-9]+")
_TOKEN = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_STATUS = re.compile(r"[1-5][0-9]{2}")
_AMQP_PROPERTIES: Mapping[str, str] = {
    "message-id": "string",
    "user-id": "binary",
    "to": "uritemplate",
    "subject": "string",
    "reply-to": "uritemplate",
    "correlation-id": "string",
    "content-type": "symbol",
    "content-encoding": "symbol",
    "absolute-expiry-time": "timestamp",
    "creation-time": "timestamp",
    "group-id": "string",
    "group-sequence": "integer",
    "reply-to-group-id": "uritemplate",
}
_AMQP_HEADER: Mapping[str, str] = {
    "durable": "boolean",
    "priority": "integer",
    "ttl": "integer",
    "first-acquirer": "boolean",
    "delivery-count": "integer",
}
_AMQP_FREE = ("application-properties", "message-annotations", "delivery-annotations", "footer")
_MQTT_3: Mapping[str, str] = {"qos": "integer", "retain": "boolean", "topic-name": "string"}
_MQTT_5: Mapping[str, str] = {
    **_MQTT_3,
    "payload-format": "integer",
    "message-expiry-interval": "integer",
    "response-topic": "uritemplate",
    "correlation-data": "binary",
    "content-type": "symbol",
}
_KAFKA: Mapping[str, str] = {
    "topic": "string",
    "partition": "integer",
    "key": "string",
    "timestamp": "integer",
}
_QOS = (0, 1, 2)


@dataclass(frozen=True, slots=True)
class _Dialect:
    """How one message format declares properties."""

    templated: tuple[str, ...]
    """The types whose values may have placeholders."""
    wire: bool = True


_CE = _Dialect(("string", "uritemplate"), wire=False)
_HTTP = _Dialect(("string", "uritemplate"), wire=False)
_AMQP = _Dialect(("string", "symbol", "uri", "uritemplate"))
_MQTT = _Dialect(("string", "symbol", "uritemplate"))
_RECORD = _Dialect(("string", "symbol", "uritemplate"))


def settled(faults: Faults, format_: str, metadata: Mapping[str, object], path: str) -> object:
    """Return metadata as it is kept; what an unknown format declares is kept as it is."""
    reader = _READERS.get(formats.name_of(format_))
    return metadata if reader is None else reader(faults, metadata, path, format_)


def warnings(format_: str, metadata: Mapping[str, object], path: str) -> list[tuple[str, str]]:
    """Return what the specification advises against."""
    declared = metadata.get("attributes")
    if formats.name_of(format_) != "CloudEvents" or not isinstance(declared, Mapping):
        return []
    found = []
    for name, advice in (("id", "no two events share it"), ("time", "it is when one is made")):
        entry = declared.get(name)
        value = entry.get("value") if isinstance(entry, Mapping) else None
        if value is not None and not (name == "time" and values.is_now(value)):
            found.append((f"{path}.attributes.{name}.value", f"should be left out: {advice}"))
    return found


def _cloud_events(
    faults: Faults, metadata: Mapping[str, object], path: str, _format: str
) -> dict[str, object]:
    _only(faults, metadata, ("attributes",), path)
    place = within(path, "attributes")
    declared = faults.mapping(metadata.get("attributes", {}), place) or {}
    kept = {}
    for name, entry in declared.items():
        where = within(place, name)
        if not _ATTRIBUTE.fullmatch(name):
            faults.add(where, "the name must be lower-case letters and digits")
        kept[name] = _property(faults, entry, where, (_CLOUD_EVENTS.get(name, "string"), _CE))
        if name in ALWAYS_REQUIRED and kept[name].get("required") is False:
            faults.add(within(where, "required"), "must not be false: every event has it")
    _specversion(faults, kept.get("specversion"), within(place, "specversion"))
    return {**metadata, "attributes": kept}


def _specversion(faults: Faults, entry: Mapping[str, object] | None, path: str) -> None:
    if entry is None:
        return
    if entry.get("value") != "1.0":
        faults.add(within(path, "value"), 'must be "1.0"')
    if entry.get("type", "string") != "string":
        faults.add(within(path, "type"), "must be string")


def _http(
    faults: Faults, metadata: Mapping[str, object], path: str, _format: str
) -> dict[str, object]:
    _only(faults, metadata, ("headers", "query", "path", "method", "status"), path)
    kept = {name: _bare(value) for name, value in metadata.items()}
    if "headers" in kept:
        kept["headers"] = _headers(faults, kept["headers"], within(path, "headers"))
    if "query" in kept:
        kept["query"] = _query(faults, kept["query"], within(path, "query"))
    for name, check in (("path", _template), ("method", _method), ("status", _status)):
        if name in kept:
            check(faults, kept[name], within(path, name))
    if "method" in kept and "status" in kept:
        faults.add(within(path, "status"), "excludes method: a message is a request or a response")
    return kept


def _template(faults: Faults, value: object, path: str) -> None:
    message = values.problem("uritemplate", value, wire=False, braces=True)
    if message:
        faults.add(path, message)


def _method(faults: Faults, value: object, path: str) -> None:
    if not isinstance(value, str) or not _TOKEN.fullmatch(value):
        faults.add(path, "must be the name of an HTTP method")


def _status(faults: Faults, value: object, path: str) -> None:
    if not isinstance(value, str) or not _STATUS.fullmatch(value):
        faults.add(path, "must be an HTTP status code as a string, like 200")


def _headers(faults: Faults, value: object, path: str) -> list[dict[str, object]]:
    kept = []
    for number, entry in enumerate(faults.array(value, path) or []):
        where = f"{path}[{number}]"
        name, rest = _named(faults, entry, where)
        if name is not None and not _TOKEN.fullmatch(name):
            faults.add(within(where, "name"), "must be the name of an HTTP header")
        kept.append({"name": name, **_property(faults, rest, where, ("string", _HTTP))})
    return kept


def _query(faults: Faults, value: object, path: str) -> dict[str, object]:
    kept = {}
    for name, entry in (faults.mapping(value, path) or {}).items():
        kept[name] = _bare(entry)
        if not isinstance(kept[name], str):
            faults.add(within(path, name), "must be a string")
    return kept


def _amqp(
    faults: Faults, metadata: Mapping[str, object], path: str, _format: str
) -> dict[str, object]:
    _only(faults, metadata, ("properties", "header", *_AMQP_FREE), path)
    kept: dict[str, object] = {}
    for section, value in metadata.items():
        place = within(path, section)
        table = {"properties": _AMQP_PROPERTIES, "header": _AMQP_HEADER}.get(section)
        declared = faults.mapping(value, place) or {}
        if table is not None:
            _only(faults, declared, tuple(table), place)
        else:
            _symbols(faults, declared, place)
        kept[section] = {
            name: _property(
                faults, entry, within(place, name), ((table or {}).get(name, "string"), _AMQP)
            )
            for name, entry in declared.items()
        }
    return kept


def _symbols(faults: Faults, declared: Mapping[str, object], path: str) -> None:
    for name in declared:
        if values.problem("symbol", name, wire=True, braces=False):
            faults.add(within(path, name), "the name must be ASCII text without spaces")


def _mqtt(
    faults: Faults, metadata: Mapping[str, object], path: str, format_: str
) -> dict[str, object]:
    is_five = format_.endswith("/5.0")
    table = _MQTT_5 if is_five else _MQTT_3
    _only(faults, metadata, (*table, *(("user-properties",) if is_five else ())), path)
    kept: dict[str, object] = {}
    for name, entry in metadata.items():
        place = within(path, name)
        if name == "user-properties":
            kept[name] = _user_properties(faults, entry, place)
        else:
            kept[name] = _property(faults, entry, place, (table.get(name, "var"), _MQTT))
    _qos(faults, kept.get("qos"), within(path, "qos"))
    return kept


def _qos(faults: Faults, entry: object, path: str) -> None:
    value = entry.get("value") if isinstance(entry, Mapping) else None
    if isinstance(value, int) and value not in _QOS:
        faults.add(within(path, "value"), "must be 0, 1 or 2")


def _user_properties(faults: Faults, value: object, path: str) -> list[dict[str, object]]:
    kept: list[dict[str, object]] = []
    for number, entry in enumerate(faults.array(value, path) or []):
        where = f"{path}[{number}]"
        name, rest = _named(faults, entry, where)
        kept.append({name or "": _property(faults, rest, where, ("string", _MQTT))})
    return kept


def _kafka(
    faults: Faults, metadata: Mapping[str, object], path: str, _format: str
) -> dict[str, object]:
    _only(faults, metadata, (*_KAFKA, "headers"), path)
    kept: dict[str, object] = {}
    for name, entry in metadata.items():
        place = within(path, name)
        if name == "headers":
            declared = faults.mapping(entry, place) or {}
            kept[name] = {
                each: _property(faults, _wrapped(one), within(place, each), ("string", _RECORD))
                for each, one in declared.items()
            }
        else:
            kept[name] = _property(faults, entry, place, (_KAFKA.get(name, "var"), _RECORD))
    return kept


def _property(
    faults: Faults, entry: object, path: str, usual: tuple[str, _Dialect]
) -> dict[str, object]:
    """Return one declaration, whose type is the usual one unless it says otherwise."""
    declared = dict(faults.mapping(entry, path) or {})
    base, dialect = usual
    if "required" in declared:
        faults.boolean(declared["required"], within(path, "required"))
    if "description" in declared:
        faults.text(declared["description"], within(path, "description"))
    if "specurl" in declared:
        faults.reference(declared["specurl"], within(path, "specurl"))
    type_ = base
    if "type" in declared:
        given = values.canonical_type(str(declared["type"]))
        declared["type"] = faults.one_of(given, within(path, "type"), values.TYPES) or base
        type_ = given if given in values.TYPES else "var"
    if "value" in declared:
        braces = type_ in dialect.templated
        message = values.problem(type_, declared["value"], wire=dialect.wire, braces=braces)
        if message:
            faults.add(within(path, "value"), message)
    return declared


def _named(faults: Faults, entry: object, path: str) -> tuple[str | None, Mapping[str, object]]:
    """Return the name of an entry and its declaration, in whichever way it is written (RA-78)."""
    found = faults.mapping(entry, path) or {}
    if isinstance(found.get("name"), str):
        return str(found["name"]), {key: one for key, one in found.items() if key != "name"}
    if len(found) == 1:
        name, rest = next(iter(found.items()))
        return name, faults.mapping(_wrapped(rest), within(path, name)) or {}
    faults.add(path, "must have one name")
    return None, {}


def _wrapped(value: object) -> object:
    return {"value": value} if isinstance(value, str) else value


def _bare(value: object) -> object:
    """Return a plain value also where it is written as a declaration (RA-79)."""
    return value["value"] if isinstance(value, Mapping) and set(value) == {"value"} else value


def _only(faults: Faults, found: Mapping[str, object], known: tuple[str, ...], path: str) -> None:
    for name in found:
        if name not in known:
            faults.add(within(path, name), f"is not known here; known are {', '.join(known)}")


_Reader = Callable[[Faults, Mapping[str, object], str, str], dict[str, object]]
_READERS: Mapping[str, _Reader] = {
    "CloudEvents": _cloud_events,
    "HTTP": _http,
    "AMQP": _amqp,
    "MQTT": _mqtt,
    "Kafka": _kafka,
}
