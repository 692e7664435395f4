"""What a request about objects asks for, beside its path."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from penstock.api import knative_body
from penstock.api.knative_address import Address
from penstock.api.resource import Call
from penstock.errors import FormatError, Problem, ResourceError
from penstock.knative import selectors
from penstock.knative.kinds import Kind
from penstock.knative.listing import Query
from penstock.knative.meta import Object
from penstock.knative.resources import Options, Place

_WATCH_SECONDS = 1_800


@dataclass(frozen=True, slots=True)
class Asked:
    """A request about objects of a kind."""

    call: Call
    kind: Kind
    address: Address
    base: str

    @property
    def place(self) -> Place:
        space = self.address.namespace if self.kind.namespaced else ""
        return Place(self.kind, space, self.address.name)

    @property
    def media_type(self) -> str:
        return knative_body.media_type(self.call.headers.get("content-type", ""))

    @property
    def wants_table(self) -> bool:
        """Whether the client prefers a table to the objects."""
        first = self.call.headers.get("accept", "").partition(",")[0].replace(" ", "")
        return "as=Table" in first.split(";")

    def flag(self, name: str) -> bool:
        return self.call.query.get(name, "").lower() in ("true", "1")

    def query(self) -> Query:
        """Return which objects are meant."""
        labels = selectors.labels(self.call.query.get("labelSelector", ""))
        fields = selectors.fields(self.call.query.get("fieldSelector", ""))

        def matches(found: Object) -> bool:
            return labels(found) and fields(found)

        return Query(self.kind, self.place.namespace, matches)

    def since(self) -> int | None:
        """Return the version from which a watch goes on; None where it starts anew."""
        text = self.call.query.get("resourceVersion", "")
        if text in ("", "0") or self.flag("sendInitialEvents"):
            return None
        if not (text.isascii() and text.isdigit() and len(text) < 19):  # noqa: PLR2004
            raise ResourceError([Problem("resourceVersion", f"Invalid value: {text!r}")])
        return int(text)

    def seconds(self) -> float:
        """Return how long a watch lasts."""
        return float(self.call.number("timeoutSeconds", None, 0, 86_400) or _WATCH_SECONDS)

    def options(self) -> Options:
        """Return how a change is meant."""
        agent = self.call.headers.get("user-agent", "").partition("/")[0]
        return Options(
            self.base,
            manager=self.call.query.get("fieldManager") or agent or "unknown",
            dry_run=self._is_dry(self.call.query.getlist("dryRun")),
            force=self.flag("force"),
            only_status=self.address.part == "status",
        )

    def deletion(self) -> Options:
        """Return how a deletion is meant; a body may say more than the query."""
        body: Any = {}
        if self.call.body.strip():
            body = knative_body.document(self.call.body, self.media_type)
        if not isinstance(body, Mapping):
            raise FormatError("DeleteOptions are expected", format="kubernetes")
        given = body.get("preconditions") or {}
        wanted = {
            "uid": str(given.get("uid") or ""),
            "version": str(given.get("resourceVersion") or ""),
        }
        options = self.options()
        return msgspec.structs.replace(
            options,
            **wanted,
            dry_run=options.dry_run or self._is_dry(body.get("dryRun") or []),
        )

    def _is_dry(self, given: Any) -> bool:  # noqa: ANN401 - any JSON value
        values = [one for one in given if one] if isinstance(given, list) else [given]
        if any(one != "All" for one in values):
            raise ResourceError([Problem("dryRun", "Unsupported value: supported values: All")])
        return bool(values)
