"""The catalogue of services: who emits what, and where to subscribe to it."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence

import msgspec

from penstock.discovery import moments, places
from penstock.discovery.attributes import is_id
from penstock.discovery.own import Advertisement, Own, allowed
from penstock.discovery.service import Proposal, Service, proposed, replacing
from penstock.discovery.types import config_faults
from penstock.errors import ConflictError, NotFoundError, Problem
from penstock.ports import Change, Clock, Document, Drop, Put, ResourceStore

SERVICE = "service"
_NAME = "servicename"
_CONFIG = "serviceconfig"
_PAGE = 500


class Services:
    """Keeps services, and shows this server among them; `base` is how a client reached it."""

    def __init__(
        self,
        store: ResourceStore,
        clock: Clock,
        ids: Callable[[], str],
        says: Advertisement,
    ) -> None:
        self._store = store
        self._clock = clock
        self._ids = ids
        self._says = says
        self._own = Own(store, clock, ids, says) if says.name else None

    def query(self, base: str) -> list[Service]:
        """Return all services by name; this server is one of them."""
        found = list(self._all())
        if self._own is not None:
            found.append(self._own.entry(found, base))
        return sorted(found, key=lambda each: (each.name, each.id))

    def retrieve(self, key: str, base: str) -> Service:
        """Return one service, or raise NotFoundError."""
        key = key.lower()
        if self._own is not None and key == self._own.id():
            return self._own.entry(self._all(), base)
        return _decoded(self._document(key))

    def named(self, name: str, base: str) -> Service:
        """Return the service of a name, whatever the case of its letters."""
        if self._own is not None and folded(name) == folded(self._own.name):
            return self._own.entry(self._all(), base)
        found = self._store.get(_NAME, _name_key(name))
        if found is None:
            raise NotFoundError(f"there is no service named {name!r}", address=name)
        return self.retrieve(found.body.decode(), base)

    def create(self, document: object, base: str) -> Service:
        """Store a new service; one that brings its id is imported and keeps id and stamps."""
        proposal = proposed(document)
        made = Service(
            proposal.id or self._ids(),
            proposal.discversion or 1,
            proposal.updated or self._now(),
            proposal.attributes,
            self._stream(proposal, base),
        )
        if self._is_own(made.id) or self._store.get(SERVICE, made.id) is not None:
            msg = f"there is a service {made.id} already: update it with PUT"
            raise ConflictError(msg, address=made.id)
        self._expect_free_name(made)
        self._write(
            made.id,
            [
                Put(SERVICE, made.id, msgspec.json.encode(made), expected=0),
                Put(_NAME, _name_key(made.name), made.id.encode(), expected=0),
                *self._declaration(made, None),
            ],
        )
        return made

    def update(self, key: str, document: object, base: str) -> Service:
        """Replace the attributes of a service, if the stamps that the document has are current."""
        key = key.lower()
        self._refuse_own(key)
        found = self._document(key)
        before, proposal = _decoded(found), replacing(document, key)
        _expect_current(before, proposal)
        made = Service(
            key,
            before.discversion + 1,
            # Clocks go back; the order of texts must not.
            max(before.updated, self._now()),
            proposal.attributes,
            self._stream(proposal, base),
        )
        self._expect_free_name(made)
        change = Put(SERVICE, key, msgspec.json.encode(made), found.version)
        names = _renaming(before, made)
        self._write(key, [change, *names, *self._declaration(made, before)])
        return made

    def delete(self, key: str) -> Service:
        """Remove a service and return it as it was."""
        key = key.lower()
        self._refuse_own(key)
        found = self._document(key)
        before = _decoded(found)
        changes: list[Change] = [
            Drop(SERVICE, key, found.version),
            Drop(_NAME, _name_key(before.name)),
        ]
        if _declares(before):
            changes.append(Drop(_CONFIG, key))
        self._write(key, changes)
        return before

    def config_problems(self, config: Mapping[str, object]) -> tuple[Problem, ...]:
        """Return what is wrong with the `config` of a subscription that is made here (SUB-026).

        Services that take subscriptions here say which keys there are; if none does, any will do.
        """
        found = self._pages(_CONFIG)
        declared = [msgspec.json.decode(each.body, type=dict[str, str]) for each in found]
        keys = allowed(declared, self._says.config)
        return () if keys is None else tuple(config_faults(config, keys))

    def _all(self) -> Iterator[Service]:
        return map(_decoded, self._pages(SERVICE))

    def _pages(self, kind: str) -> Iterator[Document]:
        after = ""
        while page := self._store.page(kind, after, _PAGE):
            yield from page
            after = page[-1].key

    def _is_own(self, key: str) -> bool:
        return self._own is not None and key == self._own.id()

    def _refuse_own(self, key: str) -> None:
        if self._is_own(key):
            msg = "this is the entry of the server itself: it follows from what the server can do"
            raise ConflictError(f"{msg}, and cannot be changed or deleted", address=key)

    def _document(self, key: str) -> Document:
        # What is no id is not even looked up: it could be anything.
        found = self._store.get(SERVICE, key) if is_id(key) else None
        if found is None:
            raise NotFoundError(f"there is no service {key!r}", address=key)
        return found

    def _expect_free_name(self, made: Service) -> None:
        holder = self._store.get(_NAME, _name_key(made.name))
        taken = holder is not None and holder.body.decode() != made.id
        if self._own is not None and folded(made.name) == folded(self._own.name):
            taken = True
        if taken:
            msg = f"there is a service named {made.name!r} already, but for the case of letters"
            raise ConflictError(msg, address=made.name)

    def _stream(self, proposal: Proposal, base: str) -> str | None:
        address = str(proposal.attributes["subscriptionurl"])
        return places.stream_at(address, base, self._says.stream)

    def _declaration(self, made: Service, before: Service | None) -> Iterator[Change]:
        if made.stream is not None and made.config is not None:
            yield Put(_CONFIG, made.id, msgspec.json.encode(made.config))
        elif before is not None and _declares(before):
            yield Drop(_CONFIG, made.id)

    def _write(self, key: str, changes: Sequence[Change]) -> None:
        try:
            self._store.write(changes)
        except (ConflictError, NotFoundError) as exc:
            msg = f"service {key} or its name was changed by somebody else: read and try again"
            raise ConflictError(msg, address=key) from exc

    def _now(self) -> str:
        return moments.text(self._clock.now())


def folded(name: str) -> str:
    """Return a name so that two that differ in case only are equal (Unicode simple folding)."""
    return "".join(map(_folded_letter, name))


def _folded_letter(letter: str) -> str:
    # Full folding, as in `casefold`, would make "ß" and "ss" one name.
    return next((to for to in (letter.casefold(), letter.lower()) if len(to) == 1), letter)


def _name_key(name: str) -> str:
    # Names may be longer than a key of the store.
    return hashlib.sha256(folded(name).encode("utf-8", "surrogatepass")).hexdigest()


def _renaming(before: Service, made: Service) -> list[Change]:
    old, new = _name_key(before.name), _name_key(made.name)
    if old == new:
        return []
    return [Drop(_NAME, old), Put(_NAME, new, made.id.encode(), expected=0)]


def _declares(service: Service) -> bool:
    return service.stream is not None and service.config is not None


def _expect_current(before: Service, proposal: Proposal) -> None:
    current = {"discversion": before.discversion, "updated": before.updated}
    given = {"discversion": proposal.discversion, "updated": proposal.updated}
    stale = [name for name in current if given[name] not in (None, current[name])]
    if stale:
        told = ", ".join(f"{name} is {current[name]}, not {given[name]}" for name in stale)
        msg = f"{told}: read the service and try again"
        raise ConflictError(msg, address=before.id, current=current)


def _decoded(document: Document) -> Service:
    return msgspec.json.decode(document.body, type=Service)
