"""To and from the event class of the official CloudEvents SDK, for those who have events of it."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

import msgspec

from penstock.errors import EventError, Problem, UnsupportedError
from penstock.events import CloudEvent, DataForm, from_attributes
from penstock.events.media import is_json, is_text
from penstock.events.values import parse_timestamp

if TYPE_CHECKING:
    from cloudevents.core.base import BaseCloudEvent
    from cloudevents.core.v1.event import CloudEvent as SdkEvent


def to_sdk(event: CloudEvent) -> SdkEvent:
    """Return the event as one of the SDK, which knows version 1.0 only."""
    try:
        from cloudevents.core.v1.event import CloudEvent as SdkEvent  # noqa: PLC0415 - optional
    except ImportError as exc:
        message = "the CloudEvents SDK is not installed: add the package cloudevents"
        raise UnsupportedError(message, what="cloudevents") from exc
    new = event.convert("1.0")
    attributes: dict[str, Any] = new.attributes()
    if new.time is not None:
        attributes["time"] = _moment(new.time)
    made = SdkEvent(attributes, _value(new))
    if new.time is None:
        # The SDK gives every event a time; this one has none.
        made.get_attributes().pop("time", None)
    return made


def from_sdk(event: BaseCloudEvent) -> CloudEvent:
    """Return an event of the SDK as ours; EventError where it breaks the specification."""
    attributes = {name: _native(value) for name, value in event.get_attributes().items()}
    data, form = _payload(event.get_data(), attributes.get("datacontenttype"))
    return from_attributes(attributes, data, form)


def _moment(text: str) -> datetime:
    moment = parse_timestamp(text)
    if moment is None:
        raise UnsupportedError(f"the SDK cannot hold the time {text!r}", what="time")
    return moment


def _native(value: object) -> object:
    if isinstance(value, datetime):
        return value.isoformat().replace("+00:00", "Z")
    return value


def _value(event: CloudEvent) -> Any:  # noqa: ANN401 - any JSON value
    """Return the data as the SDK has it: a JSON value, a text, or bytes."""
    if event.data is None:
        return None
    content_type = event.datacontenttype
    try:
        if is_json(content_type) if content_type else event.form is DataForm.JSON:
            return msgspec.json.decode(event.data)
        text = event.form is DataForm.TEXT or (content_type and is_text(content_type))
        return event.data.decode() if text else event.data
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return event.data


def _payload(data: object, content_type: object) -> tuple[bytes | None, DataForm]:
    if data is None or isinstance(data, bytes | bytearray):
        return None if data is None else bytes(data), DataForm.BYTES
    declared = content_type if isinstance(content_type, str) else None
    if isinstance(data, str) and declared is not None and not is_json(declared):
        return data.encode(), DataForm.TEXT
    try:
        encoded = msgspec.json.encode(data)
    except (TypeError, ValueError, RecursionError) as exc:
        raise EventError([Problem("data", f"cannot be written as JSON: {exc}")]) from exc
    return encoded, DataForm.JSON if declared is None else DataForm.BYTES
