"""Services: an entry as it is proposed, as it is kept, and as clients see it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from penstock.discovery.attributes import (
    ATTRIBUTES,
    CREATE,
    IMPORT,
    STAMPS,
    UPDATE,
    version,
    versions,
)
from penstock.discovery.rules import Record, present
from penstock.discovery.types import proper
from penstock.errors import Problem, ResourceError

_DEEPEST = 64


class Service(msgspec.Struct, frozen=True, omit_defaults=True):
    """An entry of the catalogue."""

    id: str
    discversion: int
    updated: str
    attributes: Mapping[str, object]
    stream: str | None = None
    """The stream whose subscriptions are asked for at `subscriptionurl`, where that is ours."""

    @property
    def name(self) -> str:
        return str(self.attributes["name"])

    @property
    def config(self) -> Mapping[str, str] | None:
        """The keys of a subscription's `config`, with their types; None: not declared."""
        found = self.attributes.get("subscriptionconfig")
        return found if isinstance(found, Mapping) else None

    @property
    def events(self) -> list[Mapping[str, object]]:
        found = self.attributes.get("events")
        return found if isinstance(found, list) else []

    def document(self, base: str) -> dict[str, object]:
        """Return the entry as clients see it, below the address by which they reached us."""
        return {
            "id": self.id,
            "discversion": self.discversion,
            "updated": self.updated,
            "url": f"{base}/services/{self.id}",
            **self.attributes,
        }


class Proposal(msgspec.Struct, frozen=True):
    """What a request says: attributes that are right, and the stamps it carries."""

    attributes: Mapping[str, object]
    id: str | None = None
    discversion: int | None = None
    updated: str | None = None


def proposed(document: object) -> Proposal:
    """Return what a create or an import proposes, or raise ResourceError with every fault."""
    is_import = isinstance(document, Mapping) and document.get("id") is not None
    return _read(document, IMPORT if is_import else CREATE)


def replacing(document: object, key: str) -> Proposal:
    """Return what an update of an entry proposes, or raise ResourceError with every fault."""
    given = document.get("id") if isinstance(document, Mapping) else None
    other = isinstance(given, str) and given.lower() != key
    message = f"must be {key} or absent: it never changes"
    return _read(document, UPDATE, [Problem("id", message)] if other else [])


def _read(document: object, record: Record, more: Sequence[Problem] = ()) -> Proposal:
    if not isinstance(document, Mapping):
        raise ResourceError([Problem("", "a service is a JSON object")])
    problems = [*record.faults(document), *_depth_faults(document), *more]
    if problems:
        raise ResourceError(problems)
    found = present(document)
    key, stamp = found.get("id"), found.get("updated")
    return Proposal(
        _proper(found),
        str(key).lower() if key is not None else None,
        version(found.get("discversion")),
        str(stamp) if stamp is not None else None,
    )


def _depth_faults(document: Mapping[str, object]) -> Iterator[Problem]:
    """Yield what is nested so deeply that it could be read once and never written."""
    for name, value in document.items():
        layer = [value]
        for _ in range(_DEEPEST):
            layer = [inner for outer in layer for inner in _inside(outer)]
        if layer:
            yield Problem(name, f"is nested more than {_DEEPEST} deep")


def _inside(value: object) -> list[object]:
    if isinstance(value, Mapping):
        return list(value.values())
    return value if isinstance(value, list) else []


def _proper(found: Mapping[str, object]) -> dict[str, object]:
    """Return the attributes in their usual order and spelling, unknown ones last."""
    found = {"specversions": versions(found), **found}
    known = {name: found[name] for name in ATTRIBUTES if name in found}
    known |= {name: found[name] for name in found if name not in {*known, *STAMPS, "url"}}
    if isinstance(config := found.get("subscriptionconfig"), Mapping):
        known["subscriptionconfig"] = {name: proper(str(kind)) for name, kind in config.items()}
    if isinstance(events := found.get("events"), list):
        known["events"] = [_proper_event(event) for event in events]
    return known


def _proper_event(event: Mapping[str, object]) -> dict[str, object]:
    found = present(event)
    if isinstance(extensions := found.get("extensions"), list):
        found["extensions"] = [
            {**present(each), "type": proper(str(each["type"]))} for each in extensions
        ]
    return found
