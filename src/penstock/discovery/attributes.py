"""The attributes of a service, as the rules that each must follow."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from urllib.parse import urlsplit

import msgspec

from penstock.discovery import template
from penstock.discovery.rules import Record, Rule, array, table, text
from penstock.discovery.types import TYPE
from penstock.errors import Problem
from penstock.events import media
from penstock.events.values import (
    is_media_type,
    is_string,
    is_timestamp,
    is_uri,
    is_uri_reference,
)

_UUID = "[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}"
_UPDATED = "[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z"
_ATTRIBUTE_NAME = re.compile("[a-z0-9]+")
_LARGEST = 2**53 - 1
_EMPTY = "must not be empty"


def _matching(pattern: str, hint: str) -> Rule:
    known = re.compile(pattern)
    return text(lambda found: None if known.fullmatch(found) else hint, pattern=f"^{pattern}$")


def _words_fault(found: str) -> str | None:
    if not found:
        return _EMPTY
    return None if is_string(found) else "has characters that no String may have"


def _uri_fault(found: str) -> str | None:
    return None if is_uri(found) else "must be an absolute URI (RFC 3986)"


def _url_fault(found: str) -> str | None:
    try:
        good = is_uri(found) and bool(urlsplit(found).hostname) and urlsplit(found).port != 0
    except ValueError:
        good = False
    return None if good else "must be an absolute URL with a host, like https://example.com/x"


def _reference_fault(found: str) -> str | None:
    if not found:
        return _EMPTY
    return None if is_uri_reference(found) else "must be a URI reference (RFC 3986)"


def _media_fault(found: str) -> str | None:
    return None if is_media_type(found) else "must be a media type (RFC 2046), like text/plain"


def _attribute_fault(found: str) -> str | None:
    fits = _ATTRIBUTE_NAME.fullmatch(found)
    return None if fits else "is no attribute name: use a to z and 0 to 9 only"


def _updated_fault(found: str) -> str | None:
    if re.fullmatch(_UPDATED, found) and is_timestamp(found):
        return None
    return "must be a time in UTC without fractions, like 2018-04-05T17:31:00Z"


def _version_faults(value: object, path: str) -> Iterator[Problem]:
    if version(value) is None:
        yield Problem(path, f"must be a whole number from 1 to {_LARGEST}")


def version(value: object) -> int | None:
    """Return the number that a `discversion` stands for; digits in a string will do."""
    if isinstance(value, str) and re.fullmatch("[0-9]{1,16}", value):
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool):
        return None
    return value if 1 <= value <= _LARGEST else None


WORDS = text(_words_fault, minLength=1)
_URI = text(_uri_fault, format="uri")
_URL = text(_url_fault, format="uri", examples=["https://events.example.com/subscriptions"])
_MEDIA = text(_media_fault, pattern="^[^/]+/[^/]+$", examples=["application/json"])
_SOURCE = "does not belong into the catalogue; sourcetemplate tells how sources are built"

_EXTENSION = Record(
    {
        "name": text(_attribute_fault, pattern="^[a-z0-9]+$"),
        "type": TYPE,
        "specurl": text(_reference_fault, format="uri-reference"),
    },
    required=("name", "type"),
)


def _schema_faults(event: Mapping[str, object], dot: str) -> Iterator[Problem]:
    content = event.get("dataschemacontent")
    if content is None:
        return
    if "dataschema" in event:
        yield Problem(f"{dot}dataschemacontent", "excludes dataschema: give one of them")
    kinds = [str(event.get(name, "")) for name in ("datacontenttype", "dataschematype")]
    if isinstance(content, str) and content and all(map(media.is_json, kinds)):
        try:
            msgspec.json.decode(content)
        except (msgspec.MsgspecError, RecursionError):
            yield Problem(f"{dot}dataschemacontent", "is not JSON, as dataschematype says")


_EVENT = Record(
    {
        "type": WORDS,
        "description": WORDS,
        "specversions": array(WORDS, 1),
        "datacontenttype": _MEDIA,
        "dataschema": _URI,
        "dataschematype": _MEDIA,
        "dataschemacontent": text(lambda found: None if found else _EMPTY, minLength=1),
        "sourcetemplate": text(template.fault, examples=["http://blob.store/{bucket}"]),
        "extensions": array(_EXTENSION.rule),
    },
    required=("type",),
    banned={"source": _SOURCE},
    whole=_schema_faults,
)
ATTRIBUTES: Mapping[str, Rule] = {
    "name": WORDS,
    "description": WORDS,
    "docsurl": _URI,
    "specversions": array(WORDS, 1),
    "subscriptionurl": _URL,
    "subscriptionconfig": table(TYPE),
    "authscope": text(lambda _: None),
    "protocols": array(WORDS, 1),
    "events": array(_EVENT.rule),
}
STAMPS: Mapping[str, Rule] = {
    "id": _matching(_UUID, "must be a UUID (RFC 4122)"),
    "discversion": Rule(_version_faults, {"type": ["integer", "string"], "pattern": "^[0-9]+$"}),
    "updated": text(_updated_fault, pattern=f"^{_UPDATED}$"),
}
# An update compares texts, so any text may come; one that differs is a conflict, not a fault.
_CHECKED = {**STAMPS, "updated": text(lambda _: None)}
_REQUIRED = ("name", "subscriptionurl", "protocols")
_KEPT = "is kept for an import only: give the id too, or leave this out"


def _version_list_faults(found: Mapping[str, object], _: str) -> Iterator[Problem]:
    if "specversions" not in found and not versions(found):
        yield Problem("specversions", "is required")


def _record(stamps: Mapping[str, Rule], banned: Mapping[str, str]) -> Record:
    members = {**{name: stamps[name] for name in stamps if name not in banned}, **ATTRIBUTES}
    return Record(members, _REQUIRED, {**banned, "source": _SOURCE}, _version_list_faults)


CREATE = _record(STAMPS, dict.fromkeys(STAMPS, _KEPT))
IMPORT = _record(STAMPS, {})
"""What a service that is imported must be like; one that is created has no stamps."""
UPDATE = _record(_CHECKED, {})


def is_id(text: str) -> bool:
    """Say whether a text can be the id of a service."""
    return re.fullmatch(_UUID, text) is not None


def versions(found: Mapping[str, object]) -> list[str]:
    """Return the versions that the events name, each once."""
    named: dict[str, None] = {}
    events = found.get("events")
    for event in events if isinstance(events, list) else []:
        listed = event.get("specversions") if isinstance(event, Mapping) else None
        named |= dict.fromkeys(map(str, listed)) if isinstance(listed, list) else {}
    return list(named)
