"""Addresses below /api and /apis, taken apart."""

from __future__ import annotations

from dataclasses import dataclass

from penstock.errors import NotFoundError

_CORE_PARTS = {"status", "finalize"}


@dataclass(frozen=True, slots=True)
class Address:
    """What a path names: a collection, an object, or a part of an object."""

    group: str
    version: str
    plural: str
    namespace: str = ""
    name: str = ""
    part: str = ""


def address(path: str) -> Address:
    """Return what a path means, or raise NotFoundError."""
    first, *rest = path.strip("/").split("/")
    group = rest.pop(0) if first == "apis" and rest else ""
    version, *tail = rest or [""]
    if first not in ("api", "apis") or not tail or "" in tail:
        raise NotFoundError(f"there is nothing at {path}", address=path)
    if tail[0] == "namespaces" and _is_inside(group, tail):
        _, namespace, plural, *tail = tail
        return _below(path, Address(group, version, plural, namespace), tail)
    return _below(path, Address(group, version, tail[0]), tail[1:])


def _is_inside(group: str, tail: list[str]) -> bool:
    """Tell whether a path leads into a namespace, not to the namespace itself."""
    if len(tail) < 3:  # noqa: PLR2004 - namespaces, a name, and what is in it
        return False
    return bool(group) or len(tail) > 3 or tail[2] not in _CORE_PARTS  # noqa: PLR2004


def _below(path: str, found: Address, tail: list[str]) -> Address:
    if len(tail) > 2 or "" in (*tail, found.plural):  # noqa: PLR2004 - a name and a part
        raise NotFoundError(f"there is nothing at {path}", address=path)
    name, part = [*tail, "", ""][:2]
    return Address(found.group, found.version, found.plural, found.namespace, name, part)
