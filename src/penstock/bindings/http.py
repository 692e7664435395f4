"""The HTTP binding of CloudEvents 0.2 and 1.0, in all three modes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from penstock.bindings import binary_reader, binary_writer
from penstock.bindings.base import Headers, Message, Mode
from penstock.errors import EventError, FormatError, Problem, UnsupportedError
from penstock.events import CloudEvent
from penstock.events.media import essence
from penstock.formats import Format, load

can_write_binary = binary_writer.can_write

_SINGLE = "application/cloudevents"
_BATCH = "application/cloudevents-batch"
_CHARSET = "; charset=utf-8"


def mode(content_type: bytes | str | None) -> Mode:
    """Return the mode that the `Content-Type` of a message announces (HTTP 3)."""
    text = content_type.decode("latin-1") if isinstance(content_type, bytes) else content_type
    kind = essence(text or "")
    if kind.startswith(_BATCH):
        return Mode.BATCHED
    return Mode.STRUCTURED if kind.startswith(_SINGLE) else Mode.BINARY


def read(headers: Headers, body: bytes) -> list[CloudEvent]:
    """Return the valid events of a message in any mode.

    EventError names every problem, FormatError says that the body is not in the announced format,
    UnsupportedError that this format is not known here.
    """
    content_type = _content_type(headers)
    form, batched, named = _announced(content_type)
    if form is None:
        return [binary_reader.read(headers, body)]
    try:
        return form.read_batch(body) if batched else [form.read(body)]
    except FormatError as exc:
        if named:
            raise
        raise _unknown(content_type) from exc


def read_reply(headers: Headers, body: bytes) -> CloudEvent | None:
    """Return the event that a response carries, or None when it carries none (HTTP 3)."""
    if mode(_content_type(headers)) is Mode.BINARY and not binary_reader.is_event(headers):
        return None
    events = read(headers, body)
    if len(events) > 1:
        raise EventError([Problem("", f"a reply is one event, not a batch of {len(events)}")])
    return events[0] if events else None


def write(event: CloudEvent, mode: Mode) -> Message:
    """Return the message that carries the event; UnsupportedError where a mode cannot."""
    if mode is Mode.BINARY:
        return binary_writer.write(event)
    if mode is Mode.BATCHED:
        return write_batch([event])
    form = load("json")
    return _message(form.media_type, form.write(event))


def write_batch(events: Sequence[CloudEvent]) -> Message:
    """Return one message that carries all the events."""
    form = load("json")
    return _message(form.batch_media_type, form.write_batch(events))


def _message(media_type: str, body: bytes) -> Message:
    return Message(((b"content-type", (media_type + _CHARSET).encode()),), body)


def _content_type(headers: Headers) -> bytes:
    # Clients write it late, so that looking from the end finds it soon.
    for name, value in reversed(headers):
        if name == b"content-type":
            return value
    return next((value for name, value in headers if name.lower() == b"content-type"), b"")


@lru_cache(maxsize=256)
def _announced(content_type: bytes) -> tuple[Format | None, bool, bool]:
    """Return the format, if any, whether it is of a batch, and whether the type names it."""
    kind = mode(content_type)
    if kind is Mode.BINARY:
        return None, False, False
    prefix = _BATCH if kind is Mode.BATCHED else _SINGLE
    suffix = essence(content_type.decode("latin-1")).removeprefix(prefix)
    if suffix and not suffix.startswith("+"):
        raise _unknown(content_type)
    return load(suffix.removeprefix("+") or "json"), kind is Mode.BATCHED, suffix != ""


def _unknown(content_type: bytes) -> UnsupportedError:
    text = content_type.decode("latin-1")
    return UnsupportedError(f"the event format of {text!r} is not known here", what=text)
