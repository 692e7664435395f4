"""Core objects in the Protocol Buffers of Kubernetes, in which `kubectl create` sends them.

Only the fields that mean something here are read; `kubectl apply` always sends JSON.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from penstock.errors import FormatError, UnsupportedError

MEDIA_TYPE = "application/vnd.kubernetes.protobuf"

_MAGIC = b"k8s\0"
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_WIDTHS = {_FIXED64: 8, _FIXED32: 4}


class _Field(NamedTuple):
    name: str
    below: Mapping[int, _Field] | None = None
    """The fields of a message; None for a text or a number."""
    many: bool = False
    pairs: bool = False
    """Whether it is a map of texts."""


_UNKNOWN = {
    1: _Field("type", {1: _Field("apiVersion"), 2: _Field("kind")}),
}
_METADATA = {
    1: _Field("name"),
    2: _Field("generateName"),
    3: _Field("namespace"),
    11: _Field("labels", pairs=True),
    12: _Field("annotations", pairs=True),
    14: _Field("finalizers", many=True),
}
_PORT = {
    1: _Field("name"),
    2: _Field("protocol"),
    3: _Field("port"),
    4: _Field("targetPort", {2: _Field("number"), 3: _Field("name")}),
}
_SERVICE = {
    1: _Field("ports", _PORT, many=True),
    2: _Field("selector", pairs=True),
    3: _Field("clusterIP"),
    4: _Field("type"),
    10: _Field("externalName"),
}
_HEAD = _Field("metadata", _METADATA)
_KINDS: Mapping[str, Mapping[int, _Field]] = {
    "Namespace": {1: _HEAD},
    "ConfigMap": {1: _HEAD, 2: _Field("data", pairs=True)},
    "Service": {1: _HEAD, 2: _Field("spec", _SERVICE)},
    "DeleteOptions": {},
}


def document(body: bytes) -> dict[str, Any]:
    """Return the object in a body as JSON would have it."""
    if not body.startswith(_MAGIC):
        raise FormatError("the body is not an object of Kubernetes", format="protobuf")
    try:
        outer = dict(_fields(body[len(_MAGIC) :]))
        head = _message(body[len(_MAGIC) :], _UNKNOWN)["type"]
        if head["kind"] not in _KINDS:
            raise UnsupportedError(f"send a {head['kind']} as JSON", what=MEDIA_TYPE)
        found = _message(_raw(outer.get(2, b"")), _KINDS[head["kind"]])
    except (IndexError, KeyError, ValueError, TypeError) as exc:
        raise FormatError(f"the body is not Protocol Buffers: {exc}", format="protobuf") from exc
    for port in found.get("spec", {}).get("ports", ()):
        if isinstance(port.get("targetPort"), dict):
            target = port.pop("targetPort")
            port["targetPort"] = target.get("name") or target.get("number", 0)
    return {**head, **found}


def _message(body: bytes, known: Mapping[int, _Field]) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for number, value in _fields(body):
        field = known.get(number)
        if field is None:
            continue
        if field.pairs:
            key, text = _pair(_raw(value))
            made.setdefault(field.name, {})[key] = text
        elif field.many:
            made.setdefault(field.name, []).append(_value(field, value))
        # An empty text means that there is none.
        elif value not in (b"", 0):
            made[field.name] = _value(field, value)
    return made


def _value(field: _Field, value: bytes | int) -> Any:  # noqa: ANN401 - any JSON value
    if isinstance(value, int):
        return value
    return value.decode() if field.below is None else _message(value, field.below)


def _pair(body: bytes) -> tuple[str, str]:
    found = dict(_fields(body))
    return _raw(found.get(1, b"")).decode(), _raw(found.get(2, b"")).decode()


def _raw(value: bytes | int) -> bytes:
    if isinstance(value, int):
        raise TypeError("a number where bytes are expected")
    return value


def _fields(body: bytes) -> Iterator[tuple[int, bytes | int]]:
    at = 0
    while at < len(body):
        tag, at = _varint(body, at)
        number, wire = tag >> 3, tag & 7
        if wire == _VARINT:
            value, at = _varint(body, at)
            yield number, value
            continue
        if wire == _BYTES:
            size, at = _varint(body, at)
        else:
            size = _WIDTHS[wire]
        if at + size > len(body):
            raise ValueError("it ends too early")
        yield number, body[at : at + size]
        at += size


def _varint(body: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = body[at]
        value |= (byte & 0x7F) << shift
        at += 1
        shift += 7
        if byte < 0x80 or shift > 63:  # noqa: PLR2004 - the last byte has no eighth bit
            return value, at
