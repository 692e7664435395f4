"""Endpoints: where messages are sent to, taken from or subscribed to (Endpoint Registry)."""

from __future__ import annotations

from collections.abc import Mapping

from penstock.events.values import parse_timestamp
from penstock.registry import options
from penstock.registry.faults import Faults, within

USAGES = ("subscriber", "consumer", "producer")
KNOWN = ("usage", "origin", "deprecated", "channel", "definitionGroups", "config")
_CONFIG = ("protocol", "endpoints", "options", "strict")
_WILL_FORMATS = ("CloudEvents/1.0", "MQTT/3.1.1", "MQTT/5.0")


def settled(faults: Faults, attributes: Mapping[str, object], path: str) -> dict[str, object]:
    """Return the attributes of an endpoint as they are kept."""
    kept = _gathered(faults, attributes, path)
    faults.one_of(kept.get("usage"), within(path, "usage"), USAGES)
    if "origin" in kept:
        faults.uri(kept["origin"], within(path, "origin"))
    if "deprecated" in kept:
        _deprecated(faults, kept["deprecated"], within(path, "deprecated"))
    if not isinstance(kept.get("channel", ""), str):
        faults.add(within(path, "channel"), "must be a string")
    if kept.get("channel") == "":
        del kept["channel"]
    if "definitionGroups" in kept:
        _groups(faults, kept["definitionGroups"], within(path, "definitionGroups"))
    if "config" in kept:
        kept["config"] = _config(faults, kept["config"], within(path, "config"))
    return kept


def removal(attributes: Mapping[str, object]) -> str | None:
    """Return the time before which an endpoint must not be removed."""
    deprecated = attributes.get("deprecated")
    found = deprecated.get("removal") if isinstance(deprecated, Mapping) else None
    return found if isinstance(found, str) else None


def will_message(attributes: Mapping[str, object]) -> str | None:
    """Return the reference to the definition of the last will, if there is one."""
    config = attributes.get("config")
    chosen = config.get("options") if isinstance(config, Mapping) else None
    found = chosen.get("will-message") if isinstance(chosen, Mapping) else None
    return found if isinstance(found, str) else None


def unfit_will(kind: str, format_: str) -> str | None:
    """Return why an object cannot be a last will."""
    if kind != "definition":
        return f"must lead to a definition, not to a {kind}"
    if format_ not in _WILL_FORMATS:
        return f"must lead to a definition in {' or '.join(_WILL_FORMATS)}, not {format_}"
    return None


def _gathered(faults: Faults, attributes: Mapping[str, object], path: str) -> dict[str, object]:
    """Return the attributes with those of `config` inside it, wherever they were (RA-74)."""
    loose = {name: attributes[name] for name in _CONFIG if name in attributes}
    kept = {name: value for name, value in attributes.items() if name not in loose}
    if not loose:
        return kept
    config = kept.get("config", {})
    if isinstance(config, Mapping):
        for name in loose.keys() & config.keys():
            faults.add(within(path, name), f"is there twice: here and in config.{name}")
        kept["config"] = {**loose, **config}
    return kept


def _groups(faults: Faults, value: object, path: str) -> None:
    for number, entry in enumerate(faults.array(value, path) or []):
        faults.reference(entry, f"{path}[{number}]")


def _deprecated(faults: Faults, value: object, path: str) -> None:
    found = faults.mapping(value, path)
    if found is None:
        return
    moments = {}
    for name in ("effective", "removal"):
        if name in found:
            text = faults.moment(found[name], within(path, name))
            moments[name] = parse_timestamp(text) if text else None
    effective, removed = moments.get("effective"), moments.get("removal")
    if effective and removed and removed < effective:
        faults.add(within(path, "removal"), "must not be before effective")
    for name in ("alternative", "docs"):
        if name in found:
            faults.uri(found[name], within(path, name))


def _config(faults: Faults, value: object, path: str) -> dict[str, object]:
    found = dict(faults.mapping(value, path) or {})
    if "strict" in found:
        faults.boolean(found["strict"], within(path, "strict"))
    if "protocol" not in found:
        faults.add(within(path, "protocol"), "is required, like HTTP/1.1")
        return found
    protocol = options.protocol(faults, found["protocol"], within(path, "protocol"))
    if protocol is None:
        return found
    found["protocol"] = protocol
    place = within(path, "endpoints")
    for number, entry in enumerate(faults.array(found.get("endpoints", []), place) or []):
        options.check_address(faults, protocol, entry, f"{place}[{number}]")
    if "options" in found:
        found["options"] = options.settled(
            faults, protocol, found["options"], within(path, "options")
        )
    return found
