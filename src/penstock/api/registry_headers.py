"""Attributes of registry resources as HTTP headers, in both directions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from urllib.parse import quote, unquote

from starlette.datastructures import Headers

from penstock.registry import Proposal, ResourceType
from penstock.registry.attributes import Claims
from penstock.registry.entities import Place, Version
from penstock.registry.faults import Faults

PREFIX = "registry-"
_PLAIN = "".join(chr(code) for code in range(0x20, 0x7F) if chr(code) != "%")
_TOKEN = frozenset("!#$%&'*+-.^_`|~abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")
_IGNORED = frozenset({"self", "createdon", "modifiedon"})
_STRUCTURED = frozenset({"tags"})
# What curl states for a body when nobody says what it is.
_MEANINGLESS = "application/x-www-form-urlencoded"


def shown(place: Place, singular: str, version: Version, address: str) -> list[tuple[str, str]]:
    """Return the headers that describe a version, which is at an address."""
    attributes = version.attributes
    found = [
        ("registry-id", encoded(place.resource)),
        ("registry-name", encoded(str(attributes.get("name", place.resource)))),
        ("registry-version", encoded(version.id)),
        ("registry-epoch", str(version.epoch)),
        ("registry-self", address),
        ("content-location", address),
    ]
    if "format" in attributes:
        found.append(("registry-type", encoded(str(attributes["format"]))))
    if version.uri:
        found.append((f"registry-{singular}uri", version.uri))
    found += _scalars(attributes.items())
    return found


def proposal(
    headers: Headers, body: bytes, type_: ResourceType, epoch: int | None = None
) -> Proposal:
    """Return what the headers and the body of a request propose, or raise ResourceError."""
    faults = Faults()
    given = dict(_given(headers))
    uri = given.pop(f"{type_.singular}uri".lower(), None)
    claims = _claims(faults, given, epoch)
    for name in _STRUCTURED & given.keys():
        faults.add(f"Registry-{name}", "is no text: change it with ?meta")
    _one_format(faults, given)
    faults.finish()
    values = {name: unquote(text) for name, text in given.items() if text}
    media_type = headers.get("content-type", "")
    return Proposal(
        body,
        "" if media_type.partition(";")[0].strip().lower() == _MEANINGLESS else media_type,
        values,
        frozenset(name for name, text in given.items() if not text),
        uri,
        claims,
    )


def encoded(text: str) -> str:
    """Return a text as a header can carry it: all but plain ASCII is percent-encoded."""
    if text.isascii() and text.isprintable() and "%" not in text:
        return text
    return quote(text, safe=_PLAIN)


def _scalars(attributes: Iterable[tuple[str, object]]) -> Iterator[tuple[str, str]]:
    for name, value in attributes:
        if name == "name" or not _TOKEN.issuperset(name):
            continue
        if isinstance(value, bool):
            yield f"registry-{name}", "true" if value else "false"
        elif isinstance(value, str | int | float):
            text = encoded(str(value))
            # Long texts are no metadata; proxies refuse headers of many kilobytes.
            if len(text) <= 1024:  # noqa: PLR2004
                yield f"registry-{name}", text


def _given(headers: Headers) -> Iterator[tuple[str, str]]:
    for name, value in headers.items():
        own = name.removeprefix(PREFIX)
        if own != name and own not in _IGNORED:
            yield own, value.strip()


def _claims(faults: Faults, given: dict[str, str], epoch: int | None) -> Claims:
    id_ = _claimed(faults, given, "id")
    named = [_claimed(faults, given, name) for name in ("version", "versionid")]
    version = next((each for each in named if each is not None), None)
    stated = _claimed(faults, given, "epoch")
    number = int(stated) if stated is not None and stated.isascii() and stated.isdigit() else None
    if stated is not None and number is None:
        faults.add("Registry-epoch", "must be a whole number from 0 on")
    if number is not None and epoch is not None and number != epoch:
        faults.add("Registry-epoch", "is different in the query and in the header")
    return Claims(id_, version, epoch if number is None else number)


def _claimed(faults: Faults, given: dict[str, str], name: str) -> str | None:
    text = given.pop(name, None)
    if text == "":
        faults.add(f"Registry-{name}", "must not be empty: it cannot be deleted")
        return None
    return None if text is None else unquote(text)


def _one_format(faults: Faults, given: dict[str, str]) -> None:
    """Type and format are two names for the same thing (RA-06)."""
    type_ = given.pop("type", None)
    if type_ is None:
        return
    if given.setdefault("format", type_) != type_:
        faults.add("Registry-type", "is different from Registry-format")
