"""Reconciliation: objects that changed, and all that follows from it, in one draft."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import msgspec

from penstock.errors import Problem
from penstock.knative import broker, channel, conditions, subscription, trigger
from penstock.knative.draft import Draft
from penstock.knative.kinds import (
    BROKER,
    CHANNEL,
    REFERRING,
    SERVICE,
    SUBSCRIPTION,
    TRIGGER,
    Kind,
)
from penstock.knative.meta import Object, member, namespace, spec, uid
from penstock.knative.resolve import Identity, identity, of
from penstock.knative.settled import Settled, View
from penstock.knative.shape import Schema
from penstock.routing import ROUTE, STREAM, Stream, StreamKind


class Rules(msgspec.Struct, frozen=True):
    """What one kind knows about itself."""

    spec: Schema
    status: Schema
    problems: Callable[[Object], Iterator[Problem]]
    changed: Callable[[Object, Object], Iterator[Problem]]
    settled: Callable[[Object, View], Settled]


RULES: Mapping[Kind, Rules] = {
    kind: Rules(room.SPEC, room.STATUS, room.problems, room.changed, room.settled)
    for kind, room in (
        (BROKER, broker),
        (TRIGGER, trigger),
        (CHANNEL, channel),
        (SUBSCRIPTION, subscription),
    )
}
_STREAMS = {BROKER: StreamKind.BROKER, CHANNEL: StreamKind.CHANNEL}


def settle(draft: Draft, touched: Iterable[Identity]) -> None:
    """Reconcile what was touched, then what depends on that, until nothing changes any more."""
    told: dict[Identity, object] = {}
    pending = dict.fromkeys(touched)
    while pending:
        changed = [one for one in pending if _changes(draft, one, told)]
        pending = dict.fromkeys(_dependents(draft, changed))


def _changes(draft: Draft, meant: Identity, told: dict[Identity, object]) -> bool:
    """Reconcile one object, and tell whether others will see it differently now."""
    group, kind_name, space, called = meant
    kind = draft.kind(group, kind_name)
    if kind is None:
        return False
    space = space if kind.namespaced else ""
    before = draft.before(kind, space, called)
    if kind in RULES:
        _reconcile(draft, kind, before, draft.get(kind, space, called))
    facts = _facts(kind, draft.get(kind, space, called))
    is_news = bool(told.get(meant, _facts(kind, before)) != facts)
    told[meant] = facts
    return is_news


def _reconcile(draft: Draft, kind: Kind, before: Object | None, now: Object | None) -> None:
    if before is not None and (now is None or uid(now) != uid(before)):
        _gone(draft, kind, before)
    if now is None:
        return
    made = RULES[kind].settled(now, draft)
    draft.put(kind, made.object)
    if made.stream is not None:
        draft.keep(STREAM, made.stream.key, msgspec.json.encode(made.stream))
    elif made.has_ended:
        draft.keep(ROUTE, uid(now), None)
    else:
        draft.serve(uid(now), made.route)


def _gone(draft: Draft, kind: Kind, found: Object) -> None:
    if kind in _STREAMS:
        key = Stream(_STREAMS[kind], namespace(found), str(member(found, "metadata", "name"))).key
        draft.keep(STREAM, key, None)
    else:
        draft.keep(ROUTE, uid(found), None)


def _facts(kind: Kind, found: Object | None) -> Any:  # noqa: ANN401 - compared, nothing else
    """Return all that other objects take from this one."""
    if found is None:
        return None
    ready = conditions.ready(found)
    status = found.get("status")
    seen = [ready, member(status, "address", "url"), member(status, "deadLetterSinkUri")]
    if kind is SUBSCRIPTION:
        physical = member(status, "physicalSubscription")
        generation = member(found, "metadata", "generation")
        return [*seen, uid(found), generation, physical, spec(found).get("delivery")]
    if kind is TRIGGER:
        return None
    if kind is SERVICE:
        return [spec(found)]
    return [*seen, spec(found).get("delivery"), uid(found)]


def _dependents(draft: Draft, changed: Iterable[Identity]) -> Iterator[Identity]:
    """Yield what refers to objects that are seen differently now."""
    meant = set(changed)
    for one in [one for one in meant if one[:2] == SUBSCRIPTION.identity]:
        meant.discard(one)
        yield from _channels(draft, one)
    if not meant:
        return
    for kind in REFERRING:
        for found in draft.scan(kind):
            if not meant.isdisjoint(references(kind, found)):
                yield of(found, *kind.identity)


def _channels(draft: Draft, meant: Identity) -> Iterator[Identity]:
    _, _, space, called = meant
    for found in (
        draft.before(SUBSCRIPTION, space, called),
        draft.get(SUBSCRIPTION, space, called),
    ):
        if found is not None:
            yield subscription.channel(found)


def references(kind: Kind, found: Object) -> Iterator[Identity]:
    """Yield everything that an object refers to."""
    home = namespace(found)
    for path in (("subscriber",), ("reply",), ("delivery", "deadLetterSink")):
        ref = member(spec(found), *path, "ref")
        if isinstance(ref, Mapping):
            yield identity(ref, home)
    if kind is TRIGGER:
        yield (*BROKER.identity, home, str(spec(found).get("broker")))
    if kind is SUBSCRIPTION:
        yield subscription.channel(found)
