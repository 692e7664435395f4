"""The operations of a registry, each of them all or nothing, with their epoch checks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from typing import TypeVar

import msgspec

from penstock.errors import ConflictError, NotFoundError, Problem, ResourceError
from penstock.events.values import parse_timestamp
from penstock.ports import Clock, Put, ResourceStore
from penstock.registry import drafts, endpoint, kinds, model
from penstock.registry.checking import Checker, SchemaChecker
from penstock.registry.entities import (
    CONTENT,
    GROUP,
    RESOURCE,
    VERSION,
    Group,
    Place,
    Resource,
    Version,
    folded,
    key,
    next_id,
    ordered,
    resource,
)
from penstock.registry.faults import Faults, refusal
from penstock.registry.model import GroupType, Model, ResourceType
from penstock.registry.placing import Terms, Writer
from penstock.registry.proposal import Proposal, described, joined
from penstock.registry.reader import MODEL, ROOT, Reader, Root
from penstock.registry.rules import Draft
from penstock.registry.session import Session

_ONLY = "registry"
_ATTEMPTS = 20
Result = TypeVar("Result")
Entry = tuple[str, int | None]
"""What to delete: an id, and the epoch it must have."""


class Registry(Reader):
    """The Registry Service."""

    def __init__(
        self,
        store: ResourceStore,
        clock: Clock,
        ids: Callable[[], str],
        checker: Checker | None = None,
    ) -> None:
        super().__init__(store)
        self._clock = clock
        self._ids = ids
        self._checker = checker or SchemaChecker()

    def identity(self) -> Root:
        """Return the registry itself; its id is made when it is first asked for."""
        found = self.root()
        if found is not None:
            return found
        body = msgspec.json.encode(Root(self._ids()))
        with suppress(ConflictError):  # somebody else asked first
            self._store.write([Put(ROOT, _ONLY, body, expected=0)])
        return self.root() or Root("")

    def change_model(self, document: object) -> Model:
        """Replace the model; a type of which there still are groups cannot go."""
        new = model.read(document)
        old = self.model()
        faults = Faults()
        for type_ in old.groups:
            kept = new.group(type_.plural)
            number = self.number_of_groups(type_)
            if number and (kept is None or kept.plural != type_.plural):
                faults.add("groups", f"must keep {type_.plural}: there are {number} of them")
            elif number and kept is not None:
                self._keeps_resources(faults, type_, kept)
        faults.finish()
        self._store.write([Put(MODEL, _ONLY, msgspec.json.encode(new.document()))])
        return new

    def create_group(self, type_: GroupType, document: object, terms: Terms) -> Group:
        """Create a group together with the resources that the document has in it."""
        made_id = self._ids()

        def create(writer: Writer) -> Group:
            draft = drafts.group(writer.faults, type_, document, "")
            id_ = draft.id or made_id
            _expect_none(writer.session.group(key(type_.plural, id_)), f"/{type_.plural}/{id_}")
            made = writer.put_group(type_, id_, draft.attributes)
            put_resources(writer, type_, id_, draft.resources)
            return writer.session.group(key(type_.plural, id_)) or made

        return self.change(create, terms, f"/{type_.plural}")

    def update_group(self, type_: GroupType, id_: str, document: object, terms: Terms) -> Group:
        """Replace the attributes of a group; its resources stay as they are."""
        faults = Faults()
        found = faults.mapping(document, "") or {}
        nested = {name for each in type_.resources for name in drafts.collection(each.plural)}
        own = {name: value for name, value in found.items() if name not in nested}
        draft = drafts.group(faults, type_, own, "")
        _expect_id(faults, draft.claims.id, (id_,))
        faults.finish()

        def update(writer: Writer) -> Group:
            before = _there(writer.session, type_, id_)
            _expect_epoch(before.epoch, draft.claims.epoch, f"/{type_.plural}/{id_}")
            return writer.put_group(type_, id_, draft.attributes)

        return self.change(update, terms, f"/{type_.plural}/{id_}")

    def delete_groups(self, type_: GroupType, entries: Sequence[Entry] | None) -> dict[str, Group]:
        """Delete the groups, or all of a type, and return them as they were."""

        def delete(writer: Writer) -> dict[str, Group]:
            session = writer.session
            chosen = entries
            if chosen is None:
                chosen = [(each.id, None) for _, each in session.groups(f"{folded(type_.plural)}/")]
            return {id_: self.drop_group(session, type_, id_, epoch) for id_, epoch in chosen}

        return self.change(delete, Terms(), f"/{type_.plural}")

    def create_resource(
        self, above: tuple[GroupType, str], type_: ResourceType, given: Proposal, terms: Terms
    ) -> Resource:
        """Create a resource with its first version."""
        groups, group = above
        made_id = self._ids()

        def create(writer: Writer) -> Resource:
            draft, claims = joined(writer.faults, type_, given, None)
            place = Place(groups.plural, group, type_.plural, claims.id or made_id)
            _there(writer.session, groups, group)
            writer.session.guard(GROUP, place.above)
            _expect_none(writer.session.resource(place.key), place.path)
            return self._put(writer, place, type_, {claims.version or "1": draft})

        return self.change(create, terms, f"/{groups.plural}/{group}/{type_.plural}")

    def create_version(
        self, place: Place, type_: ResourceType, given: Proposal, terms: Terms
    ) -> Resource:
        """Create a version, above all that are there."""

        def create(writer: Writer) -> Resource:
            before = self._held(writer.session, place, type_)
            faults = writer.faults
            draft, claims = joined(faults, type_, given, (before.latest, b""))
            if claims.version is not None and given.claims.version is not None:
                faults.add("Registry-version", "must not be there: the registry numbers versions")
            _expect_id(faults, claims.id, (place.resource,))
            _expect_epoch(before.latest.epoch, claims.epoch, place.path)
            return self._put(writer, place, type_, {next_id(before.versions): draft})

        return self.change(create, terms, place.path)

    def update_version(
        self,
        place: Place,
        type_: ResourceType,
        id_: str | None,
        given: Proposal | Mapping[str, object],
        terms: Terms,
    ) -> tuple[Resource, Version]:
        """Change a version, or the latest; metadata alone where no proposal is given."""

        def update(writer: Writer) -> tuple[Resource, Version]:
            held = self._held(writer.session, place, type_)
            before, content = self._version(writer.session, place, id_ or held.latest.id)
            faults = writer.faults
            if isinstance(given, Proposal):
                draft, claims = joined(faults, type_, given, (before, content))
            else:
                draft, claims = described(faults, type_, given, (before, content))
            _expect_id(faults, claims.id, (place.resource, before.id) if id_ else (place.resource,))
            if claims.version not in (None, before.id):
                faults.add("versionId", f"must be {before.id!r}: it never changes")
            _expect_epoch(before.epoch, claims.epoch, place.path)
            made = self._put(writer, place, type_, {before.id: draft})
            return made, writer.session.version(_key(place, before.id)) or made.latest

        return self.change(update, terms, place.path)

    def delete_resources(
        self, above: tuple[GroupType, str], type_: ResourceType, entries: Sequence[Entry] | None
    ) -> dict[str, Resource]:
        """Delete resources, or all of a type in a group, and return them as they were."""
        groups, group = above
        prefix = f"{key(groups.plural, group)}/{folded(type_.plural)}/"

        def delete(writer: Writer) -> dict[str, Resource]:
            session = writer.session
            _there(session, groups, group)
            if entries is None:
                gone = {each.id: each for _, each in session.resources(prefix)}
                for kind in (RESOURCE, VERSION, CONTENT):
                    session.clear(kind, prefix)
                return gone
            return {
                id_: self._drop(
                    session, Place(groups.plural, group, type_.plural, id_), type_, epoch
                )
                for id_, epoch in entries
            }

        return self.change(delete, Terms(), f"/{groups.plural}/{group}/{type_.plural}")

    def delete_versions(
        self, place: Place, type_: ResourceType, entries: Sequence[Entry] | None
    ) -> dict[str, Version]:
        """Delete versions, or all but the latest, and return them as they were."""

        def delete(writer: Writer) -> dict[str, Version]:
            session = writer.session
            held = self._held(session, place, type_)
            chosen = entries if entries is not None else [(id_, None) for id_ in held.versions[:-1]]
            gone = {}
            for id_, epoch in chosen:
                version, _ = self._version(session, place, id_)
                _expect_epoch(version.epoch, epoch, f"{place.path}/versions/{id_}")
                gone[id_] = version
            left = tuple(id_ for id_ in ordered(held.versions) if id_ not in gone)
            if not left:
                raise refusal("", "the last version cannot be deleted: delete the resource instead")
            for id_ in gone:
                session.drop(VERSION, _key(place, id_))
                session.drop(CONTENT, _key(place, id_))
            latest = self._version(session, place, left[-1])
            session.put(RESOURCE, place.key, resource(place, type_.singular, left, latest))
            return gone

        return self.change(delete, Terms(), place.path)

    def change(self, work: Callable[[Writer], Result], terms: Terms, address: str) -> Result:
        """Do some work in one session, again from the start where somebody else was faster."""
        for _ in range(_ATTEMPTS):
            result, writer = self.rehearse(work, terms, address)
            try:
                writer.session.commit()
            except (ConflictError, NotFoundError):
                continue
            return result
        raise ConflictError("too many others write to the same place: try again", address=address)

    def rehearse(
        self, work: Callable[[Writer], Result], terms: Terms, address: str
    ) -> tuple[Result, Writer]:
        """Do some work in a session that is not written yet."""
        now = datetime.fromtimestamp(self._clock.now(), UTC).isoformat().replace("+00:00", "Z")
        writer = Writer(Session(self._store), self.model(), self._checker, now, terms)
        result = work(writer)
        writer.finish(address)
        return result, writer

    def _put(
        self, writer: Writer, place: Place, type_: ResourceType, versions: Mapping[str, Draft]
    ) -> Resource:
        made = writer.put_versions(place, type_, versions)
        writer.faults.finish()
        if made is None:  # then the writer has problems, and has said so
            raise ResourceError([Problem("", "the resource is wrong")])
        return made

    def _held(self, session: Session, place: Place, type_: ResourceType) -> Resource:
        found = session.resource(place.key)
        if found is None or found.place != place:
            message = f"there is no {type_.singular} {place.resource!r} in {place.group!r}"
            raise NotFoundError(message, address=place.path)
        return found

    def _version(self, session: Session, place: Place, id_: str) -> tuple[Version, bytes]:
        found = session.version(_key(place, id_))
        if found is None or found.id != id_:
            address = f"{place.path}/versions/{id_}"
            message = f"there is no version {id_!r} of {place.resource!r}"
            raise NotFoundError(message, address=address)
        return found, session.content(_key(place, id_))

    def _drop(
        self, session: Session, place: Place, type_: ResourceType, epoch: int | None
    ) -> Resource:
        held = self._held(session, place, type_)
        _expect_epoch(held.latest.epoch, epoch, place.path)
        session.drop(RESOURCE, place.key)
        for kind in (VERSION, CONTENT):
            session.clear(kind, f"{place.key}/")
        return held

    def drop_group(
        self, session: Session, type_: GroupType, id_: str, epoch: int | None = None
    ) -> Group:
        """Remove a group with all that is in it, if it may be removed yet."""
        found = _there(session, type_, id_)
        address = f"/{type_.plural}/{id_}"
        _expect_epoch(found.epoch, epoch, address)
        removal = endpoint.removal(found.attributes) if kinds.is_endpoint(type_) else None
        moment = parse_timestamp(removal) if removal else None
        if moment is not None and moment.timestamp() > self._clock.now():
            message = f"{id_!r} must not be removed before {removal}: see deprecated.removal"
            raise ConflictError(message, address=address)
        session.drop(GROUP, key(type_.plural, id_))
        session.clear_below(key(type_.plural, id_))
        return found

    def _keeps_resources(self, faults: Faults, old: GroupType, new: GroupType) -> None:
        for type_ in old.resources:
            kept = new.resource(type_.plural)
            if kept is not None and kept.plural == type_.plural:
                continue
            for group in self.all_groups(old):
                if self.number_of_resources(key(old.plural, group.id), type_):
                    faults.add("groups", f"must keep {type_.plural}: {group.id!r} has some")
                    break


def put_resources(
    writer: Writer, type_: GroupType, id_: str, resources: Sequence[drafts.ResourceDraft]
) -> None:
    """Put what a document has inside a group."""
    for each in resources:
        place = Place(type_.plural, id_, each.type.plural, each.id)
        held = writer.session.resource(place.key)
        usual = held.latest.id if held else "1"
        versions = {name or usual: draft for name, draft in each.versions.items()}
        if held is not None and held.place != place:
            writer.faults.add(each.path, f"differs from {held.place.path} only by case")
            continue
        paths = {
            name or usual: f"{each.path}.versions.{name}" if name and each.nested else each.path
            for name in each.versions
        }
        writer.put_versions(place, each.type, versions, paths)


def _key(place: Place, id_: str) -> str:
    return f"{place.key}/{folded(id_)}"


def _there(session: Session, type_: GroupType, id_: str) -> Group:
    found = session.group(key(type_.plural, id_))
    if found is None or found.id != id_:
        message = f"there is no {type_.singular} {id_!r}"
        raise NotFoundError(message, address=f"/{type_.plural}/{id_}")
    return found


def _expect_none(found: Group | Resource | None, address: str) -> None:
    if found is not None:
        message = f"there is already {found.id!r}; ids differ by more than case"
        raise ConflictError(message, address=address)


def _expect_id(faults: Faults, claimed: str | None, allowed: tuple[str, ...]) -> None:
    if claimed is not None and claimed not in allowed:
        faults.add("id", f"must be {allowed[0]!r} or absent: it never changes")


def _expect_epoch(current: int, claimed: int | None, address: str) -> None:
    if claimed is not None and claimed != current:
        raise ConflictError(f"the epoch is {current}, not {claimed}", address=address)
