"""The JSON event format of CloudEvents 0.2 and 1.0, with the JSON batch format."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from penstock.errors import EventError, FormatError, Problem
from penstock.events import CloudEvent, DataForm, from_attributes
from penstock.events.media import is_json, is_utf8
from penstock.events.plain import is_plain
from penstock.events.values import parse_binary
from penstock.formats import payload

_QUOTE = ord('"')
# A batch of nothing but faults would take long to name them all.
_MOST_REFUSED = 100
_CARRIERS: tuple[str, ...] = ("data", "data_base64")
_NOTHING = msgspec.Raw()
_BYTES = DataForm.BYTES
_NO_DATA: payload.Payload = (None, DataForm.BYTES)
_UNREADABLE = (msgspec.MsgspecError, EventError, UnicodeDecodeError, RecursionError)
_TEXT = re.compile(rb'("(?:[^"\\]|\\.)*+")(\s*:)?')
_OFFSET = re.compile(r"\(byte ([0-9]+)\)")


class _Usual(msgspec.Struct, gc=False):
    """The members of a 1.0 event without extensions."""

    specversion: str
    id: str
    source: str
    type: str
    subject: str | None = None
    time: str | None = None
    datacontenttype: str | None = None
    dataschema: str | None = None
    data: msgspec.Raw = _NOTHING


_USUAL = frozenset(_Usual.__struct_fields__)
_usual = msgspec.json.Decoder(_Usual)
_members = msgspec.json.Decoder(dict[str, msgspec.Raw])
_elements = msgspec.json.Decoder(list[msgspec.Raw])
_value = msgspec.json.Decoder()


class JsonFormat:
    """Events as JSON objects; `data` that is JSON stays byte for byte what it was."""

    media_type = "application/cloudevents+json"
    batch_media_type = "application/cloudevents-batch+json"

    def read(self, body: bytes) -> CloudEvent:
        """Return the event; FormatError if it is no JSON object, EventError if it is not valid."""
        try:
            found = _usual.decode(body)
            raw = bytes(found.data)
            content_type = found.datacontenttype
            absent = (found.subject, found.time, content_type, found.dataschema).count(None)
            # Every member has two quotes around its name, and two more if it is a text. Quotes
            # that the members found do not explain are of others: extensions, nulls, repetitions.
            quotes = body.count(_QUOTE) - raw.count(_QUOTE) - 4 * (8 - absent) - 2 * (raw != b"")
            extensions = _extensions(body, quotes) if quotes else {}
            data: bytes | None = raw
            form = _BYTES
            if raw == b"" or content_type is None or not is_json(content_type):
                data, form = payload.read("1.0", content_type, raw) if raw else _NO_DATA
        except _UNREADABLE:
            return _read_any(body)
        event = CloudEvent(
            found.id,
            found.source,
            found.type,
            found.specversion,
            found.subject,
            found.time,
            content_type,
            found.dataschema,
            extensions,
            data,
            form,
        )
        usual = found.specversion == "1.0" and (raw.isascii() or is_utf8(raw))
        return event if usual and is_plain(event) else _read_any(body)

    def write(self, event: CloudEvent) -> bytes:
        """Return the event as one minified JSON object."""
        return msgspec.json.encode({**event.attributes(), **payload.write(event)})

    def read_batch(self, body: bytes) -> list[CloudEvent]:
        """Return all events of a JSON array, or refuse the whole with the index of each fault."""
        try:
            elements = _elements.decode(body)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as exc:
            raise _malformed(exc, "array") from exc
        events: list[CloudEvent] = []
        problems: list[Problem] = []
        for index, element in enumerate(elements):
            try:
                events.append(self.read(bytes(element)))
            except (EventError, FormatError) as exc:
                problems += _within(index, exc)
            if index - len(events) == _MOST_REFUSED:
                problems.append(Problem("", f"not read further than event {index}"))
                break
        problems += _mixed_versions(events) if not problems else ()
        if problems:
            raise EventError(problems)
        return events

    def write_batch(self, events: Sequence[CloudEvent]) -> bytes:
        """Return the events as one minified JSON array."""
        return b"[" + b",".join(map(self.write, events)) + b"]"


def _within(index: int, exc: EventError | FormatError) -> list[Problem]:
    if isinstance(exc, FormatError):
        return [Problem(f"[{index}]", str(exc))]
    return [
        Problem(f"[{index}].{problem.path}".removesuffix("."), problem.message)
        for problem in exc.problems
    ]


def _mixed_versions(events: Sequence[CloudEvent]) -> list[Problem]:
    return [
        Problem(
            f"[{index}].specversion", f"differs from {events[0].specversion} of the first event"
        )
        for index, event in enumerate(events)
        if event.specversion != events[0].specversion
    ]


def _extensions(body: bytes, quotes: int) -> dict[str, Any]:
    """Return the members beside the usual ones; EventError if they do not explain the quotes."""
    extensions: dict[str, Any] = {}
    for name, member in _members.decode(body).items():
        if name not in _USUAL:
            raw = bytes(member)
            extensions[name] = _value.decode(raw)
            quotes -= 2 + raw.count(_QUOTE)
    if quotes:
        raise EventError([Problem("", "a member may be there twice")])
    return extensions


def _read_any(body: bytes) -> CloudEvent:
    """Return the event, or raise all that is wrong with it at once."""
    try:
        members = {name: bytes(raw) for name, raw in _members.decode(body).items()}
        body.decode()
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as exc:
        raise _malformed(exc, "object") from exc
    problems = _repetitions(body, members)
    carriers = {name: members.pop(name) for name in _CARRIERS if name in members}
    attributes = {name: _attribute(raw) for name, raw in members.items()}
    data, form = _NO_DATA
    try:
        data, form = _payload(carriers, attributes)
    except EventError as exc:
        problems += exc.problems
    try:
        event = from_attributes(attributes, data, form)
    except EventError as exc:
        raise EventError([*problems, *exc.problems]) from exc
    if problems:
        raise EventError(problems)
    return event


def _attribute(raw: bytes) -> object:
    try:
        return _value.decode(raw)
    except (msgspec.MsgspecError, RecursionError):
        # A number that no machine holds; infinity is refused wherever it turns up.
        return math.inf


def _payload(members: Mapping[str, bytes], attributes: Mapping[str, Any]) -> payload.Payload:
    version = attributes.get("specversion")
    encoded = _attribute(members["data_base64"]) if "data_base64" in members else None
    if encoded is not None:
        return _binary(encoded, alone="data" not in members, old=version == "0.2"), DataForm.BYTES
    if "data" not in members:
        return _NO_DATA
    content_type = attributes.get("contenttype" if version == "0.2" else "datacontenttype")
    known = content_type if isinstance(content_type, str) else None
    return payload.read(str(version), known, members["data"])


def _binary(encoded: object, *, alone: bool, old: bool) -> bytes:
    data = parse_binary(encoded) if isinstance(encoded, str) else None
    faults = [
        "is not known to 0.2" if old else None,
        None if alone else "excludes data",
        "is no base64 text (RFC 4648)" if data is None else None,
    ]
    problems = [Problem("data_base64", message) for message in faults if message is not None]
    if data is None or problems:
        raise EventError(problems)
    return data


def _repetitions(body: bytes, members: Mapping[str, bytes]) -> list[Problem]:
    """Return a problem for each member that comes twice; see `JsonFormat.read` for the quotes."""
    inside = sum(raw.count(_QUOTE) for raw in members.values())
    if body.count(_QUOTE) == 2 * len(members) + inside:
        return []
    names = _names(body)
    for raw in members.values():
        names.subtract(_names(raw))
    problems = [
        Problem(name, "must not be there twice")
        for name in members
        if names[msgspec.json.encode(name)] > 1
    ]
    odd = any('"' in name for name in members)
    return problems if problems or odd else [Problem("", "a member must not be there twice")]


def _names(text: bytes) -> Counter[bytes]:
    """Return how often each text, as it is written, is the name of a member at any depth."""
    return Counter(match[1] for match in _TEXT.finditer(text) if match[2])


def _malformed(exc: Exception, shape: str) -> FormatError:
    if isinstance(exc, RecursionError):
        return FormatError("the JSON is nested too deeply", format="json")
    if isinstance(exc, UnicodeDecodeError):
        return FormatError("the text is not UTF-8", format="json", offset=exc.start)
    if isinstance(exc, msgspec.ValidationError):
        return FormatError(f"expected a JSON {shape}", format="json")
    match = _OFFSET.search(str(exc))
    return FormatError(str(exc), format="json", offset=int(match[1]) if match else None)
