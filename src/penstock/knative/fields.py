"""Field ownership: who set which field, and server-side apply on top of that."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec

from penstock.errors import OwnershipError, Problem
from penstock.knative.meta import Object, member, metadata, with_metadata

Path = tuple[str, ...]

_OWNED_METADATA = {"labels", "annotations", "finalizers", "ownerReferences"}
_MISSING = object()


class Owner(msgspec.Struct, frozen=True):
    """Somebody who sets fields, and in which way."""

    manager: str
    operation: str = "Update"


class Entry(msgspec.Struct, frozen=True):
    """What one owner owns."""

    owner: Owner
    paths: frozenset[Path]
    time: str
    api_version: str


def leaves(found: Object) -> dict[Path, Any]:
    """Return every field that somebody can own with its value; a list is one field."""
    made: dict[Path, Any] = {}
    for name, value in found.items():
        if name == "metadata" and isinstance(value, Mapping):
            owned = {key: below for key, below in value.items() if key in _OWNED_METADATA}
            made.update(_leaves(owned, (name,)))
        elif name not in ("apiVersion", "kind", "status", "metadata"):
            made.update(_leaves(value, (name,)))
    return made


def _leaves(value: Any, path: Path) -> Iterator[tuple[Path, Any]]:  # noqa: ANN401
    if isinstance(value, Mapping) and value:
        for name, below in value.items():
            yield from _leaves(below, (*path, name))
    elif value != {} or path != ("metadata",):
        yield path, value


def updated(before: Object, after: Object, owner: Owner, now: str) -> Object:
    """Return an object whose changed fields belong to whoever changed them."""
    old, new = leaves(before), leaves(after)
    changed = frozenset(path for path, value in new.items() if old.get(path, _MISSING) != value)
    gone = frozenset(old.keys() - new.keys())
    if not changed and not gone:
        return after
    entries = []
    mine = changed
    for entry in _entries(after):
        if entry.owner == owner:
            mine |= entry.paths - gone
        else:
            entries.append(msgspec.structs.replace(entry, paths=entry.paths - changed - gone))
    return _managed(after, [*entries, Entry(owner, mine, now, str(after["apiVersion"]))])


def applied(before: Object, given: Object, owner: Owner, now: str, *, force: bool) -> Object:
    """Return what applying a configuration makes of an object, or raise OwnershipError."""
    old, new = leaves(before), leaves(given)
    entries = _entries(before)
    others = [entry for entry in entries if entry.owner != owner]
    lost = _conflicts(others, old, new)
    if lost and not force:
        raise _conflict(others, lost)
    kept = [msgspec.structs.replace(entry, paths=entry.paths - lost) for entry in others]
    mine = next((entry.paths for entry in entries if entry.owner == owner), frozenset())
    dropped = mine - new.keys() - frozenset().union(*(entry.paths for entry in others))
    made: dict[str, Any] = _copied(before)
    for path in dropped:
        _take(made, path)
    for path, value in new.items():
        # An empty map only asks that there is one: what others put into it stays.
        if value != {} or not isinstance(member(made, *path), Mapping):
            _set(made, path, value)
    same = next((entry for entry in entries if entry.owner == owner), None)
    time = same.time if same and same.paths == new.keys() and made == before else now
    entry = Entry(owner, frozenset(new), time, str(given["apiVersion"]))
    return _managed(made, [*kept, entry])


def _conflicts(
    others: Iterable[Entry], old: Mapping[Path, Any], new: Mapping[Path, Any]
) -> frozenset[Path]:
    """Return the fields of others that would get another value."""
    return frozenset(
        path
        for entry in others
        for path in entry.paths
        if path in old
        and any(
            path != mine or old[path] != value
            for mine, value in new.items()
            if mine[: len(path)] == path or (path[: len(mine)] == mine and value != {})
        )
    )


def _conflict(others: Iterable[Entry], lost: frozenset[Path]) -> OwnershipError:
    problems = [
        Problem("." + ".".join(path), f'conflict with "{entry.owner.manager}"')
        for entry in others
        for path in sorted(entry.paths & lost)
    ]
    number = len(problems)
    fields = ", ".join(problem.path for problem in problems)
    message = f"Apply failed with {number} conflict{'s' * (number > 1)}: {fields}"
    return OwnershipError(message, address=fields, problems=problems)


def _entries(found: Object) -> list[Entry]:
    known = metadata(found).get("managedFields")
    made = []
    for one in known if isinstance(known, list) else ():
        if isinstance(one, Mapping) and isinstance(one.get("fieldsV1"), Mapping):
            owner = Owner(str(one.get("manager", "")), str(one.get("operation", "Update")))
            paths = frozenset(_paths(one["fieldsV1"], ()))
            texts = (str(one.get(name, "")) for name in ("time", "apiVersion"))
            made.append(Entry(owner, paths, *texts))
    return made


def _paths(nested: Mapping[str, Any], path: Path) -> Iterator[Path]:
    below = {key[2:]: value for key, value in nested.items() if key.startswith("f:")}
    # What others write down about single elements of a list counts for the list here.
    if not below:
        yield path
    for name, value in below.items():
        yield from _paths(value if isinstance(value, Mapping) else {}, (*path, name))


def _managed(found: Object, entries: Iterable[Entry]) -> Object:
    documents = [
        {
            "manager": entry.owner.manager,
            "operation": entry.owner.operation,
            "apiVersion": entry.api_version,
            "time": entry.time,
            "fieldsType": "FieldsV1",
            "fieldsV1": _nested(entry.paths),
        }
        for entry in entries
        if entry.paths
    ]
    return with_metadata(found, managedFields=documents or None)


def _nested(paths: Iterable[Path]) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for path in sorted(paths):
        at = made
        for name in path:
            at = at.setdefault(f"f:{name}", {})
    return made


def _copied(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    if isinstance(value, Mapping):
        return {name: _copied(below) for name, below in value.items()}
    return value


def _set(target: dict[str, Any], path: Path, value: Any) -> None:  # noqa: ANN401
    for name in path[:-1]:
        if not isinstance(target.get(name), dict):
            target[name] = {}
        target = target[name]
    target[path[-1]] = value


def _take(target: dict[str, Any], path: Path) -> None:
    """Remove a field, and what is empty without it."""
    holders = [target]
    for name in path[:-1]:
        below = holders[-1].get(name)
        if not isinstance(below, dict):
            return
        holders.append(below)
    for holder, name in zip(reversed(holders), reversed(path), strict=True):
        if holder.get(name) in ({}, None) or name == path[-1]:
            holder.pop(name, None)
