"""The operations on objects: each reads, decides, and writes everything together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager

import msgspec

from penstock.errors import (
    ConflictError,
    ExistsError,
    ForbiddenError,
    NotFoundError,
    Problem,
    ResourceError,
    UnsupportedError,
)
from penstock.knative import admission, fields, listing, meta, patch, reconcile
from penstock.knative.draft import Draft, decoded
from penstock.knative.fields import Owner
from penstock.knative.kinds import DEFINITION, KIND, KNOWN, NAMESPACE, OBJECT, Kind
from penstock.knative.listing import Listing, Query
from penstock.knative.meta import Object, metadata, name, namespace, uid
from penstock.knative.namespaces import a_namespace, content, streams_without_object
from penstock.knative.resolve import of
from penstock.knative.watch import Watch
from penstock.ports import Clock, EventLog, Put, ResourceStore

SITE = "site"
_PATCHES: dict[str, Callable[[Object, object], Object]] = {
    patch.MERGE: patch.merged,
    patch.JSON: patch.operated,
    patch.STRATEGIC: patch.strategic,
}


class Place(msgspec.Struct, frozen=True):
    """Where an object lives."""

    kind: Kind
    namespace: str
    name: str = ""

    @property
    def key(self) -> str:
        return self.kind.key(self.namespace, self.name)


class Options(msgspec.Struct, frozen=True):
    """How an operation is meant."""

    base: str
    manager: str = "unknown"
    dry_run: bool = False
    force: bool = False
    only_status: bool = False
    uid: str = ""
    version: str = ""


class Resources:
    """Keeps objects of all kinds, with the streams and routes that they stand for."""

    def __init__(
        self,
        store: ResourceStore,
        log: EventLog,
        clock: Clock,
        ids: Callable[[], str],
        lock: AbstractContextManager[object],
    ) -> None:
        self._store = store
        self._log = log
        self._clock = clock
        self._ids = ids
        # What one operation decides rests on objects that another must not change meanwhile.
        self._lock = lock

    def prepare(self, base: str) -> None:
        """Make the objects of streams that have none, and follow a changed address of ours."""
        with self._lock:
            draft = self._draft(base)
            touched = []
            for kind, space, called in streams_without_object(self._store):
                document = {"metadata": {"name": called, "namespace": space}}
                found = admission.read(kind, space, document)
                made = admission.born(kind, found, self._ids, draft.now)
                self._ensure_namespace(draft, space)
                draft.put(kind, made)
                touched.append(of(made, *kind.identity))
            known = self._store.get(SITE, "base")
            if known is None or known.body != base.encode():
                draft.keep(SITE, "base", base.encode())
                touched += [
                    of(found, *kind.identity)
                    for kind in reconcile.RULES
                    for found in draft.scan(kind)
                ]
            reconcile.settle(draft, touched)
            if changes := draft.changes():
                self._store.write(changes)

    def kind(self, group: str, plural: str) -> Kind | None:
        """Return the kind that an address names."""
        for kind in KNOWN:
            if (kind.group, kind.plural) == (group, plural):
                return kind
        found = self._store.get(KIND, f"{group}/{plural}")
        return None if found is None else msgspec.json.decode(found.body, type=Kind)

    def kinds(self) -> list[Kind]:
        """Return all kinds, those that were learned too."""
        learned = [
            msgspec.json.decode(one.body, type=Kind) for one in self._store.page(KIND, "", 10_000)
        ]
        return list(dict.fromkeys([*KNOWN, *learned]))

    def create(self, place: Place, document: object, options: Options) -> Object:
        """Store a new object."""
        with self._lock:
            draft = self._draft(options.base)
            found = admission.read(place.kind, place.namespace, document)
            made = fields.updated({}, found, Owner(options.manager), draft.now)
            return self._create(draft, place.kind, made, options)

    def get(self, place: Place) -> Object:
        """Return an object, or raise NotFoundError."""
        found = self._store.get(OBJECT, place.key)
        if found is None:
            raise _missing(place)
        return decoded(found)

    def listing(self, query: Query, limit: int | None = None, token: str = "") -> Listing:
        return listing.listing(self._store, query, limit, token)

    def watch(self, query: Query, since: int | None) -> Watch:
        return Watch(self._store, query, since)

    def replace(self, place: Place, document: object, options: Options) -> Object:
        """Replace an object; one that is not there is not made."""
        with self._lock:
            draft = self._draft(options.base)
            before = self._expect(draft, place, options)
            return self._update(draft, place, before, document, options)

    def patch(self, place: Place, media: str, document: object, options: Options) -> Object:
        """Change an object by a patch."""
        if media not in _PATCHES or (media == patch.STRATEGIC and place.kind.group):
            raise UnsupportedError(f"no patch of {place.kind.resource} is {media}", what=media)
        with self._lock:
            draft = self._draft(options.base)
            before = self._expect(draft, place, options)
            version = draft.version(place.kind, place.namespace, place.name)
            shown = meta.with_metadata(before, resourceVersion=str(version))
            after = _PATCHES[media](shown, document)
            return self._update(draft, place, before, after, options)

    def apply(self, place: Place, document: object, options: Options) -> tuple[Object, bool]:
        """Apply a configuration; return the object, and whether it is new."""
        found = admission.read(place.kind, place.namespace, document)
        given = meta.with_metadata(found, name=name(found) or place.name)
        owner = Owner(options.manager, "Apply")
        with self._lock:
            draft = self._draft(options.base)
            before = draft.get(place.kind, place.namespace, place.name)
            if before is None:
                made = fields.applied({}, given, owner, draft.now, force=True)
                head = {"apiVersion": given["apiVersion"], "kind": given["kind"]}
                made = meta.with_metadata(
                    {**head, **made}, name=name(given), namespace=namespace(given) or None
                )
                return self._create(draft, place.kind, made, options), True
            version = draft.version(place.kind, place.namespace, place.name)
            admission.check_version(place.kind, before, version, given)
            made = fields.applied(before, given, owner, draft.now, force=options.force)
            grown = admission.grown(place.kind, before, made)
            return self._save(draft, place, before, grown, options), False

    def delete(self, place: Place, options: Options) -> tuple[Object, bool]:
        """Delete an object; return it, and whether it is gone or waits for its finalizers."""
        with self._lock:
            draft = self._draft(options.base)
            before = self._expect(draft, place, options)
            self._remove(draft, place.kind, before)
            return self._finish(draft, place, before, options)

    def delete_many(self, query: Query, options: Options) -> Sequence[Object]:
        """Delete all objects of a query together; return them as they were."""
        with self._lock:
            draft = self._draft(options.base)
            found = [one for one in draft.scan(query.kind, query.namespace) if query.matches(one)]
            for one in found:
                self._remove(draft, query.kind, one)
            reconcile.settle(draft, [of(one, *query.kind.identity) for one in found])
            self._write(draft, options)
            return found

    def _draft(self, base: str) -> Draft:
        return Draft(self._store, self._log, base, meta.timestamp(self._clock.now()))

    def _create(self, draft: Draft, kind: Kind, found: Object, options: Options) -> Object:
        made = admission.born(kind, found, self._ids, draft.now)
        admission.check(kind, made)
        place = Place(kind, namespace(made), name(made))
        if draft.get(kind, place.namespace, place.name) is not None:
            msg = f'{kind.resource} "{place.name}" already exists'
            raise ExistsError(msg, address=place.name)
        if kind.namespaced:
            self._ensure_namespace(draft, place.namespace)
        if kind is NAMESPACE:
            made = a_namespace(made)
        elif kind is DEFINITION:
            made = admission.defined(made, draft.now)
        draft.put(kind, made)
        self._learn(draft, kind, made)
        return self._finish(draft, place, made, options)[0]

    def _update(
        self, draft: Draft, place: Place, before: Object, document: object, options: Options
    ) -> Object:
        found = admission.read(place.kind, place.namespace, document)
        version = draft.version(place.kind, place.namespace, place.name)
        admission.check_version(place.kind, before, version, found)
        if options.only_status:
            found = {**before, "status": found.get("status")}
        grown = admission.grown(place.kind, before, found)
        made = fields.updated(before, grown, Owner(options.manager), draft.now)
        return self._save(draft, place, before, made, options)

    def _save(
        self, draft: Draft, place: Place, before: Object, made: Object, options: Options
    ) -> Object:
        if name(made) != place.name:
            detail = f"the name on the URL is {place.name}"
            raise ResourceError([Problem("metadata.name", f"Invalid value: {detail}")])
        admission.check(place.kind, made, before)
        draft.put(place.kind, made)
        if metadata(made).get("deletionTimestamp") and not metadata(made).get("finalizers"):
            draft.drop(place.kind, made)
        self._learn(draft, place.kind, made)
        return self._finish(draft, place, made, options)[0]

    def _finish(
        self, draft: Draft, place: Place, found: Object, options: Options
    ) -> tuple[Object, bool]:
        """Reconcile, write, and return the object as it now is, and whether it is gone."""
        reconcile.settle(draft, [of(found, *place.kind.identity)])
        version = self._write(draft, options).get(
            place.key, draft.version(place.kind, place.namespace, place.name)
        )
        left = draft.get(place.kind, place.namespace, place.name)
        shown = found if left is None else left
        return meta.with_metadata(shown, resourceVersion=str(version)), left is None

    def _write(self, draft: Draft, options: Options) -> dict[str, int]:
        """Write a draft and return the versions of the objects that it changed."""
        changes = draft.changes()
        if not changes or options.dry_run:
            return {}
        try:
            version = self._store.write(changes)
        except NotFoundError as exc:
            msg = f"somebody else removed what this rests on ({exc}): try again"
            raise ConflictError(msg, address=exc.address) from exc
        return {one.key: version for one in changes if one.kind == OBJECT and isinstance(one, Put)}

    def _expect(self, draft: Draft, place: Place, options: Options) -> Object:
        found = draft.get(place.kind, place.namespace, place.name)
        if found is None:
            raise _missing(place)
        version = str(draft.version(place.kind, place.namespace, place.name))
        if options.uid not in ("", uid(found)) or options.version not in ("", version):
            msg = (
                f'Operation cannot be fulfilled on {place.kind.resource} "{place.name}": '
                f"the precondition does not hold: its uid is {uid(found)}, its resourceVersion "
                f"{version}"
            )
            raise ConflictError(msg, address=place.name)
        return found

    def _remove(self, draft: Draft, kind: Kind, found: Object) -> None:
        if kind is NAMESPACE:
            self._empty(draft, found)
        if not metadata(found).get("finalizers"):
            draft.drop(kind, found)
        elif not metadata(found).get("deletionTimestamp"):
            generation = int(metadata(found).get("generation", 0)) + 1 if kind.group else None
            draft.put(
                kind,
                meta.with_metadata(
                    found,
                    deletionTimestamp=draft.now,
                    deletionGracePeriodSeconds=0,
                    generation=generation,
                ),
            )

    def _empty(self, draft: Draft, space: Object) -> None:
        """Delete everything in a namespace together with it."""
        if name(space) == "default":
            msg = 'namespaces "default" is forbidden: this namespace may not be deleted'
            raise ForbiddenError(msg, address="default")
        found = list(content(draft, self.kinds(), name(space)))
        for kind, one in found:
            draft.drop(kind, one)
        reconcile.settle(draft, [of(one, *kind.identity) for kind, one in found])

    def _ensure_namespace(self, draft: Draft, space: str) -> None:
        if draft.get(NAMESPACE, "", space) is None:
            found = admission.read(NAMESPACE, "", {"metadata": {"name": space}})
            made = admission.born(NAMESPACE, found, self._ids, draft.now)
            draft.put(NAMESPACE, a_namespace(made))

    def _learn(self, draft: Draft, kind: Kind, found: Object) -> None:
        if kind is DEFINITION:
            draft.learn(admission.definition(found))
        elif not kind.known:
            draft.learn(kind)


def _missing(place: Place) -> NotFoundError:
    msg = f'{place.kind.resource} "{place.name}" not found'
    return NotFoundError(msg, address=place.name)
