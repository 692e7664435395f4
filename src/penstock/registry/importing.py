"""A whole document brought into a registry: all of it, or nothing."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from penstock.errors import Problem
from penstock.registry import document, entities, kinds
from penstock.registry.document import RegistryDraft
from penstock.registry.drafts import GroupDraft, ResourceDraft
from penstock.registry.entities import CONTENT, RESOURCE, VERSION, Resource, folded, key, segment
from penstock.registry.model import GroupType
from penstock.registry.placing import Terms, Writer
from penstock.registry.reader import ROOT, Root
from penstock.registry.registry import Registry, put_resources

# What others refer to comes first.
_LATE = {kinds.DEFINITION_GROUPS: 1, kinds.ENDPOINTS: 2}


class Outcome(msgspec.Struct, frozen=True):
    """What an import changed, by address."""

    created: tuple[str, ...] = ()
    updated: tuple[str, ...] = ()
    deleted: tuple[str, ...] = ()
    unchanged: int = 0
    warnings: tuple[Problem, ...] = ()

    def document(self) -> dict[str, object]:
        warnings = [{"path": at.path, "message": at.message} for at in self.warnings]
        return {**msgspec.structs.asdict(self), "warnings": warnings}


def bring(
    registry: Registry,
    found: Mapping[str, object],
    terms: Terms,
    *,
    replace: bool = False,
    rehearse: bool = False,
) -> Outcome:
    """Create and update what a document holds; `replace` also deletes what it does not hold."""

    def work(writer: Writer) -> Outcome:
        draft = document.read(writer.model, found, writer.faults)
        writer.sparing = True
        # What goes goes first, so that nothing new is compared with it.
        deleted = _rest(registry, writer, draft) if replace else ()
        for group in draft.groups:
            writer.put_group(group.type, _same_id(writer, group), group.attributes, group.path)
        for group, resources in _in_order(draft.groups):
            put_resources(writer, group.type, group.id, resources)
        _identify(registry, writer, draft, replace=replace)
        warnings = [Problem(f"{each}Url", "is not followed") for each in draft.elsewhere]
        writer.finish("/")
        return Outcome(
            tuple(writer.created),
            tuple(writer.updated),
            deleted,
            writer.unchanged,
            (*warnings, *writer.warnings),
        )

    if rehearse:
        return registry.rehearse(work, terms, "/")[0]
    return registry.change(work, terms, "/")


def _same_id(writer: Writer, group: GroupDraft) -> str:
    held = writer.session.group(key(group.type.plural, group.id))
    if held is not None and held.id != group.id:
        writer.faults.add(group.path, f"differs from {held.id!r} only by case")
    return group.id


def _in_order(groups: tuple[GroupDraft, ...]) -> list[tuple[GroupDraft, list[ResourceDraft]]]:
    ordered = sorted(groups, key=lambda each: _LATE.get(each.type.plural, 0))
    owned = [(group, [each for each in group.resources if not _borrows(each)]) for group in ordered]
    borrowed = [(group, [each for each in group.resources if _borrows(each)]) for group in ordered]
    return [each for each in (*owned, *borrowed) if each[1]]


def _borrows(resource: ResourceDraft) -> bool:
    return any("uri" in draft.attributes for draft in resource.versions.values())


def _identify(registry: Registry, writer: Writer, draft: RegistryDraft, *, replace: bool) -> None:
    """Keep what the document says of the registry; an empty one also takes its id."""
    held = registry.identity()
    is_empty = not any(registry.number_of_groups(each) for each in writer.model.groups)
    id_ = draft.id if draft.id and is_empty else held.id
    attributes = dict(draft.attributes) if draft.attributes or replace else held.attributes
    made = Root(id_, attributes)
    if made != held:
        writer.session.put(ROOT, "registry", msgspec.json.encode(made))
    if attributes != held.attributes:
        writer.updated.append("/")


def _rest(registry: Registry, writer: Writer, draft: RegistryDraft) -> tuple[str, ...]:
    deleted: list[str] = []
    for type_ in writer.model.groups:
        held = {group.id: group for group in draft.groups if group.type.plural == type_.plural}
        for group in registry.all_groups(type_):
            address = f"/{segment(type_.plural)}/{segment(group.id)}"
            if group.id not in held:
                registry.drop_group(writer.session, type_, group.id)
                deleted.append(address)
            else:
                deleted += _rest_of_group(registry, writer, type_, held[group.id])
    return tuple(deleted)


def _rest_of_group(
    registry: Registry, writer: Writer, type_: GroupType, draft: GroupDraft
) -> list[str]:
    deleted = []
    above = key(type_.plural, draft.id)
    for each in type_.resources:
        wanted = {one.id: one for one in draft.resources if one.type.plural == each.plural}
        for resource in registry.all_resources(above, each):
            one = wanted.get(resource.id)
            kept = {name or "1" for name in one.versions} if one else set()
            deleted += _rest_of_versions(writer, resource, kept)
    return deleted


def _rest_of_versions(writer: Writer, resource: Resource, wanted: set[str]) -> list[str]:
    """Remove versions of a resource, or all of it where none is wanted; return what is gone."""
    place, session = resource.place, writer.session
    kept = tuple(each for each in resource.versions if each in wanted)
    if len(kept) == len(resource.versions):
        return []
    newest = f"{place.key}/{folded(kept[-1])}" if kept else ""
    latest = session.version(newest) if newest else None
    if latest is None:
        session.drop(RESOURCE, place.key)
        for kind in (VERSION, CONTENT):
            session.clear(kind, f"{place.key}/")
        return [place.path]
    gone = [each for each in resource.versions if each not in kept]
    for each in gone:
        session.drop(VERSION, f"{place.key}/{folded(each)}")
        session.drop(CONTENT, f"{place.key}/{folded(each)}")
    left = (latest, session.content(newest))
    session.put(RESOURCE, place.key, entities.resource(place, resource.singular, kept, left))
    return [f"{place.path}/versions/{segment(each)}" for each in gone]
