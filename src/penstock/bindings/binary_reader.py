"""Events out of messages in binary mode: attributes in `ce-` headers, data in the body."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from penstock.bindings.base import Headers
from penstock.bindings.headers import decode, decode_json
from penstock.errors import EventError, Problem
from penstock.events import CloudEvent, from_attributes
from penstock.events.plain import is_common_time, names
from penstock.events.values import (
    is_media_type,
    is_string,
    is_timestamp,
    is_uri,
    is_uri_reference,
)

_PREFIX = b"ce-"
_TYPE = "content-type"
_REQUIRED = frozenset({b"ce-specversion", b"ce-id", b"ce-source", b"ce-type"})
_TEXTS_IN_0_2 = frozenset(
    {"specversion", "id", "source", "type", "time", "contenttype", "schemaurl"}
)
_WHOLE_EVENTS: tuple[tuple[Any, str], ...] = (
    (dict[str, msgspec.Raw], "application/cloudevents+json"),
    (list[dict[str, msgspec.Raw]], "application/cloudevents-batch+json"),
)


class _Texts(dict[bytes, str]):
    """Header values met before, decoded and found good: producers repeat theirs in every message.

    A value that is odd in any way is a KeyError. Long ones are not kept and a full table is
    emptied, so that no stranger fills the memory.
    """

    size = 4096
    length = 256

    def __init__(self, decode: Callable[[bytes], str], check: Callable[[str], bool]) -> None:
        super().__init__()
        self._decode = decode
        self._check = check

    def __missing__(self, raw: bytes) -> str:
        text = self._decode(raw)
        if not self._check(text):
            raise KeyError(raw)
        if len(raw) <= self.length:
            if len(self) >= self.size:
                self.clear()
            self[raw] = text
        return text


# All that a value may have without being quoted or percent-encoded.
_SAFE = bytes(set(range(0x21, 0x7F)) - set(b'%"'))


def _plain(raw: bytes) -> str:
    """Return a text that is neither empty, quoted nor percent-encoded; KeyError for others."""
    if raw == b"" or raw.translate(None, _SAFE):
        raise KeyError(raw)
    return raw.decode()


def _timestamp(raw: bytes) -> str:
    text = raw.decode()
    if is_common_time(text) is None and not is_timestamp(text):
        raise KeyError(raw)
    return text


_sources = _Texts(_plain, is_uri_reference)
_types = _Texts(_plain, is_string)
_media_types = _Texts(bytes.decode, is_media_type)
_schemas = _Texts(_plain, is_uri)
_versions = {b"1.0": "1.0"}


def read(headers: Headers, body: bytes) -> CloudEvent:
    """Return the valid event; EventError names every problem."""
    return _read_usual(headers, body) or _read_any(headers, body)


def _read_usual(headers: Headers, body: bytes) -> CloudEvent | None:
    """Return the valid 1.0 event, or None where reading takes more care."""
    found = dict(headers)
    if len(found) != len(headers):
        return None
    take = found.pop
    try:
        text, subject = take(b"ce-id"), take(b"ce-subject", None)
        time, media_type = take(b"ce-time", None), take(b"content-type", None)
        schema = take(b"ce-dataschema", None)
        event = CloudEvent(
            _plain(text),
            _sources[take(b"ce-source")],
            _types[take(b"ce-type")],
            _versions[take(b"ce-specversion")],
            None if subject is None else _plain(subject),
            None if time is None else _timestamp(time),
            None if media_type is None else _media_types[media_type],
            None if schema is None else _schemas[schema],
            _extensions(found) if _PREFIX in b" ".join(found).lower() else {},
            body or None,
        )
    except (KeyError, UnicodeDecodeError):
        return None
    return event


def _extensions(found: Mapping[bytes, bytes]) -> dict[str, str]:
    """Return the attributes among the headers that are left, whose names are in lower case."""
    extensions: dict[str, str] = {}
    for header in found:
        if header[:3] == _PREFIX:
            name = header[3:].decode()
            if name not in names and not names.admits(name):
                raise KeyError(name)
            extensions[name] = _plain(found[header])
    if not b"".join(found).islower():
        raise KeyError(*found)
    return extensions


def is_event(headers: Headers) -> bool:
    """Say whether all required attributes have headers, so that the message is meant as event."""
    return {header.lower() for header, _ in headers} >= _REQUIRED


def _read_any(headers: Headers, body: bytes) -> CloudEvent:
    """Return the event, or raise all that is wrong with it at once."""
    raw, problems = _gathered(headers)
    content_type = raw.pop(_TYPE, b"").decode("latin-1").strip() or None
    if not raw:
        problems += _hints(body)
    old = raw.get("specversion", b"").strip(b' "') == b"0.2"
    attributes: dict[str, Any] = {}
    for name, value in raw.items():
        try:
            attributes[name] = _read_0_2(name, value) if old else decode(name, value)
        except EventError as exc:
            problems += exc.problems
    problems += _gather_maps(attributes) if old else ()
    problems += _set_content_type(attributes, content_type, old=old)
    try:
        event = from_attributes(attributes, body or None)
    except EventError as exc:
        known = {problem.path for problem in problems}
        problems += [problem for problem in exc.problems if problem.path not in known]
        raise EventError(problems) from exc
    if problems:
        raise EventError(problems)
    return event


def _gathered(headers: Headers) -> tuple[dict[str, bytes], list[Problem]]:
    raw: dict[str, bytes] = {}
    problems: list[Problem] = []
    for header, value in headers:
        name = _name(header.lower())
        if name in raw and (name != _TYPE or value != raw[name]):
            problems.append(Problem(name, "must not have two headers"))
        elif name is not None:
            raw[name] = value
    return raw, problems


def _name(header: bytes) -> str | None:
    if header == b"content-type":
        return _TYPE
    # A header `ce-data` is no attribute: data has its own place.
    ours = header.startswith(_PREFIX) and header != b"ce-data"
    return header[len(_PREFIX) :].decode("latin-1") if ours else None


def _read_0_2(name: str, value: bytes) -> Any:  # noqa: ANN401 - any JSON value
    found = decode_json(name, value)
    # Core attributes are texts in 0.2, whether quoted or not; `ce-id: 1234` is no number.
    return found if isinstance(found, str) or name not in _TEXTS_IN_0_2 else decode(name, value)


def _gather_maps(attributes: dict[str, Any]) -> list[Problem]:
    """Turn all `attribute-key` into maps; they have one header for each entry (0.2, 3.1.3.1)."""
    maps: dict[str, dict[str, Any]] = {}
    for name in [name for name in attributes if "-" in name]:
        outer, _, key = name.partition("-")
        maps.setdefault(outer, {})[key] = attributes.pop(name)
    clashes = [name for name in maps if name in attributes]
    attributes.update(maps)
    return [
        Problem(name, "must not have a header besides those of its entries") for name in clashes
    ]


def _set_content_type(
    attributes: dict[str, Any], content_type: str | None, *, old: bool
) -> list[Problem]:
    name = "contenttype" if old else "datacontenttype"
    given = attributes.get(name)
    if content_type is None:
        return []
    attributes[name] = content_type
    if given is None or given == content_type:
        return []
    return [Problem(name, "differs from Content-Type, which takes its place")]


def _hints(body: bytes) -> list[Problem]:
    for shape, media_type in _WHOLE_EVENTS:
        try:
            found = msgspec.json.decode(body, type=shape)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            continue
        first = found[0] if isinstance(found, list) and found else found
        if "specversion" in first:
            message = f"says binary mode, but the body is a whole event: send {media_type}"
            return [Problem(_TYPE, message)]
    return []
