"""Registry documents without a server: read, checked, joined and compared."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

import msgspec

from penstock.errors import FormatError, Problem, ResourceError
from penstock.registry import document, importing, kinds
from penstock.registry.entities import segment
from penstock.registry.importing import Outcome
from penstock.registry.model import GroupType, Model
from penstock.registry.placing import Terms
from penstock.registry.query import VERSIONS
from penstock.registry.registry import Registry
from penstock.registry.scratch import Scratch

_LENIENT = Terms(lenient=True)
_LARGEST = 1 << 40
_COUNT = re.compile(r".+(?:Count|Url|URL)")
_BARE = ("$schema", "specversion", "specVersion")


class Change(msgspec.Struct, frozen=True):
    """One value of an entity that is not the same; None is absent."""

    path: str
    before: object = None
    after: object = None


class Difference(msgspec.Struct, frozen=True):
    """An entity that is not the same in two documents."""

    address: str
    what: str
    """`created`, `updated` or `deleted`."""
    changes: tuple[Change, ...] = ()


class _Still:
    def now(self) -> float:
        return 0.0


STILL = _Still()
"""A clock for what never happened."""


def media_type(name: str, body: bytes) -> str:
    """Return the media type of a file by its name, or by how it starts."""
    low = name.lower()
    if low.endswith((".yaml", ".yml")):
        return document.YAML
    if low.endswith((".cereg", ".json")):
        return document.JSON
    return document.JSON if body.lstrip()[:1] in (b"{", b"[", b"") else document.YAML


def read(name: str, body: bytes) -> Mapping[str, object]:
    """Return the document in a file, or raise FormatError, which names the file."""
    try:
        return document.parse(body, media_type(name, body))
    except FormatError as exc:
        raise FormatError(f"{name}: {exc}", format=exc.format, offset=exc.offset) from exc


def opened(
    found: Mapping[str, object], model: Model = kinds.MODEL, terms: Terms = _LENIENT
) -> tuple[Registry, Scratch, Outcome]:
    """Return a registry in memory with what a document holds, and what it made of it."""
    store = Scratch()
    registry = Registry(store, STILL, lambda: "offline")
    if model != kinds.MODEL:
        registry.change_model(model.document())
    outcome = importing.bring(registry, found, terms)
    return registry, store, outcome


def canonical(found: Mapping[str, object], model: Model = kinds.MODEL) -> dict[str, object]:
    """Return a document as it would be exported again, or raise what an import raises."""
    registry, _, _ = opened(found, model)
    exported = document.export(registry, registry.identity(), _LARGEST)
    return msgspec.json.decode(msgspec.json.encode(exported), type=dict[str, object])


def joined(
    documents: Sequence[tuple[str, Mapping[str, object]]], model: Model = kinds.MODEL
) -> Mapping[str, object]:
    """Return several documents, each with its name, as one; what they share must be the same."""
    if len(documents) == 1:
        return documents[0][1]
    problems: list[Problem] = []
    whole: dict[str, object] = {}
    inside = {each.plural: each for each in model.groups}
    for name, each in documents:
        _join(whole, each, f"{name}: ", (inside, problems))
    if problems:
        raise ResourceError(problems)
    return whole


_Below = Mapping[str, GroupType | None]


def _join(
    whole: dict[str, object],
    added: Mapping[str, object],
    path: str,
    rest: tuple[_Below, list[Problem]],
) -> None:
    below, problems = rest
    for name, value in added.items():
        if _COUNT.fullmatch(name) or name in _BARE:
            continue
        held = whole.get(name)
        if name in below and isinstance(value, Mapping) and isinstance(held, dict | None):
            target = whole[name] = dict(held or {})
            _join_members(target, value, f"{path}{name}.", (below[name], problems))
        elif name not in whole:
            whole[name] = value
        elif held != value:
            problems.append(Problem(f"{path}{name}", "is something else in another file"))


def _join_members(
    held: dict[str, object],
    added: Mapping[str, object],
    path: str,
    rest: tuple[GroupType | None, list[Problem]],
) -> None:
    type_, problems = rest
    inner: _Below = {each.plural: None for each in type_.resources} if type_ else {}
    for id_, member in added.items():
        before = held.get(id_)
        if before is None:
            held[id_] = member
        elif type_ is not None and isinstance(before, Mapping) and isinstance(member, Mapping):
            target = held[id_] = dict(before)
            _join(target, member, f"{path}{id_}.", (inner, problems))
        elif before != member:
            problems.append(Problem(f"{path}{id_}", "is something else in another file"))


def diff(
    old: Mapping[str, object], new: Mapping[str, object], model: Model = kinds.MODEL
) -> tuple[Difference, ...]:
    """Return what would change if the second document replaced the first."""
    before = dict(_entities(canonical(old, model), model))
    after = dict(_entities(canonical(new, model), model))
    found = []
    for address in sorted(before.keys() | after.keys()):
        if address not in before:
            found.append(Difference(address, "created"))
        elif address not in after:
            found.append(Difference(address, "deleted"))
        elif before[address] != after[address]:
            changes = tuple(_changes("", before[address], after[address]))
            found.append(Difference(address, "updated", changes))
    return tuple(found)


def _entities(found: Mapping[str, object], model: Model) -> Iterator[tuple[str, object]]:
    """Yield every entity of a document as it is exported, without what is inside it."""
    yield "/", _own(found, [*(each.plural for each in model.groups), "id"])
    for type_ in model.groups:
        for group, members in _members(found, type_.plural):
            place = f"/{segment(type_.plural)}/{segment(group)}"
            yield place, _own(members, [each.plural for each in type_.resources])
            for each in type_.resources:
                for id_, resource in _members(members, each.plural):
                    yield from _resources(
                        f"{place}/{segment(each.plural)}/{segment(id_)}", resource
                    )


def _resources(place: str, resource: Mapping[str, object]) -> Iterator[tuple[str, object]]:
    yield place, _own(resource, [VERSIONS])
    for id_, version in _members(resource, VERSIONS):
        yield f"{place}/{VERSIONS}/{segment(id_)}", _own(version, [])


def _members(
    found: Mapping[str, object], plural: str
) -> Iterator[tuple[str, Mapping[str, object]]]:
    inside = found.get(plural)
    for id_, each in inside.items() if isinstance(inside, Mapping) else ():
        if isinstance(each, Mapping):
            yield id_, each


def _own(found: Mapping[str, object], nested: Sequence[str]) -> dict[str, object]:
    counts = {f"{each}Count" for each in nested}
    left_out = {*nested, *counts, *_BARE}
    return {name: value for name, value in found.items() if name not in left_out}


def _changes(path: str, before: object, after: object) -> Iterator[Change]:
    if not isinstance(before, Mapping) or not isinstance(after, Mapping):
        if before != after:
            yield Change(path, before, after)
        return
    for name in dict.fromkeys((*before, *after)):
        inner = f"{path}.{name}" if path else str(name)
        yield from _changes(inner, before.get(name), after.get(name))
