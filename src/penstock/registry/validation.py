"""Events checked against what the registry says of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache

import msgspec

from penstock.errors import EventError, Problem
from penstock.events import CloudEvent
from penstock.ports import ResourceStore
from penstock.registry import effective
from penstock.registry.entities import RESOURCE, Resource
from penstock.registry.reader import Reader
from penstock.registry.references import Missing
from penstock.registry.validation_attributes import Declared, declared
from penstock.registry.validation_data import (
    UNCHECKED,
    DataCheck,
    of_definition,
    of_reference,
)
from penstock.registry.validation_index import Index

# Compiled schemas take some memory, so that a full cache is emptied.
_MOST = 4096


class Judgement(msgspec.Struct, frozen=True):
    """What the registry says of an event."""

    problems: tuple[Problem, ...] = ()
    known: bool = False
    """Whether a definition or a schema of the registry is about it."""
    definition: str = ""
    """The address of the definition for its type; of several, that which fits best."""
    unchecked: str = ""
    """Why the data was not checked, although the definition has a schema for it."""


_UNKNOWN = Judgement()


@dataclass(frozen=True, slots=True)
class _Compiled:
    address: str
    attributes: Declared
    data: DataCheck


@dataclass(frozen=True, slots=True)
class _Cache:
    """What was compiled from one state of the registry."""

    definitions: dict[tuple[str, str], tuple[_Compiled, ...]] = field(default_factory=dict)
    single: dict[str, _Compiled] = field(default_factory=dict)
    schemas: dict[tuple[str, str], DataCheck | str | None] = field(default_factory=dict)


class Validator:
    """Finds the problems of events; `refresh` takes in what changed in the registry.

    Definitions and schemas are compiled when the first event asks for them. `base` is the address
    of the registry in references, for those that are not relative.
    """

    def __init__(self, store: ResourceStore, base: str = "") -> None:
        self._reader = Reader(store)
        self._store = store
        self._base = base
        self._index = Index(store)
        self._cache = _Cache()
        self.refresh()

    def refresh(self) -> None:
        """Judge by the newest version of the registry from now on."""
        if self._index.refresh():
            self._cache = _Cache()

    def problems(self, event: CloudEvent) -> tuple[Problem, ...]:
        """Return what keeps an event from being as the registry says; none if it says nothing."""
        # The short way for most: one definition for the type, and no schema of the event's own.
        only = self._cache.single.get(event.type)
        if only is None or event.dataschema is not None or event.specversion != "1.0":
            return self.judge(event).problems
        return event.problems() or only.attributes.problems(event) + only.data.problems(event)

    def judge(self, event: CloudEvent, base: str | None = None) -> Judgement:
        """Return the problems of an event, and what they come from."""
        found = event.problems()
        if found:
            return Judgement(found)
        if event.specversion != "1.0":
            try:
                event = event.convert("1.0")
            except EventError as exc:
                return Judgement(exc.problems)
        place = self._base if base is None else base
        own = None if event.dataschema is None else self._own(event.dataschema, place)
        definitions = self._definitions(event.type, place)
        if not definitions:
            return _UNKNOWN if own is None else _judged_by_schema(event, own)
        judged = [_judged(event, each, own) for each in definitions]
        return min(judged, key=lambda each: len(each.problems))

    def _definitions(self, type_: str, base: str) -> tuple[_Compiled, ...]:
        cache, key = self._cache, (type_, base)
        if key in cache.definitions:
            return cache.definitions[key]
        found = [self._store.get(RESOURCE, each) for each in self._index.keys(type_)]
        made = tuple(
            self._definition(msgspec.json.decode(each.body, type=Resource), base)
            for each in found
            if each is not None
        )
        if len(cache.definitions) >= _MOST:
            self._cache = cache = _Cache()
        cache.definitions[key] = made
        if base == self._base and len(made) == 1:
            cache.single[type_] = made[0]
        return made

    def _definition(self, resource: Resource, base: str) -> _Compiled:
        whole = effective.attributes(self._reader, resource.latest.attributes, base)
        path = resource.place.path
        check = of_definition(whole, path, self._reader.lookup(), base)
        return _Compiled(path, declared(whole), check)

    def _own(self, reference: str, base: str) -> DataCheck | str | None:
        """Return the schema that an event names, a problem of that name, or None if foreign."""
        cache, key = self._cache, (reference, base)
        if key in cache.schemas:
            return cache.schemas[key]
        found: DataCheck | str | None
        try:
            found = of_reference(reference, self._reader.lookup(), base)
        except Missing as exc:
            found = f"leads nowhere in this registry: {exc}"
        if len(cache.schemas) >= _MOST:
            cache.schemas.clear()
        cache.schemas[key] = found
        return found


def validate(event: CloudEvent, store: ResourceStore, base: str = "") -> tuple[Problem, ...]:
    """Return what keeps an event from being as the registry in a store says."""
    validator = _validator(store, base)  # type: ignore[arg-type] # stores are hashed by identity
    validator.refresh()
    return validator.problems(event)


@lru_cache(maxsize=8)
def _validator(store: ResourceStore, base: str) -> Validator:
    return Validator(store, base)


def _judged(event: CloudEvent, definition: _Compiled, own: DataCheck | str | None) -> Judgement:
    data = definition.data
    found = definition.attributes.problems(event)
    if isinstance(own, str):
        found = (*found, Problem("dataschema", own))
    elif own is not None:
        version = own if data is UNCHECKED else data.in_version(own)
        if version is None:
            found = (*found, *own.problems(event))
        else:
            data = version
    wrong = data.problems(event)
    return Judgement((*found, *wrong), True, definition.address, data.reason)  # noqa: FBT003


def _judged_by_schema(event: CloudEvent, own: DataCheck | str) -> Judgement:
    if isinstance(own, str):
        return Judgement((Problem("dataschema", own),))
    return Judgement(own.problems(event), known=True, unchecked=own.reason)
