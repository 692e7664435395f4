"""The data of an event as member of a JSON object, by content type and version."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from penstock.errors import EventError, Problem
from penstock.events import CloudEvent, DataForm
from penstock.events.media import codec, is_json, is_json_sequence, is_text, is_utf8
from penstock.events.values import canonical, parse_binary

Payload = tuple[bytes | None, DataForm]

_NULL = b"null"
_raw = msgspec.json.Decoder(msgspec.Raw)
_text = msgspec.json.Decoder(str)


def read(specversion: str, content_type: str | None, raw: bytes) -> Payload:
    """Return the data, and its form, that the raw JSON value of a `data` member stands for."""
    if content_type is not None and is_json(content_type):
        return raw, DataForm.BYTES
    old = specversion == "0.2"
    if raw.startswith(b'"') and (old or content_type is not None):
        return _read_text(content_type, _text.decode(raw), old=old)
    if content_type is None:
        return raw, DataForm.JSON
    if raw == _NULL:
        return None, DataForm.BYTES
    if old:
        return raw, DataForm.JSON
    message = "must be a string, because datacontenttype does not say that it is JSON"
    raise EventError([Problem("data", message)])


def _read_text(content_type: str | None, text: str, *, old: bool) -> Payload:
    if content_type is None:
        return text.encode(), DataForm.TEXT
    if old and not is_text(content_type):
        binary = parse_binary(text)
        if binary is not None:
            return binary, DataForm.BYTES
    charset = codec(content_type)
    if charset in (None, "utf-8"):
        return text.encode(), DataForm.TEXT
    try:
        return text.encode(charset), DataForm.BYTES
    except UnicodeEncodeError:
        return text.encode(), DataForm.TEXT


def write(event: CloudEvent) -> Mapping[str, object]:
    """Return the members that carry the data of the event."""
    if event.data is None:
        return {}
    return (
        _write_0_2(event, event.data) if event.specversion == "0.2" else _write(event, event.data)
    )


def _write(event: CloudEvent, data: bytes) -> Mapping[str, object]:
    content_type = event.datacontenttype
    json = is_json(content_type) if content_type is not None else event.form is DataForm.JSON
    if json:
        return {"data": msgspec.Raw(data)} if is_json_value(data) else {"data_base64": data}
    text = _decoded(content_type, data) if event.form is DataForm.BYTES else _utf8(data)
    return {"data_base64": data} if text is None else {"data": text}


def _write_0_2(event: CloudEvent, data: bytes) -> Mapping[str, object]:
    if _is_json_in_0_2(event, data):
        return {"data": msgspec.Raw(data)}
    content_type = event.datacontenttype
    if content_type is None:
        # Without a type a reader takes the string for text, so bytes have to say that they are.
        text = _utf8(data)
        binary = {"contenttype": "application/octet-stream", "data": canonical(data)}
        return binary if text is None else {"data": text}
    text = _decoded(content_type, data) if event.form is DataForm.BYTES else _utf8(data)
    if text is None or (not is_text(content_type) and parse_binary(text) is not None):
        text = canonical(data)
    return {"data": text}


def _is_json_in_0_2(event: CloudEvent, data: bytes) -> bool:
    content_type = event.datacontenttype
    if content_type is not None and is_json(content_type):
        return is_json_value(data)
    sequence = content_type is not None and is_json_sequence(content_type)
    if event.form is not DataForm.JSON and not sequence:
        return False
    # A string would be read as text, not as the JSON value that it is here.
    return not data.lstrip().startswith(b'"') and is_json_value(data)


def is_json_value(data: bytes) -> bool:
    """Say whether the bytes are one JSON value in UTF-8."""
    try:
        _raw.decode(data)
        return data.isascii() or is_utf8(data)
    except (msgspec.MsgspecError, RecursionError):
        return False


def _utf8(data: bytes) -> str | None:
    try:
        return data.decode()
    except UnicodeDecodeError:
        return None


def _decoded(content_type: str | None, data: bytes) -> str | None:
    """Return the text in the charset of a text type, if it turns back into the same bytes."""
    charset = codec(content_type) if content_type is not None and is_text(content_type) else None
    if charset is None:
        return None
    try:
        text = data.decode(charset)
        return text if text.encode(charset) == data else None
    except UnicodeError:
        return None
