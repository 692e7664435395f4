"""What reconciling an object leaves: its status, and the stream or route it stands for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import msgspec

from penstock.knative import conditions
from penstock.knative.conditions import FALSE, Condition
from penstock.knative.meta import Object, member, metadata
from penstock.knative.resolve import Identity, Resolved, resolve
from penstock.ports import Position
from penstock.routing import Route, Stream


class Settled(msgspec.Struct, frozen=True):
    """The outcome of reconciling one object."""

    object: Object
    stream: Stream | None = None
    route: Route | None = None
    """Where the object is ready; otherwise the route it had before rests."""
    has_ended: bool = False
    """Whether that route ends, because what it takes events from is gone (KA-40)."""


class View(Protocol):
    """What an object sees of the others while it is reconciled."""

    @property
    def now(self) -> str: ...

    @property
    def base(self) -> str:
        """The address of this server, without a slash at the end."""
        ...

    @property
    def head(self) -> Position: ...

    def find(self, identity: Identity, /) -> Object | None: ...

    def subscriptions(self, namespace: str, channel: str, /) -> Sequence[Object]: ...


def with_status(
    found: Object, view: View, facts: Sequence[Condition], values: Mapping[str, Any]
) -> Object:
    """Return the object with a new status; generation and conditions always go together."""
    before = member(found, "status", "conditions")
    status = {
        **values,
        "conditions": conditions.documents(facts, before, view.now),
        "observedGeneration": metadata(found).get("generation", 1),
    }
    return {**found, "status": status}


def looked_up(found: Object, view: View, *path: str) -> Resolved | None:
    """Return what the destination at a path of an object resolves to; None where there is none."""
    given = member(found, *path)
    if not isinstance(given, Mapping) or not given:
        return None
    return resolve(given, str(metadata(found).get("namespace", "")), view.find)


def resolution(kind: str, what: str, found: Resolved | None) -> Condition:
    """Return the condition that tells whether a destination was found."""
    if found is None:
        reason = f"{what}NotConfigured"
        return Condition(kind, reason=reason)
    if found.succeeded:
        return Condition(kind)
    return Condition(kind, FALSE, f"{what}{found.reason}", found.message)
