"""From CloudEvents 0.2 to 1.0 and back: what changes on the way."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from penstock.errors import EventError, Problem
from penstock.events.media import DataForm, is_json
from penstock.events.values import INTEGER_MAX, INTEGER_MIN, canonical, is_uri

if TYPE_CHECKING:
    from penstock.events.event import CloudEvent


def changes(event: CloudEvent, specversion: str) -> dict[str, Any]:
    """Return the fields that differ in the other version; EventError where there is no way."""
    match specversion:
        case "1.0":
            return _to_1_0(event)
        case "0.2":
            return _to_0_2(event)
    raise EventError([Problem("specversion", "cannot be converted to: use 0.2 or 1.0")])


def _to_1_0(event: CloudEvent) -> dict[str, Any]:
    extensions = {name: _scalar(value) for name, value in event.extensions.items()}
    core = {"datacontenttype": event.datacontenttype, "dataschema": event.dataschema}
    if event.dataschema is not None and not is_uri(event.dataschema):
        # 1.0 wants an absolute URI; the relative one is kept where it does no harm.
        extensions["schemaurl"] = event.dataschema
        core["dataschema"] = None
    core = _promoted(core | {"subject": None}, extensions, {name: name for name in _NEW_IN_1_0})
    return core | _data_to_1_0(event) | {"specversion": "1.0", "extensions": extensions}


def _to_0_2(event: CloudEvent) -> dict[str, Any]:
    extensions = {
        name: canonical(value) if isinstance(value, bool) else value
        for name, value in event.extensions.items()
    }
    core = {"datacontenttype": event.datacontenttype, "dataschema": event.dataschema}
    core = _promoted(core, extensions, _NAMES_IN_0_2)
    if event.subject is not None:
        extensions["subject"] = event.subject
    rest = {"specversion": "0.2", "subject": None, "extensions": extensions}
    return core | _data_to_0_2(event) | rest


_NEW_IN_1_0 = ("subject", "datacontenttype", "dataschema")
_NAMES_IN_0_2 = {"contenttype": "datacontenttype", "schemaurl": "dataschema"}


def _promoted(
    core: dict[str, str | None], extensions: dict[str, Any], names: dict[str, str]
) -> dict[str, Any]:
    """Return the core with those extensions moved in whose name is a core attribute by now."""
    taken = [
        name for name, field in names.items() if name in extensions and core[field] is not None
    ]
    if taken:
        raise EventError(
            [Problem(name, "is set both as attribute and as extension") for name in taken]
        )
    moved = {field: extensions.pop(name) for name, field in names.items() if name in extensions}
    return core | moved


def _scalar(value: object) -> bool | int | str | bytes:
    if isinstance(value, bool | str | bytes):
        return value
    if isinstance(value, int) and INTEGER_MIN <= value <= INTEGER_MAX:
        return value
    return msgspec.json.encode(value).decode()


def _data_to_1_0(event: CloudEvent) -> dict[str, Any]:
    if event.form is DataForm.JSON and event.datacontenttype is not None:
        return {} if is_json(event.datacontenttype) else {"form": DataForm.TEXT}
    if event.form is DataForm.TEXT and event.datacontenttype is None and event.data is not None:
        # Without a content type a text is a JSON string in 1.0, and a plain text in 0.2.
        text = event.data.decode(errors="replace")
        return {"form": DataForm.JSON, "data": msgspec.json.encode(text)}
    return {}


def _data_to_0_2(event: CloudEvent) -> dict[str, Any]:
    data = event.data if event.form is DataForm.JSON and event.datacontenttype is None else None
    if data is None or not data.lstrip().startswith(b'"'):
        return {}
    try:
        return {"form": DataForm.TEXT, "data": msgspec.json.decode(data, type=str).encode()}
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return {"form": DataForm.BYTES}
