"""Triggers: which events of a Broker go where."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from penstock import filters
from penstock.errors import Problem, ResourceError
from penstock.knative import conditions, delivery, faults, shape
from penstock.knative.conditions import FALSE, TRUE, UNKNOWN, Condition
from penstock.knative.kinds import BROKER
from penstock.knative.meta import Object, member, namespace, spec, uid
from penstock.knative.settled import Settled, View, looked_up, resolution, with_status
from penstock.routing import Route, Rules, Stream, StreamKind, Target

SPEC = shape.record(
    "What is wanted of the trigger.",
    "broker",
    "subscriber",
    broker=shape.text("Broker of the same namespace whose events are taken."),
    subscriber=shape.DESTINATION,
    delivery=shape.DELIVERY,
    filter=shape.record(
        "Which events are wanted.",
        attributes=shape.texts("Attributes and their values; an empty value asks for presence."),
    ),
    filters=shape.array(
        shape.anything("One expression: exact, prefix, suffix, all, any, not or cesql."),
        "Which events are wanted, in the dialects of CloudEvents Subscriptions; hides `filter`.",
    ),
)
STATUS = shape.status(
    subscriberUri=shape.text("Address of the subscriber."),
    deadLetterSinkUri=shape.text("Address of the dead letter sink."),
)


def problems(found: Object) -> Iterator[Problem]:
    """Yield what the schema of a Trigger cannot say."""
    wanted = spec(found)
    yield from delivery.destination_problems(wanted.get("subscriber"), "spec.subscriber")
    yield from delivery.problems(wanted.get("delivery"))
    if not isinstance(wanted.get("filter", {}), Mapping):
        return
    try:
        _attributes(wanted)
    except ResourceError as exc:
        yield from _worded(exc)
    try:
        filters.parse_all(_expressions(wanted), "spec.filters")
    except ResourceError as exc:
        yield from _worded(exc)


def changed(before: Object, after: Object) -> Iterator[Problem]:
    """Yield what may not change about a Trigger (KN-016)."""
    given = spec(after).get("broker")
    if spec(before).get("broker") != given:
        yield faults.immutable("spec.broker", given)


def settled(found: Object, view: View) -> Settled:
    """Return the Trigger with its status, and its route where it is ready."""
    broker = view.find((*BROKER.identity, namespace(found), str(spec(found).get("broker"))))
    subscriber = looked_up(found, view, "spec", "subscriber")
    own = delivery.chosen(found, {})
    dead_letter = looked_up(found, view, "spec", "delivery", "deadLetterSink")
    if not own and broker is not None:
        dead_letter = looked_up(broker, view, "spec", "delivery", "deadLetterSink")
    facts = (
        _broker_ready(found, broker),
        resolution("SubscriberResolved", "Subscriber", subscriber),
        resolution("DeadLetterSinkResolved", "DeadLetterSink", dead_letter),
    )
    values: dict[str, Any] = {"subscriberUri": subscriber.uri if subscriber else ""}
    if dead_letter is not None:
        values["deadLetterSinkUri"] = dead_letter.uri
    made = with_status(found, view, facts, values)
    if subscriber is None or broker is None or conditions.summary(facts).status != TRUE:
        return Settled(made, has_ended=broker is None)
    options = delivery.chosen(found, broker)
    route = Route(
        id=uid(found),
        stream=Stream(StreamKind.BROKER, namespace(found), str(spec(found)["broker"])).key,
        target=Target(subscriber.target),
        start=view.head,
        filters=_filters(spec(found)),
        policy=delivery.policy(options, dead_letter.target if dead_letter else ""),
        rules=Rules.KNATIVE,
        replies=True,
    )
    return Settled(made, route=route)


def _broker_ready(trigger: Object, broker: Object | None) -> Condition:
    called = str(spec(trigger).get("broker"))
    if broker is None:
        message = f"there is no Broker {called!r} in namespace {namespace(trigger)!r}"
        return Condition("BrokerReady", FALSE, "BrokerNotFound", message)
    ready = conditions.ready(broker)
    if ready.status == TRUE:
        return Condition("BrokerReady")
    message = f"Broker {called!r} is not ready: {ready.message or 'it was not looked at yet'}"
    return Condition("BrokerReady", ready.status or UNKNOWN, "BrokerNotReady", message)


def _filters(wanted: Object) -> list[Mapping[str, object]]:
    if wanted.get("filters"):
        return _expressions(wanted)
    return filters.documents(_attributes(wanted))


def _attributes(wanted: Object) -> filters.Filter:
    return filters.trigger_attributes(member(wanted, "filter", "attributes"))


def _expressions(wanted: Object) -> list[Mapping[str, object]]:
    given = wanted.get("filters")
    return [_dialects(each) for each in given] if isinstance(given, list) else []


def _dialects(expression: Any) -> Any:  # noqa: ANN401 - any JSON value
    """Return a filter expression with `sql` for what Knative calls `cesql`."""
    if isinstance(expression, list):
        return [_dialects(each) for each in expression]
    if not isinstance(expression, Mapping):
        return expression
    return {
        "sql" if name == "cesql" else name: _dialects(below) if name in _NESTED else below
        for name, below in expression.items()
    }


_NESTED = {"all", "any", "not"}


def _worded(error: ResourceError) -> Iterator[Problem]:
    return (Problem(at.path, f"Invalid value: {at.message}") for at in error.problems)
