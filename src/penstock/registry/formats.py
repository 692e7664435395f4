"""Names of formats and protocols: `NAME/VERSION`, in the spelling that is defined for them."""

from __future__ import annotations

import re
from collections.abc import Mapping

from penstock.registry.faults import Faults

_FORM = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.+-]*(?:/\S+)?")

SCHEMA_FORMATS = ("JsonSchema", "XSD", "Avro", "Protobuf")
MESSAGE_FORMATS = ("CloudEvents", "HTTP", "AMQP", "MQTT", "Kafka")
_VERSIONS: Mapping[str, tuple[str, ...]] = {
    "JsonSchema": ("draft-07", "draft/2019-09", "draft/2020-12"),
    "XSD": ("1.0", "1.1"),
    "Protobuf": ("2", "3"),
    "CloudEvents": ("1.0",),
    "HTTP": ("1.1", "2", "3"),
    "AMQP": ("1.0",),
    "MQTT": ("3.1.1", "5.0"),
    "Kafka": ("0.11",),
}
# What a version that is written otherwise, or not at all, stands for.
_MEANT: Mapping[str, str] = {
    "protobuf/3.0": "Protobuf/3",
    "protobuf/2.0": "Protobuf/2",
    "kafka": "Kafka/0.11",
    "http": "HTTP/1.1",
    "mqtt/3.1.1.": "MQTT/3.1.1",
}
JSON_FORMATS = frozenset({"JsonSchema", "Avro"})
_MEDIA_TYPES = {
    "JsonSchema": "application/json",
    "Avro": "application/json",
    "XSD": "application/xml",
}
DATA_TYPES: Mapping[str, str] = {
    "JsonSchema": "application/json",
    "Avro": "application/vnd.apache.avro",
    "Protobuf": "application/protobuf",
    "XSD": "application/xml",
}
"""The media type of data that a schema of a format describes."""


def name_of(format: str) -> str:  # noqa: A002 - the specification's word
    """Return the name in front of the first slash."""
    return format.partition("/")[0]


def media_type(format: str) -> str:  # noqa: A002
    """Return the media type of documents in a schema format."""
    return _MEDIA_TYPES.get(name_of(format), "text/plain")


def canonical(text: str, known: tuple[str, ...]) -> str:
    """Return a format in its defined spelling, if it is one of the known ones."""
    spelled = _MEANT.get(text.casefold(), text)
    name, slash, version = spelled.partition("/")
    proper = next((each for each in known if each.casefold() == name.casefold()), name)
    return f"{proper}{slash}{version}"


def read(faults: Faults, value: object, path: str, known: tuple[str, ...]) -> str | None:
    """Return a format with its version in the defined spelling."""
    found = read_loose(faults, value, path, known)
    if found is None:
        return None
    name, _, version = found.partition("/")
    if not version:
        faults.add(path, "must have the form NAME/VERSION")
        return None
    versions = _VERSIONS.get(name, ()) if name in known else ()
    if versions and version not in versions:
        listed = ", ".join(f"{name}/{each}" for each in versions)
        faults.add(path, f"there is no {found}; known are {listed}")
        return None
    return found


def read_loose(faults: Faults, value: object, path: str, known: tuple[str, ...]) -> str | None:
    """Return a format whose version may be missing."""
    text = faults.text(value, path)
    if text is None:
        return None
    if not _FORM.fullmatch(text):
        faults.add(path, "must have the form NAME/VERSION")
        return None
    return canonical(text, known)


def fits(child: str, parent: str) -> bool:
    """Say whether a format is what its parent's format allows: the same, or more precise."""
    return child == parent or child.startswith((f"{parent}/", f"{parent}."))
