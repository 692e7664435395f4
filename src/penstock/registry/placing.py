"""Drafts put in their place: rules applied, versions compared, old ones pruned."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import msgspec

from penstock.errors import ConflictError, Problem
from penstock.registry import endpoint, kinds
from penstock.registry.checking import Checker, inside
from penstock.registry.entities import (
    CONTENT,
    GROUP,
    RESOURCE,
    VERSION,
    Group,
    Place,
    Resource,
    Shape,
    Version,
    folded,
    key,
    ordered,
    resource,
    segment,
)
from penstock.registry.faults import Faults, within
from penstock.registry.lookup import Lookup
from penstock.registry.model import GroupType, Model, ResourceType
from penstock.registry.references import Circle, Missing
from penstock.registry.rules import Around, Draft
from penstock.registry.session import Session

Paths = Mapping[str, str]
"""Where each version is in the document that is read, for problems."""
NO_PATHS: Paths = {}


@dataclass(frozen=True, slots=True)
class Terms:
    """How a request wants to be treated."""

    base: str = ""
    """The address of the registry as the client knows it."""
    lenient: bool = False
    """Whether what cannot be decided, parsed or found is only warned of."""


@dataclass(slots=True)
class Writer:
    """Puts groups and versions into a session; problems are gathered until `finish`."""

    session: Session
    model: Model
    checker: Checker
    now: str
    terms: Terms
    faults: Faults = field(default_factory=Faults)
    clashes: list[Problem] = field(default_factory=list)
    """Changes that no reader of older versions would understand."""
    warnings: list[Problem] = field(default_factory=list)
    sparing: bool = False
    """Whether what is there already, the same, is left alone."""
    created: list[str] = field(default_factory=list)
    updated: list[str] = field(default_factory=list)
    unchanged: int = 0
    wills: list[tuple[Mapping[str, object], str]] = field(default_factory=list)
    """Endpoints whose last will is looked for when everything is in its place."""

    def finish(self, address: str) -> None:
        """Refuse everything if something is wrong."""
        while self.wills:
            self._will(*self.wills.pop())
        self.faults.finish()
        if self.clashes:
            number = len(self.clashes)
            message = f"{self.clashes[0]}" if number == 1 else f"there are {number} conflicts"
            raise ConflictError(message, address=address, problems=self.clashes)

    def put_group(
        self, type_: GroupType, id_: str, attributes: Mapping[str, object], path: str = ""
    ) -> Group:
        """Create or change a group."""
        place = key(type_.plural, id_)
        before = self.session.group(place)
        kept = self._with_format(type_, place, attributes, within(path, "format"))
        self.wills.append((kept, path))
        if before is not None and self.sparing and before.attributes == kept:
            self.unchanged += 1
            return before
        if before is not None:
            made = Group(id_, kept, before.epoch + 1, before.created, self.now)
        else:
            made = Group(id_, kept, 1, self.now, self.now)
        self._note(f"/{segment(type_.plural)}/{segment(id_)}", is_new=before is None)
        self.session.put(GROUP, place, made)
        return made

    def put_versions(
        self,
        place: Place,
        type_: ResourceType,
        drafts: Mapping[str, Draft],
        paths: Paths = NO_PATHS,
    ) -> Resource | None:
        """Create or change versions of a resource, or return None where a draft is wrong."""
        before = self.session.resource(place.key)
        old = before.versions if before else ()
        ids = ordered(tuple({*old, *drafts}))
        settled: dict[str, Draft] = {}
        for id_ in (each for each in ids if each in drafts):
            number = len(self.faults.problems)
            around = self._around(place, (old, settled), id_, paths.get(id_, ""))
            one = kinds.rules(type_).settled(drafts[id_], around, self.faults)
            if len(self.faults.problems) > number:
                continue
            settled[id_] = one
            self._derive_format(place, one)
        if len(settled) < len(drafts):
            return None
        fresh = {id_: one for id_, one in settled.items() if not self._is_there(place, id_, one)}
        self.unchanged += len(settled) - len(fresh)
        if before is not None and not fresh:
            return before
        versions = {id_: self._version(place, id_, one) for id_, one in fresh.items()}
        self._compare(place, type_, ids, fresh, paths)
        made = self._put(place, type_, ids, versions, fresh)
        self._circles(fresh, paths)
        return made

    def _note(self, address: str, *, is_new: bool) -> None:
        (self.created if is_new else self.updated).append(address)

    def _is_there(self, place: Place, id_: str, draft: Draft) -> bool:
        before = self.session.version(_version_key(place, id_)) if self.sparing else None
        if before is None or before.attributes != draft.attributes or before.uri != draft.uri:
            return False
        content = self.session.content(_version_key(place, id_)) if draft.content else b""
        return before.media_type == draft.media_type and (
            content == draft.content
            or (before.shape is draft.shape is Shape.JSON and _equal(content, draft.content))
        )

    def _circles(self, drafts: Mapping[str, Draft], paths: Paths) -> None:
        """A definition that borrows from another does not borrow from itself in the end."""
        for id_, draft in drafts.items():
            reference = draft.attributes.get("uri")
            if not isinstance(reference, str):
                continue
            try:
                Lookup(self.session, self.model).origin(reference, self.terms.base)
            except Circle as exc:
                self.faults.add(within(paths.get(id_, ""), "uri"), str(exc))
            except Missing:
                continue

    def _version(self, place: Place, id_: str, draft: Draft) -> Version:
        before = self.session.version(_version_key(place, id_))
        self._note(f"{place.path}/versions/{segment(id_)}", is_new=before is None)
        return Version(
            id_,
            draft.attributes,
            before.epoch + 1 if before else 1,
            before.created if before else self.now,
            self.now,
            draft.uri,
            draft.media_type,
            draft.shape,
        )

    def _put(
        self,
        place: Place,
        type_: ResourceType,
        ids: tuple[str, ...],
        versions: Mapping[str, Version],
        drafts: Mapping[str, Draft],
    ) -> Resource:
        kept = ids[-type_.versions :] if type_.versions else ids
        for id_ in (each for each in ids if each not in kept):
            self.session.drop(VERSION, _version_key(place, id_))
            self.session.drop(CONTENT, _version_key(place, id_))
        for id_, version in versions.items():
            if id_ in kept:
                self._put_version(_version_key(place, id_), version, drafts[id_].content)
        latest = versions.get(kept[-1]) or self.session.version(_version_key(place, kept[-1]))
        if latest is None:  # the row of the resource names it, so it is there
            raise KeyError(kept[-1])
        content = self._content(place, latest.id, drafts) if latest.shape is not Shape.NONE else b""
        made = resource(place, type_.singular, kept, (latest, content))
        self.session.put(RESOURCE, place.key, made)
        return made

    def _put_version(self, place: str, version: Version, content: bytes) -> None:
        self.session.put(VERSION, place, version)
        if version.shape is not Shape.NONE:
            self.session.put(CONTENT, place, content)
        else:
            self.session.drop(CONTENT, place)

    def _around(
        self,
        place: Place,
        siblings: tuple[tuple[str, ...], Mapping[str, Draft]],
        id_: str,
        path: str,
    ) -> Around:
        old, settled = siblings
        # All versions have akin formats, so one that is there speaks for all of them.
        other = next((each for each in old if each != id_ and each not in settled), None)
        found = self.session.version(_version_key(place, other)) if other else None
        others = [each.attributes.get("format") for each in (*settled.values(), found) if each]
        group = self.session.group(place.above)
        limit = group.attributes.get("format") if group else None
        return Around(
            self.checker,
            Lookup(self.session, self.model),
            self.terms.base,
            path,
            str(limit) if limit else None,
            tuple(str(each) for each in others if each),
            self.terms.lenient,
            self.warnings,
        )

    def _derive_format(self, place: Place, draft: Draft) -> None:
        """A group of definitions has the format of its first one (RA-63)."""
        type_ = self.model.group(place.groups)
        group = self.session.group(place.above)
        format_ = draft.attributes.get("format")
        if type_ is None or group is None or not kinds.holds_definitions(type_):
            return
        if format_ and "format" not in group.attributes:
            attributes = {**group.attributes, "format": format_}
            self.session.put(
                GROUP, place.above, msgspec.structs.replace(group, attributes=attributes)
            )

    def _with_format(
        self, type_: GroupType, place: str, attributes: Mapping[str, object], path: str
    ) -> dict[str, object]:
        kept = dict(attributes)
        for each in type_.resources:
            _, first = next(self.session.resources(f"{place}/{folded(each.plural)}/"), ("", None))
            format_ = first.latest.attributes.get("format") if first else None
            if not format_ or not kinds.rules(each).flat:
                continue
            if kept.setdefault("format", format_) != format_:
                self.faults.add(path, f"must be {format_}, the format of its {each.plural}")
        return kept

    def _will(self, attributes: Mapping[str, object], path: str) -> None:
        reference = endpoint.will_message(attributes)
        if reference is None:
            return
        place = within(path, "config.options.will-message")
        message = None
        try:
            target = Lookup(self.session, self.model).origin(reference, self.terms.base)
        except Missing as exc:
            message = f"leads nowhere: {exc}"
        else:
            message = endpoint.unfit_will(target.kind, target.format) if target else None
        if message and self.terms.lenient:
            self.warnings.append(Problem(place, message))
        elif message:
            self.faults.add(place, message)

    def _compare(
        self,
        place: Place,
        type_: ResourceType,
        ids: tuple[str, ...],
        settled: Mapping[str, Draft],
        paths: Paths,
    ) -> None:
        if not kinds.is_schema(type_):
            return
        for number, id_ in enumerate(ids):
            draft = settled.get(id_)
            if draft is None or not draft.content:
                continue
            for older in ids[:number]:
                content = self._content(place, older, settled)
                if content and content != draft.content:
                    path = within(paths.get(id_, ""), "schema")
                    self._compare_two(draft, (older, content), path)

    def _content(self, place: Place, id_: str, settled: Mapping[str, Draft]) -> bytes:
        if id_ in settled:
            return settled[id_].content
        return self.session.content(_version_key(place, id_))

    def _compare_two(self, draft: Draft, older: tuple[str, bytes], path: str) -> None:
        id_, content = older
        format_ = str(draft.attributes["format"])
        clashes, undecided = self.checker.incompatibilities(format_, draft.content, content)
        for problem in clashes:
            found = inside(path, problem)
            message = f"incompatible with version {id_}: {found.message}"
            self.clashes.append(Problem(found.path, message))
        for problem in undecided:
            found = inside(path, problem)
            message = f"cannot be compared with version {id_}: {found.message}"
            target = self.warnings if self.terms.lenient else self.clashes
            target.append(Problem(found.path, message))


def _equal(one: bytes, other: bytes) -> bool:
    return bool(msgspec.json.decode(one) == msgspec.json.decode(other))


def _version_key(place: Place, id_: str) -> str:
    return f"{place.key}/{folded(id_)}"
