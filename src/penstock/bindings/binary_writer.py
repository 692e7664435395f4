"""Events into messages in binary mode: attributes in `ce-` headers, data in the body."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from penstock.bindings.base import Message
from penstock.bindings.headers import encode, encode_json
from penstock.errors import EventError, Problem, UnsupportedError
from penstock.events import CloudEvent, DataForm, Value
from penstock.events.media import JSON
from penstock.events.values import canonical, is_media_type

_NAME = re.compile("[a-z0-9]+")
# Names of headers have no case, so only such keys come back as they were.
_KEY = re.compile("[a-z0-9!#$%&'*+.^_`|~-]+")
_NEEDS_ENCODING = re.compile("[^\n!#$&-~]")
_OPTIONS = (
    ("subject", b"ce-subject"),
    ("time", b"ce-time"),
    ("dataschema", b"ce-dataschema"),
)


def can_write(event: CloudEvent) -> bool:
    """Say whether headers can carry all attributes; some maps of 0.2 do not fit (HTTP 3.1.3.1)."""
    if event.specversion != "0.2":
        return True
    return all(
        len(value) > 0 and all(_KEY.fullmatch(key) for key in value)
        for value in event.extensions.values()
        if isinstance(value, dict)
    )


def write(event: CloudEvent) -> Message:
    """Return the message; UnsupportedError where a map of 0.2 does not fit into headers."""
    headers = _headers_0_2(event) if event.specversion == "0.2" else _headers(event)
    content_type = event.datacontenttype
    if content_type is None and event.form is DataForm.JSON and event.data is not None:
        content_type = JSON
    if content_type is not None:
        headers.append((b"content-type", _media_type(content_type)))
    return Message(tuple(headers), event.data or b"")


def _headers(event: CloudEvent) -> list[tuple[bytes, bytes]]:
    names = [b"ce-specversion", b"ce-id", b"ce-source", b"ce-type"]
    texts = [event.specversion, event.id, event.source, event.type]
    for field, name in _OPTIONS:
        text = getattr(event, field)
        if text is not None:
            names.append(name)
            texts.append(text)
    for field, value in event.extensions.items():
        names.append(_header(field))
        texts.append(_text(value))
    # One look at all values together; most need no encoding.
    joined = "\n".join(texts)
    values = joined.split("\n")
    if _NEEDS_ENCODING.search(joined) or len(values) != len(names):
        values = [encode(text) for text in texts]
    return [(name, value.encode("ascii")) for name, value in zip(names, values, strict=True)]


def _headers_0_2(event: CloudEvent) -> list[tuple[bytes, bytes]]:
    if not can_write(event):
        message = "the event has a map that binary mode cannot carry: use structured mode"
        raise UnsupportedError(message, what="binary mode")
    return [(name, encode_json(value).encode("ascii")) for name, value in _flattened(event)]


def _flattened(event: CloudEvent) -> Iterator[tuple[bytes, object]]:
    for name, value in event.attributes().items():
        if isinstance(value, dict):
            yield from ((_header(name) + f"-{key}".encode("ascii"), value[key]) for key in value)
        elif name != "contenttype":
            yield _header(name), value


def _text(value: Value) -> str:
    if isinstance(value, bool | int | str | bytes):
        return canonical(value)
    raise EventError([Problem("", "a map, list or fraction is no value in 1.0")])


# The checks below keep an event that nobody validated from writing headers of its own.


@lru_cache(maxsize=1024)
def _header(name: str) -> bytes:
    if _NAME.fullmatch(name) is None:
        raise EventError([Problem(name, "is no attribute name: use a to z and 0 to 9 only")])
    return f"ce-{name}".encode("ascii")


@lru_cache(maxsize=256)
def _media_type(text: str) -> bytes:
    if not is_media_type(text):
        raise EventError([Problem("datacontenttype", "is not of type media type")])
    return text.encode("ascii")
