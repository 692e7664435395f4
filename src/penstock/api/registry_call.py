"""Requests to the registry: which entity they mean, and what they ask for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import unquote, urlencode

import msgspec
from starlette.responses import Response

from penstock.api.resource import Call
from penstock.errors import NotFoundError
from penstock.registry import GroupType, Registry, ResourceType, Terms
from penstock.registry.entities import Place, segment
from penstock.registry.faults import Faults, refusal
from penstock.registry.strict import json_value

ROOT = "/registry"
LEVELS = ("groups", "group", "resources", "resource", "versions", "version")
_JSON = "application/json; charset=utf-8"
_PAGE = 100
_MOST = 1000
_VERSIONS = ("versions", "version")


def names(raw_path: bytes) -> tuple[str, ...]:
    """Return the names behind the prefix, decoded one by one: an id may have a slash in it."""
    path = raw_path.partition(b"?")[0].decode("latin-1").removeprefix(ROOT).removeprefix("/")
    return tuple(unquote(name) for name in path.split("/")) if path else ()


@dataclass(frozen=True, slots=True)
class Ask:
    """A request, with the types and ids in its path looked up."""

    call: Call
    registry: Registry

    @property
    def base(self) -> str:
        return f"{self.call.base}{ROOT}"

    @property
    def group_type(self) -> GroupType:
        name = self.call.names["groups"]
        found = self.registry.model().group(name)
        if found is None:
            raise NotFoundError(f"there is no type of groups {name!r}", address=f"/{name}")
        return found

    @property
    def group(self) -> str:
        return self.call.names["group"]

    @property
    def types(self) -> tuple[GroupType, ResourceType]:
        groups, name = self.group_type, self.call.names["resources"]
        found = groups.resource(name)
        if found is None:
            message = f"there is no type of resources {name!r} in {groups.plural}"
            raise NotFoundError(message, address=f"/{groups.plural}/{self.group}/{name}")
        return groups, found

    @property
    def place(self) -> tuple[Place, ResourceType]:
        groups, resources = self.types
        name = self.call.names.get("versions", "versions")
        if name.casefold() not in _VERSIONS:
            raise NotFoundError(f"there is no {name!r} here, but versions", address=name)
        ids = (self.group, self.call.names["resource"])
        return Place(groups.plural, ids[0], resources.plural, ids[1]), resources

    @property
    def version(self) -> str | None:
        return self.call.names.get("version")

    @property
    def wants_meta(self) -> bool:
        return "meta" in self.call.query

    @property
    def wants_inline(self) -> bool:
        return "inline" in self.call.query

    @property
    def inline(self) -> list[str]:
        return self.call.query.getlist("inline")

    @property
    def epoch(self) -> int | None:
        return self.call.number("epoch", None, 0, 1 << 62)

    def terms(self, usual: str = "strict") -> Terms:
        """Return how strictly the request wants its documents to be looked at."""
        chosen = self.call.query.get("check", usual)
        if chosen not in ("strict", "lenient"):
            raise refusal("check", "must be strict or lenient")
        return Terms(self.base, chosen == "lenient")

    def value(self) -> object:
        """Return the JSON value in the body."""
        self.call.document()
        return json_value(self.call.body)

    def document(self) -> dict[str, object]:
        """Return the object in the body, with the epoch that the query states."""
        found = self.value()
        if not isinstance(found, Mapping):
            raise refusal("", "must be an object")
        epoch = self.epoch
        if epoch is not None and found.get("epoch", epoch) != epoch:
            raise refusal("epoch", "is different in the query and in the body")
        return {**found, **({} if epoch is None else {"epoch": epoch})}

    def entries(self) -> list[tuple[str, int | None]] | None:
        """Return what the body asks to delete, or None where it is empty."""
        if not self.call.body.strip():
            return None
        found = json_value(self.call.body)
        faults = Faults()
        read = [
            _entry(faults, one, f"[{n}]") for n, one in enumerate(faults.array(found, "") or [])
        ]
        faults.finish()
        return read

    def window(self) -> tuple[str, int]:
        """Return after which key a page starts, and how many entities it has."""
        limit = self.call.number("limit", _PAGE, 1, _MOST)
        return self.call.query.get("after", ""), limit or _PAGE

    def link(self, more: str, total: int) -> dict[str, str]:
        """Return the header that leads to the next page."""
        given = self.call.names
        path = "/".join(segment(given[each]) for each in LEVELS if each in given)
        kept = [(name, one) for name, one in self.call.query.multi_items() if name != "after"]
        query = urlencode([*kept, ("after", more)])
        return {"link": f"<{self.base}/{path}?{query}>;rel=next;count={total}"}


def answer(value: object, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """Return JSON in the media type of the registry."""
    return Response(msgspec.json.encode(value), status, headers, media_type=_JSON)


def _entry(faults: Faults, value: object, path: str) -> tuple[str, int | None]:
    found = faults.mapping(value, path) or {}
    id_ = faults.text(found.get("id"), f"{path}.id") or ""
    epoch = found.get("epoch")
    return id_, None if epoch is None else faults.whole(epoch, f"{path}.epoch")
