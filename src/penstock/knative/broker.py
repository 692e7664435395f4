"""Brokers: streams whose events Triggers select."""

from __future__ import annotations

from collections.abc import Iterator

from penstock.errors import Problem
from penstock.knative import delivery, faults, shape
from penstock.knative.meta import Object, member, spec
from penstock.knative.settled import Settled, View
from penstock.knative.stream_kinds import addressed
from penstock.routing import StreamKind

CLASS = "eventing.knative.dev/broker.class"
SPEC = shape.record(
    "What is wanted of the broker.",
    config=shape.REFERENCE,
    delivery=shape.DELIVERY,
)
STATUS = shape.status(
    address=shape.ADDRESS,
    deadLetterSinkUri=shape.text("Address of the dead letter sink."),
)


def problems(found: Object) -> Iterator[Problem]:
    """Yield what the schema of a Broker cannot say."""
    yield from delivery.problems(spec(found).get("delivery"))


def changed(before: Object, after: Object) -> Iterator[Problem]:
    """Yield what may not change about a Broker (KN-006, KN-007)."""
    given = member(after, "metadata", "annotations", CLASS)
    if member(before, "metadata", "annotations", CLASS) != given:
        yield faults.immutable(f"metadata.annotations[{CLASS}]", given)
    if (spec(before).get("config") or None) != (spec(after).get("config") or None):
        yield faults.immutable("spec.config", spec(after).get("config"))


def settled(found: Object, view: View) -> Settled:
    """Return the Broker with its status, and its stream."""
    made, stream = addressed(found, view, StreamKind.BROKER)
    return Settled(made, stream)
