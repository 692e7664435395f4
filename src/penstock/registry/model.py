"""The model of a registry: its types of groups and of the resources in them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import msgspec

from penstock.registry.faults import Faults, within

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,39}")
# A collection or a document must not share its name with an attribute of its owner.
_TAKEN = frozenset(
    {
        *("id", "name", "description", "tags", "versionid", "epoch", "self", "docs", "format"),
        *("createdby", "createdon", "modifiedby", "modifiedon", "model", "specversion", "versions"),
    }
)


class ResourceType(msgspec.Struct, frozen=True):
    """A type of resources; `versions` is how many of each are kept, 0 for all of them."""

    singular: str
    plural: str
    versions: int = 1
    extensions: Mapping[str, object] = {}

    def document(self) -> dict[str, object]:
        names = {"singular": self.singular, "plural": self.plural, "versions": self.versions}
        return {**names, **self.extensions}


class GroupType(msgspec.Struct, frozen=True):
    """A type of groups."""

    singular: str
    plural: str
    resources: tuple[ResourceType, ...] = ()
    extensions: Mapping[str, object] = {}

    def resource(self, name: str, *, singular: bool = False) -> ResourceType | None:
        """Return the type with a plural name, or also a singular one, without regard to case."""
        return next((one for one in self.resources if _called(one, name, singular=singular)), None)

    def document(self) -> dict[str, object]:
        shown = {"singular": self.singular, "plural": self.plural, **self.extensions}
        if self.resources:
            shown["resources"] = [each.document() for each in self.resources]
        return shown


class Model(msgspec.Struct, frozen=True):
    """All types of a registry."""

    groups: tuple[GroupType, ...] = ()
    extensions: Mapping[str, object] = {}

    def group(self, name: str, *, singular: bool = False) -> GroupType | None:
        """Return the type with a plural name, or also a singular one, without regard to case."""
        return next((one for one in self.groups if _called(one, name, singular=singular)), None)

    def document(self) -> dict[str, object]:
        """Return the model as clients see it."""
        return {**self.extensions, "groups": [each.document() for each in self.groups]}


def read(document: object) -> Model:
    """Return the model of a document, bare or below `model`, or raise ResourceError."""
    faults = Faults()
    found = faults.mapping(document, "")
    if found is not None and "groups" not in found and isinstance(found.get("model"), Mapping):
        found = faults.mapping(found["model"], "model")
    model = _model(faults, found or {})
    faults.finish()
    return model


def _called(one: GroupType | ResourceType, name: str, *, singular: bool) -> bool:
    folded = name.casefold()
    return folded == one.plural.casefold() or (singular and folded == one.singular.casefold())


def _model(faults: Faults, found: Mapping[str, object]) -> Model:
    entries = faults.array(found.get("groups", []), "groups") or []
    groups = [_group(faults, entry, f"groups[{n}]") for n, entry in enumerate(entries)]
    for which in ("singular", "plural"):
        _once(faults, groups, which, "groups")
    return Model(tuple(groups), _extensions(faults, found, "", {"groups"}))


def _group(faults: Faults, value: object, path: str) -> GroupType:
    found = faults.mapping(value, path) or {}
    entries = faults.array(found.get("resources", []), within(path, "resources")) or []
    inside = [_resource(faults, entry, f"{path}.resources[{n}]") for n, entry in enumerate(entries)]
    for which in ("singular", "plural"):
        _once(faults, inside, which, within(path, "resources"))
    extensions = _extensions(faults, found, path, {"singular", "plural", "resources"})
    return GroupType(*_names(faults, found, path), tuple(inside), extensions)


def _resource(faults: Faults, value: object, path: str) -> ResourceType:
    found = faults.mapping(value, path) or {}
    kept = found.get("versions", 1)
    # Minus one is how one section of the specification writes "no limit".
    number = 0 if kept == -1 else faults.whole(kept, within(path, "versions"))
    extensions = _extensions(faults, found, path, {"singular", "plural", "versions"})
    return ResourceType(*_names(faults, found, path), number or 0, extensions)


def _names(faults: Faults, found: Mapping[str, object], path: str) -> tuple[str, str]:
    return (_name(faults, found, path, "singular"), _name(faults, found, path, "plural"))


def _name(faults: Faults, found: Mapping[str, object], path: str, which: str) -> str:
    place = within(path, which)
    if which not in found:
        faults.add(place, "is required")
        return ""
    name = faults.text(found[which], place) or ""
    if name and not _NAME.fullmatch(name):
        faults.add(place, "must be letters, digits, - and _, at most 40, with a letter first")
    elif name.casefold() in _TAKEN:
        faults.add(place, "is the name of an attribute")
    return name


def _once(faults: Faults, types: Sequence[GroupType | ResourceType], which: str, path: str) -> None:
    seen: set[str] = set()
    for number, type_ in enumerate(types):
        name = getattr(type_, which).casefold()
        if name and name in seen:
            faults.add(f"{path}[{number}].{which}", "is there twice")
        seen.add(name)


def _extensions(
    faults: Faults, found: Mapping[str, object], path: str, known: set[str]
) -> dict[str, object]:
    extensions = {name: value for name, value in found.items() if name not in known}
    if "schema" in extensions:
        faults.reference(extensions["schema"], within(path, "schema"))
    return extensions
