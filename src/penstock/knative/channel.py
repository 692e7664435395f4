"""Channels: streams whose events all Subscriptions get."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from penstock.errors import Problem
from penstock.knative import conditions, delivery, faults, shape
from penstock.knative.meta import Object, member, metadata, name, namespace, spec, uid
from penstock.knative.settled import Settled, View
from penstock.knative.stream_kinds import addressed
from penstock.routing import StreamKind

_UID = shape.text("Uid of the Subscription.")
_GENERATION = shape.number("Generation of the Subscription.")
SPEC = shape.record(
    "What is wanted of the channel.",
    channelTemplate=shape.anything("Parameters of an implementation; kept and not used."),
    delivery=shape.DELIVERY,
    subscribers=shape.array(
        shape.record(
            "A Subscription as it was resolved.",
            uid=_UID,
            generation=_GENERATION,
            subscriberUri=shape.text("Address of the subscriber."),
            replyUri=shape.text("Address that gets replies."),
            delivery=shape.DELIVERY,
            name=shape.text("Name of the Subscription."),
        ),
        "The Subscriptions of the channel; written by the server.",
    ),
)
STATUS = shape.status(
    address=shape.ADDRESS,
    deadLetterSinkUri=shape.text("Address of the dead letter sink."),
    subscribers=shape.array(
        shape.record(
            "How a Subscription is served.",
            uid=_UID,
            observedGeneration=_GENERATION,
            generation=_GENERATION,
            ready=shape.text("True, False or Unknown."),
            message=shape.text("Why it is not ready."),
        ),
        "The Subscriptions of the channel, and whether each is served.",
    ),
)


def problems(found: Object) -> Iterator[Problem]:
    """Yield what the schema of a Channel cannot say."""
    yield from delivery.problems(spec(found).get("delivery"))


def changed(before: Object, after: Object) -> Iterator[Problem]:
    """Yield what may not change about a Channel (KN-025)."""
    given = spec(after).get("channelTemplate")
    if (spec(before).get("channelTemplate") or None) != (given or None):
        yield faults.immutable("spec.channelTemplate", given)


def settled(found: Object, view: View) -> Settled:
    """Return the Channel with its subscribers and its status, and its stream."""
    attached = view.subscriptions(namespace(found), name(found))
    subscribers = {"subscribers": [_status(one) for one in attached]} if attached else {}
    made, stream = addressed(_subscribed(found, attached), view, StreamKind.CHANNEL, subscribers)
    return Settled(made, stream)


def _subscribed(found: Object, attached: Sequence[Object]) -> Object:
    wanted = {key: value for key, value in spec(found).items() if key != "subscribers"}
    if attached:
        wanted["subscribers"] = [_subscriber(found, one) for one in attached]
    return {**found, "spec": wanted}


def _subscriber(channel: Object, subscription: Object) -> dict[str, Any]:
    physical = member(subscription, "status", "physicalSubscription") or {}
    options = dict(delivery.chosen(subscription, channel))
    if "deadLetterSink" in options:
        options["deadLetterSink"] = {"uri": physical.get("deadLetterSinkUri", "")}
    made = {
        "uid": uid(subscription),
        "generation": metadata(subscription).get("generation", 1),
        "subscriberUri": physical.get("subscriberUri"),
        "replyUri": physical.get("replyUri"),
        "delivery": options or None,
    }
    return {key: value for key, value in made.items() if value is not None}


def _status(subscription: Object) -> dict[str, Any]:
    ready = conditions.ready(subscription)
    made = {
        "uid": uid(subscription),
        "generation": metadata(subscription).get("generation", 1),
        "ready": ready.status,
    }
    return {**made, "message": ready.message} if ready.message else made
