"""OpenAPI 2 in Protocol Buffers, the only form that clients before 1.24 read.

The message is `openapi.v2.Document` of the gnostic project; only the fields that clients look at
are written.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

# The name that clients ask for has an @ in it, which many of them cannot read in an answer.
MEDIA_TYPE = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"

_LENGTH = 2
# Document
_SWAGGER, _INFO, _PATHS, _DEFINITIONS = 1, 2, 8, 9
# Schema
_REF, _FORMAT, _DESCRIPTION, _REQUIRED = 1, 2, 4, 19
_ADDITIONAL, _TYPE, _ITEMS, _PROPERTIES, _EXTENSION = 21, 22, 23, 25, 31


def encoded(document: Mapping[str, Any]) -> bytes:
    """Return a document of OpenAPI 2 as bytes."""
    info = _text(1, document["info"]["title"]) + _text(2, document["info"]["version"])
    definitions = b"".join(_named(1, key, found) for key, found in document["definitions"].items())
    return b"".join(
        (
            _text(_SWAGGER, document["swagger"]),
            _field(_INFO, info),
            _field(_PATHS, b"".join(map(_path, document["paths"].items()))),
            _field(_DEFINITIONS, definitions),
        )
    )


def _path(path: tuple[str, Mapping[str, Any]]) -> bytes:
    """Return what there is at a path: a patch, and the parameters in its query."""
    name, methods = path
    patch = methods["patch"]
    query = (_text(2, "query") + _text(4, one["name"]) for one in patch["parameters"])
    # A parameter that is not in the body, and among those one in the query.
    parameters = (_field(8, _field(1, _field(2, _field(3, one)))) for one in query)
    operation = b"".join((*parameters, *_extensions(patch, 13)))
    return _field(2, _text(1, name) + _field(2, _field(8, operation)))


def _schema(found: Mapping[str, Any]) -> bytes:
    parts = [
        _text(number, found[key])
        for key, number in (("$ref", _REF), ("format", _FORMAT), ("description", _DESCRIPTION))
        if key in found
    ]
    parts += [_text(_REQUIRED, name) for name in found.get("required", ())]
    if "additionalProperties" in found:
        parts.append(_field(_ADDITIONAL, _field(1, _schema(found["additionalProperties"]))))
    if "type" in found:
        parts.append(_field(_TYPE, _text(1, found["type"])))
    if "items" in found:
        parts.append(_field(_ITEMS, _field(1, _schema(found["items"]))))
    if "properties" in found:
        below = b"".join(_named(1, key, each) for key, each in found["properties"].items())
        parts.append(_field(_PROPERTIES, below))
    return b"".join((*parts, *_extensions(found, _EXTENSION)))


def _extensions(found: Mapping[str, Any], number: int) -> Iterable[bytes]:
    for name, value in found.items():
        if name.startswith("x-"):
            # Any JSON is YAML.
            text = msgspec.json.encode(value).decode()
            yield _field(number, _text(1, name) + _field(2, _text(2, text)))


def _named(number: int, name: str, found: Mapping[str, Any]) -> bytes:
    return _field(number, _text(1, name) + _field(2, _schema(found)))


def _text(number: int, text: str) -> bytes:
    return _field(number, text.encode())


def _field(number: int, body: bytes) -> bytes:
    return _varint(number << 3 | _LENGTH) + _varint(len(body)) + body


def _varint(number: int) -> bytes:
    made = bytearray()
    while number > 0x7F:  # noqa: PLR2004 - seven bits per byte
        made.append(number & 0x7F | 0x80)
        number >>= 7
    made.append(number)
    return bytes(made)
