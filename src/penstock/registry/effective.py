"""What definitions and endpoints mean once everything that is implied is written out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from urllib.parse import unquote, urlsplit

from penstock.registry import formats, options, values
from penstock.registry.entities import Group, Resource, key
from penstock.registry.metadata import ALWAYS_REQUIRED, BASE_TYPES
from penstock.registry.model import GroupType
from penstock.registry.reader import Reader
from penstock.registry.references import Missing

_USAGES = {
    "durable": "producer",
    "distribution-mode": "consumer",
    "retain": "producer",
    "acks": "producer",
    "key": "producer",
    "partition": "producer",
    "consumer-group": "consumer",
}
"""Options that mean something for one usage only (RA-86)."""
_NAMED = {"AMQP": "node", "MQTT": "topic", "KAFKA": "topic", "NATS": "subject"}


def definition(reader: Reader, resource: Resource, base: str) -> dict[str, object]:
    """Return a definition with the attributes and values that CloudEvents and its schema imply."""
    found = attributes(reader, resource.latest.attributes, base)
    shown: dict[str, object] = {"id": resource.id, **found}
    if found.get("format") == "CloudEvents/1.0":
        shown["metadata"] = {"attributes": _declared(found, f"{base}{resource.place.path}")}
    return shown


def attributes(reader: Reader, own: Mapping[str, object], base: str) -> dict[str, object]:
    """Return the attributes of a definition; one that is borrowed has those of its origin."""
    reference = own.get("uri")
    if not isinstance(reference, str):
        return dict(own)
    try:
        target = reader.lookup().origin(reference, base)
    except Missing:
        return dict(own)
    value = target.value if target is not None else None
    return {**(value if isinstance(value, dict) else {}), **own}


def endpoint(reader: Reader, group: Group, base: str) -> dict[str, object]:
    """Return an endpoint with its defaults, and with what its definitions override."""
    found = group.attributes
    address = f"{base}/endpoints/{group.id}"
    shown = {"id": group.id, "origin": address, **found}
    config = found.get("config")
    if isinstance(config, Mapping):
        shown["config"] = _config(reader, group, config, base)
    return shown


def _declared(found: Mapping[str, object], address: str) -> dict[str, object]:
    metadata = found.get("metadata")
    given = metadata.get("attributes") if isinstance(metadata, Mapping) else None
    declared = given if isinstance(given, Mapping) else {}
    implied = _implied(found, address)
    return {
        name: {
            "type": BASE_TYPES.get(name, "string"),
            "required": name in ALWAYS_REQUIRED,
            **({"value": implied[name]} if name in implied else {}),
            **(declared.get(name) or {}),
        }
        for name in (*BASE_TYPES, *(each for each in declared if each not in BASE_TYPES))
    }


def _implied(found: Mapping[str, object], address: str) -> dict[str, object]:
    implied: dict[str, object] = {"time": values.NOW}
    media_type = formats.DATA_TYPES.get(formats.name_of(str(found.get("schemaformat", ""))))
    if media_type:
        implied["datacontenttype"] = media_type
    if "schemaurl" in found:
        implied["dataschema"] = found["schemaurl"]
    elif "schema" in found:
        implied["dataschema"] = address
    return implied


def _config(
    reader: Reader, group: Group, config: Mapping[str, object], base: str
) -> dict[str, object]:
    shown = {"strict": False, **config}
    protocol = options.known(str(config.get("protocol", "")))
    if protocol is None:
        return shown
    name, slash, version = str(config["protocol"]).partition("/")
    shown["protocol"] = f"{name}/{version if slash else protocol.latest}"
    given = config.get("options")
    chosen = {**protocol.defaults, **(given if isinstance(given, Mapping) else {})}
    usage = group.attributes.get("usage")
    shown["options"] = {
        option: value for option, value in chosen.items() if _USAGES.get(option, usage) == usage
    } | _overridden(reader, group, protocol, base)
    shown["address"] = _address(protocol, config, chosen)
    return shown


def _address(
    protocol: options.Protocol, config: Mapping[str, object], chosen: Mapping[str, object]
) -> object:
    """Return the node, topic or subject: the option, or else the path of the first address."""
    option = _NAMED.get(protocol.name)
    addresses = config.get("endpoints")
    first = str(addresses[0]) if isinstance(addresses, list) and addresses else ""
    if option is None:
        return first
    return chosen.get(option) or unquote(urlsplit(first).path.removeprefix("/"))


def _overridden(
    reader: Reader, group: Group, protocol: options.Protocol, base: str
) -> dict[str, object]:
    if protocol.name != "MQTT":
        return {}
    found = {}
    for declared in _metadata(reader, group, base):
        for option in ("qos", "retain"):
            entry = declared.get(option)
            if isinstance(entry, Mapping) and "value" in entry:
                found[option] = entry["value"]
    return found


def _metadata(reader: Reader, group: Group, base: str) -> Iterator[Mapping[str, object]]:
    type_ = reader.model().group("endpoints")
    for each in (type_ or GroupType("", "")).resources:
        for resource in reader.all_resources(key("endpoints", group.id), each):
            found = attributes(reader, resource.latest.attributes, base).get("metadata")
            if isinstance(found, Mapping):
                yield found
