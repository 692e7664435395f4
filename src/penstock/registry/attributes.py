"""Attributes that every entity may have, and rules for those that nobody defined."""

from __future__ import annotations

import re
from collections.abc import Mapping

import msgspec

from penstock.events.values import is_string
from penstock.registry.entities import MOST_CHARACTERS, folded
from penstock.registry.faults import Faults, within

COMMON = (
    "id",
    "name",
    "description",
    "tags",
    "versionId",
    "epoch",
    "self",
    "createdBy",
    "createdOn",
    "modifiedBy",
    "modifiedOn",
    "docs",
)
MANAGED = frozenset({"id", "versionId", "epoch", "self", "createdOn", "modifiedOn"})
"""What the registry itself says of an entity; clients may send it back, to no effect."""
_PLAIN = ("name", "description", "createdBy", "modifiedBy")
_TAG = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}")


class Claims(msgspec.Struct, frozen=True):
    """What a document says about the identity of its entity."""

    id: str | None = None
    version: str | None = None
    epoch: int | None = None


def read(
    faults: Faults, document: Mapping[str, object], path: str, known: tuple[str, ...] = ()
) -> tuple[dict[str, object], Claims]:
    """Return the attributes of an entity as they are kept, and what they say of its identity.

    `null` is the same as an attribute that is missing, and so are some empty texts (RA-41).
    """
    _spelling(faults, document, path, (*COMMON, *known))
    found = {name: value for name, value in document.items() if value is not None}
    for name in _PLAIN:
        if name in found and not isinstance(found[name], str):
            faults.add(within(path, name), "must be a string")
        elif found.get(name) == "":
            del found[name]
    if "tags" in found:
        _tags(faults, found["tags"], within(path, "tags"))
    if "docs" in found:
        _docs(faults, found["docs"], within(path, "docs"))
    for name in ("createdOn", "modifiedOn"):
        if name in found:
            faults.moment(found[name], within(path, name))
    claims = _claims(faults, found, path)
    return {name: value for name, value in found.items() if name not in MANAGED}, claims


def identifier(faults: Faults, value: object, path: str) -> str | None:
    """Return an id."""
    found = faults.text(value, path)
    if found is None:
        return None
    if not is_string(found) or len(folded(found)) > MOST_CHARACTERS:
        faults.add(path, f"must have at most {MOST_CHARACTERS} characters, none of them controls")
        return None
    return found


def _claims(faults: Faults, found: Mapping[str, object], path: str) -> Claims:
    return Claims(
        identifier(faults, found["id"], within(path, "id")) if "id" in found else None,
        identifier(faults, found["versionId"], within(path, "versionId"))
        if "versionId" in found
        else None,
        faults.whole(found["epoch"], within(path, "epoch")) if "epoch" in found else None,
    )


def _spelling(
    faults: Faults, document: Mapping[str, object], path: str, known: tuple[str, ...]
) -> None:
    """Names of siblings differ by more than case, and known ones are spelled as defined."""
    proper = {name.casefold(): name for name in known}
    seen: dict[str, str] = {}
    for name in document:
        low = name.casefold()
        if not name:
            faults.add(path, "must not have an empty name")
        elif low in seen:
            faults.add(within(path, name), f"differs from {seen[low]!r} only by case")
        elif proper.get(low, name) != name:
            faults.add(within(path, name), f"must be spelled {proper[low]!r}")
        seen[low] = name


def _tags(faults: Faults, value: object, path: str) -> None:
    if not isinstance(value, Mapping):
        faults.add(path, "must be an object")
        return
    for name, text in value.items():
        place = within(path, str(name))
        if not _TAG.fullmatch(str(name)):
            rule = "must be 1 to 63 letters, digits, -, _ or ., with a letter or digit first"
            faults.add(place, f"the name {rule}")
        if not isinstance(text, str):
            faults.add(place, "must be a string")


def _docs(faults: Faults, value: object, path: str) -> None:
    found = faults.reference(value, path)
    scheme = re.match(r"([A-Za-z][A-Za-z0-9+.-]*):", found or "")
    if scheme and scheme[1].lower() not in ("http", "https"):
        faults.add(path, "must start with http: or https:, or be relative")
