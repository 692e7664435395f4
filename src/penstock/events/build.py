"""An event from a few words: the rest is filled in."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime
from typing import Any

import msgspec

from penstock.errors import EventError, Problem
from penstock.events.event import CloudEvent, Value, from_attributes
from penstock.events.media import JSON


def event(
    *,
    type: str,  # noqa: A002 - the specification's word
    source: str,
    data: bytes | str | dict[str, Any] | list[Any] | None = None,
    **attributes: Value | None,
) -> CloudEvent:
    """Return a valid event with a fresh `id` and the present `time` unless they are given.

    A dict or list becomes JSON data; further attributes, core or extension, go by their names.
    """
    body, content_type = _encoded(data)
    name = "contenttype" if attributes.get("specversion") == "0.2" else "datacontenttype"
    filled = {
        "specversion": "1.0",
        "id": str(uuid.uuid4()),
        "time": datetime.now(UTC).isoformat().replace("+00:00", "Z"),
        name: content_type,
    }
    return from_attributes({**filled, **attributes, "type": type, "source": source}, body)


def _encoded(
    data: bytes | str | dict[str, Any] | list[Any] | None,
) -> tuple[bytes | None, str | None]:
    if data is None or isinstance(data, bytes):
        return data, None
    if isinstance(data, str):
        return data.encode(), "text/plain; charset=utf-8"
    try:
        return msgspec.json.encode(data), JSON
    except (TypeError, ValueError, RecursionError) as exc:
        raise EventError([Problem("data", f"cannot be written as JSON: {exc}")]) from exc
