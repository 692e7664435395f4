"""Subscriptions of Channels: who gets the events, and who the replies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from penstock.errors import Problem
from penstock.knative import conditions, delivery, faults, shape
from penstock.knative.conditions import FALSE, TRUE, UNKNOWN, Condition
from penstock.knative.kinds import CHANNEL
from penstock.knative.meta import Object, member, name, namespace, spec, uid
from penstock.knative.resolve import Identity, Resolved
from penstock.knative.settled import Settled, View, looked_up, with_status
from penstock.routing import Route, Rules, Stream, StreamKind, Target

SPEC = shape.record(
    "What is wanted of the subscription.",
    "channel",
    channel=shape.REFERENCE,
    subscriber=shape.DESTINATION,
    reply=shape.DESTINATION,
    delivery=shape.DELIVERY,
)
STATUS = shape.status(
    physicalSubscription=shape.record(
        "The addresses as they were resolved.",
        subscriberUri=shape.text("Address of the subscriber."),
        replyUri=shape.text("Address that gets replies."),
        deadLetterSinkUri=shape.text("Address of the dead letter sink."),
    ),
)
_PARTS = {"subscriber": "Subscriber", "reply": "Reply", "deadLetterSink": "DeadLetterSink"}


def problems(found: Object) -> Iterator[Problem]:
    """Yield what the schema of a Subscription cannot say."""
    wanted = spec(found)
    yield from _channel_problems(wanted.get("channel"))
    for part in ("subscriber", "reply"):
        yield from delivery.destination_problems(wanted.get(part), f"spec.{part}")
    if not wanted.get("subscriber") and not wanted.get("reply"):
        yield faults.required("spec.subscriber", "expected at least one of subscriber, reply")
    yield from delivery.problems(wanted.get("delivery"))


def changed(before: Object, after: Object) -> Iterator[Problem]:
    """Yield what may not change about a Subscription (KN-038)."""
    given = spec(after).get("channel")
    if _reference(spec(before).get("channel")) != _reference(given):
        yield faults.immutable("spec.channel", given)


def channel(found: Object) -> Identity:
    """Return which Channel a Subscription belongs to."""
    return (*CHANNEL.identity, namespace(found), str(member(found, "spec", "channel", "name")))


def settled(found: Object, view: View) -> Settled:
    """Return the Subscription with its status, and its route where it is ready."""
    parent = view.find(channel(found))
    resolved = _resolved(found, parent, view)
    facts = (_channel_ready(found, parent), _references(resolved))
    physical = {f"{part}Uri": one.uri for part, one in resolved.items()}
    added = _added(found, conditions.summary(facts))
    made = with_status(found, view, (*facts, added), {"physicalSubscription": physical})
    if parent is None or added.status != TRUE:
        return Settled(made, has_ended=parent is None)
    return Settled(made, route=_route(found, parent, resolved, view))


def _route(found: Object, parent: Object, resolved: Mapping[str, Resolved], view: View) -> Route:
    nobody = Resolved()
    is_lone_reply = "subscriber" not in resolved
    reply = nobody if is_lone_reply else resolved.get("reply", nobody)
    target = resolved["reply" if is_lone_reply else "subscriber"]
    dead_letter = resolved.get("deadLetterSink", nobody)
    return Route(
        id=uid(found),
        stream=Stream(StreamKind.CHANNEL, namespace(found), name(parent)).key,
        target=Target(target.target),
        start=view.head,
        policy=delivery.policy(delivery.chosen(found, parent), dead_letter.target),
        rules=Rules.KNATIVE,
        reply_to=reply.target or None,
        reply_stream=reply.stream,
        advertises=not is_lone_reply,
    )


def _resolved(found: Object, parent: Object | None, view: View) -> dict[str, Resolved]:
    holder = found if delivery.chosen(found, {}) or parent is None else parent
    looked = {
        "subscriber": looked_up(found, view, "spec", "subscriber"),
        "reply": looked_up(found, view, "spec", "reply"),
        "deadLetterSink": looked_up(holder, view, "spec", "delivery", "deadLetterSink"),
    }
    return {part: one for part, one in looked.items() if one is not None}


def _references(resolved: Mapping[str, Resolved]) -> Condition:
    failed = {part: one for part, one in resolved.items() if not one.succeeded}
    if not failed:
        return Condition("ReferencesResolved")
    first, one = next(iter(failed.items()))
    message = "; ".join(f"{part}: {one.message}" for part, one in failed.items())
    return Condition("ReferencesResolved", FALSE, f"{_PARTS[first]}{one.reason}", message)


def _channel_ready(found: Object, parent: Object | None) -> Condition:
    called = str(member(found, "spec", "channel", "name"))
    if parent is None:
        message = f"there is no Channel {called!r} in namespace {namespace(found)!r}"
        return Condition("ChannelReady", FALSE, "ChannelNotFound", message)
    ready = conditions.ready(parent)
    if ready.status == TRUE:
        return Condition("ChannelReady")
    message = f"Channel {called!r} is not ready: {ready.message or 'it was not looked at yet'}"
    return Condition("ChannelReady", ready.status or UNKNOWN, "ChannelNotReady", message)


def _added(found: Object, so_far: Condition) -> Condition:
    if so_far.status == TRUE:
        return Condition("AddedToChannel")
    message = f"Subscription {name(found)!r} gets no events: {so_far.message}"
    return Condition("AddedToChannel", so_far.status, "NotAddedToChannel", message)


def _channel_problems(given: Any) -> Iterator[Problem]:  # noqa: ANN401 - any JSON value
    if not isinstance(given, Mapping):
        return
    if given.get("namespace"):
        yield faults.forbidden(
            "spec.channel.namespace", "must not be set: a channel of the same namespace is meant"
        )
    for part, wanted in (("apiVersion", CHANNEL.api_version), ("kind", CHANNEL.kind)):
        if isinstance(given.get(part), str) and given[part] not in ("", wanted):
            yield faults.unsupported(f"spec.channel.{part}", given[part], [wanted])


def _reference(given: object) -> object:
    """Return a reference without the members that say nothing."""
    if not isinstance(given, Mapping):
        return given
    return {key: value for key, value in given.items() if value}
