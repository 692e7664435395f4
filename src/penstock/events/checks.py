"""What keeps an event from being a CloudEvent of its version, attribute by attribute."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from penstock.errors import Problem
from penstock.events.extensions import KNOWN
from penstock.events.plain import is_plain
from penstock.events.values import Kind, fault

if TYPE_CHECKING:
    from penstock.events.event import CloudEvent

VERSIONS = ("0.2", "1.0")

_FIELDS_10 = {
    name: name
    for name in (
        "specversion",
        "id",
        "source",
        "type",
        "subject",
        "time",
        "datacontenttype",
        "dataschema",
    )
}
_FIELDS_02 = {
    "specversion": "specversion",
    "id": "id",
    "source": "source",
    "type": "type",
    "time": "time",
    "contenttype": "datacontenttype",
    "schemaurl": "dataschema",
}
RENAMED: Mapping[str, str] = {
    "contenttype": "datacontenttype",
    "datacontenttype": "datacontenttype",
    "schemaurl": "dataschema",
    "dataschema": "dataschema",
}
_REQUIRED = frozenset({"specversion", "id", "source", "type"})
_KINDS = {
    "source": Kind.URI_REFERENCE,
    "time": Kind.TIMESTAMP,
    "contenttype": Kind.MEDIA_TYPE,
    "datacontenttype": Kind.MEDIA_TYPE,
    "schemaurl": Kind.URI_REFERENCE,
    "dataschema": Kind.URI,
}
_NAME = re.compile("[a-z0-9]+")
_MAX_DEPTH = 100


def fields(specversion: str) -> Mapping[str, str]:
    """Return the core attributes of a version, each with the field that holds it."""
    return _FIELDS_02 if specversion == "0.2" else _FIELDS_10


def problems(event: CloudEvent) -> tuple[Problem, ...]:
    """Return every fault of the event; none when it is valid."""
    return () if is_plain(event) else tuple(faults(event))


def faults(event: CloudEvent) -> Iterator[Problem]:
    """Yield every fault, whatever the event; `problems` spares that for most."""
    message: str | None
    known = event.specversion in (*VERSIONS, None, "")
    if not known and fault(Kind.STRING, event.specversion) is None:
        message = f"unsupported specversion {event.specversion[:20]!r}: use {' or '.join(VERSIONS)}"
        yield Problem("specversion", message)
        return
    for name, field in fields(event.specversion).items():
        message = _core_fault(name, getattr(event, field))
        if message is not None:
            yield Problem(name, message)
    if event.specversion == "0.2" and event.subject is not None:
        yield Problem("subject", "is an extension in 0.2, no core attribute")
    yield from _extension_faults(event)


def _core_fault(name: str, value: object) -> str | None:
    if value is None:
        return "is required" if name in _REQUIRED else None
    if value == "":
        return "must not be empty"
    return fault(_KINDS.get(name, Kind.STRING), value)


def _extension_faults(event: CloudEvent) -> Iterator[Problem]:
    old = event.specversion == "0.2"
    core = fields(event.specversion)
    for name, value in event.extensions.items():
        message = _name_fault(name, core, old=old)
        if message is not None:
            yield Problem(str(name), message)
        message = _json_fault(value) if old else _scalar_fault(name, value)
        if message is not None:
            yield Problem(str(name), message)


def _name_fault(name: str, core: Mapping[str, str], *, old: bool) -> str | None:
    if name == "data" or name in core:
        return "is no name for an extension: the specification uses it"
    if _NAME.fullmatch(name) is None:
        return "is no attribute name: use a to z and 0 to 9 only"
    if old and name[0].isdigit():
        return "is no attribute name in 0.2: start with a letter"
    return None


def _scalar_fault(name: str, value: object) -> str | None:
    known = KNOWN.get(name)
    if known is not None:
        return known.fault(value)
    if isinstance(value, str):
        return fault(Kind.STRING, value)
    if isinstance(value, bool | bytes):
        return None
    if isinstance(value, int):
        return fault(Kind.INTEGER, value)
    return f"{fault(Kind.STRING, value)}; 1.0 has scalar attributes only"


def _json_fault(value: object) -> str | None:
    if isinstance(value, str):
        return fault(Kind.STRING, value)
    layer: list[object] = [value]
    for _ in range(_MAX_DEPTH):
        if not all(map(_is_json, layer)):
            return "is no JSON value"
        layer = [item for outer in layer for item in _inside(outer)]
        if not layer:
            return None
    return f"is nested more than {_MAX_DEPTH} deep"


def _is_json(value: object) -> bool:
    if isinstance(value, dict):
        return all(isinstance(key, str) for key in value)
    if isinstance(value, float):
        return math.isfinite(value)
    return value is None or isinstance(value, bool | int | str | bytes | list)


def _inside(value: object) -> Iterable[object]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()
