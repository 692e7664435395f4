"""What Brokers and Channels have in common: they take events at an address."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from penstock.knative.conditions import Condition
from penstock.knative.meta import Object, name, namespace
from penstock.knative.settled import View, looked_up, resolution, with_status
from penstock.routing import Stream, StreamKind


def addressed(
    found: Object, view: View, kind: StreamKind, more: Mapping[str, Any] | None = None
) -> tuple[Object, Stream]:
    """Return the object with its address, and the stream that takes events there."""
    stream = Stream(kind, namespace(found), name(found))
    dead_letter = looked_up(found, view, "spec", "delivery", "deadLetterSink")
    facts: Sequence[Condition] = (
        Condition("Addressable"),
        resolution("DeadLetterSinkResolved", "DeadLetterSink", dead_letter),
    )
    values: dict[str, Any] = {"address": {"url": f"{view.base}/{stream.key}"}, **(more or {})}
    if dead_letter is not None:
        values["deadLetterSinkUri"] = dead_letter.uri
    return with_status(found, view, facts, values), stream
