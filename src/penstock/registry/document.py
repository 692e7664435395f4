"""Registry documents: files in JSON or YAML, and what they hold."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from penstock.errors import FormatError, UnsupportedError
from penstock.registry import attributes, drafts
from penstock.registry.drafts import GroupDraft
from penstock.registry.faults import Faults, within
from penstock.registry.model import Model
from penstock.registry.query import EVERYTHING
from penstock.registry.reader import Reader, Root
from penstock.registry.strict import json_value, yaml_text, yaml_value
from penstock.registry.view import Budget, View

JSON = "application/cloudevents-registry+json"
YAML = "application/cloudevents-registry+yaml"
SCHEMA = "https://cloudevents.io/schemas/registry"
SUFFIXES: Mapping[str, str] = {".cereg": JSON, ".cereg.yaml": YAML, ".cereg.yml": YAML}
"""The media type of a file by the end of its name."""
_JSON_TYPES = frozenset({JSON, "application/json"})
_YAML_TYPES = frozenset({YAML, "application/yaml", "application/x-yaml", "text/yaml"})
_SPEC_VERSIONS = ("0.1", "0.4-wip", "0.5-wip")
_OWN = ("$schema", "specversion", "specVersion", "model", "self")


class RegistryDraft(msgspec.Struct, frozen=True):
    """A registry as a document proposes it."""

    id: str | None
    attributes: Mapping[str, object]
    groups: tuple[GroupDraft, ...]
    elsewhere: tuple[str, ...]
    """Collections that are only referred to by their address."""


def parse(body: bytes, media_type: str) -> Mapping[str, object]:
    """Return the object that a file holds, or raise FormatError."""
    plain = media_type.partition(";")[0].strip().lower()
    if plain in _JSON_TYPES:
        found = json_value(body)
    elif plain in _YAML_TYPES:
        found = yaml_value(body)
    else:
        raise UnsupportedError(f"send {JSON} or {YAML}, not {media_type!r}", what=media_type)
    if not isinstance(found, Mapping):
        raise FormatError("a registry document is one object", format=plain)
    return found


def read(model: Model, document: Mapping[str, object], faults: Faults) -> RegistryDraft:
    """Return the registry of a document, with its problems added to the faults."""
    groups: list[GroupDraft] = []
    elsewhere = []
    names = {"schemas", "definitions"}
    for type_ in model.groups:
        names |= {name.casefold() for name in drafts.collection(type_.plural)}
        members = drafts.members(faults, document, type_.plural, "")
        groups += [
            drafts.group(faults, type_, member, within(type_.plural, id_), id_)
            for id_, member in members.items()
        ]
        if type_.plural not in document and f"{type_.plural}Url" in document:
            elsewhere.append(type_.plural)
    own = {
        name: one
        for name, one in document.items()
        if name not in _OWN and name.casefold() not in names
    }
    _spec_version(faults, document)
    read_, claims = attributes.read(faults, own, "")
    return RegistryDraft(claims.id, read_, tuple(groups), tuple(elsewhere))


def export(reader: Reader, root: Root, limit: int) -> dict[str, object]:
    """Return the whole registry as a document, or raise LimitError where it is too large."""
    model = reader.model()
    view = View(reader, "", Budget(limit), reader.lookup(), file=True)
    return {"$schema": SCHEMA, **view.registry(root, model, EVERYTHING)}


def printed(document: Mapping[str, object], media_type: str) -> bytes:
    """Return a document as the bytes of a file."""
    encoded = msgspec.json.encode(document)
    if media_type != YAML:
        return encoded
    plain = msgspec.json.decode(encoded)
    return yaml_text(plain).encode()


def _spec_version(faults: Faults, document: Mapping[str, object]) -> None:
    for name in ("specversion", "specVersion"):
        stated = document.get(name)
        if stated is not None and stated not in _SPEC_VERSIONS:
            faults.add(name, f"must be one of {', '.join(_SPEC_VERSIONS)}")
    if "specversion" in document and "specVersion" in document:
        faults.add("specVersion", "differs from 'specversion' only by case")
