"""Schemas: one description of each kind, for checking objects and for telling clients."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from penstock.errors import Problem
from penstock.knative import faults

Schema = Mapping[str, Any]

OPEN = "x-kubernetes-preserve-unknown-fields"


def text(description: str, **more: object) -> Schema:
    return {"type": "string", "description": description, **more}


def number(description: str, **more: object) -> Schema:
    return {"type": "integer", "format": "int64", "description": description, **more}


def anything(description: str) -> Schema:
    return {"type": "object", "description": description, OPEN: True}


def texts(description: str) -> Schema:
    return {
        "type": "object",
        "description": description,
        "additionalProperties": {"type": "string"},
    }


def array(items: Schema, description: str) -> Schema:
    return {"type": "array", "description": description, "items": items}


def record(description: str, *needed: str, **properties: Schema) -> Schema:
    """Return the schema of an object; `needed` names the members that must be there."""
    found: dict[str, Any] = {
        "type": "object",
        "description": description,
        "properties": properties,
    }
    return {**found, "required": list(needed)} if needed else found


def problems(schema: Schema, value: object, path: str) -> Iterator[Problem]:
    """Yield everything in which a value differs from its schema."""
    check = _CHECKS.get(schema.get("type", ""))
    if check is not None:
        yield from check(schema, value, path)


def _object(schema: Schema, value: object, path: str) -> Iterator[Problem]:
    if not isinstance(value, Mapping):
        yield faults.invalid(path, value, "must be an object")
        return
    properties = schema.get("properties", {})
    for name in schema.get("required", ()):
        if value.get(name) in (None, ""):
            yield faults.required(f"{path}.{name}")
    for name, given in value.items():
        below = properties.get(name, schema.get("additionalProperties"))
        if below is not None:
            # What is required and empty was named above.
            if given != "" or name not in schema.get("required", ()):
                yield from problems(below, given, f"{path}.{name}")
        elif not schema.get(OPEN):
            known = ", ".join(properties) or "none"
            yield faults.forbidden(f"{path}.{name}", f"unknown field; known are {known}")


def _array(schema: Schema, value: object, path: str) -> Iterator[Problem]:
    if not isinstance(value, list):
        yield faults.invalid(path, value, "must be an array")
        return
    for index, each in enumerate(value):
        yield from problems(schema["items"], each, f"{path}[{index}]")


def _string(schema: Schema, value: object, path: str) -> Iterator[Problem]:
    if not isinstance(value, str):
        yield faults.invalid(path, value, "must be a string")
    elif "enum" in schema and value not in schema["enum"]:
        yield faults.unsupported(path, value, schema["enum"])


def _integer(schema: Schema, value: object, path: str) -> Iterator[Problem]:
    if isinstance(value, bool) or not isinstance(value, int):
        yield faults.invalid(path, value, "must be an integer")
    elif not schema.get("minimum", -(2**63)) <= value < 2**63:
        yield faults.invalid(path, value, f"must be {schema.get('minimum', 0)} or more")


_CHECKS: Mapping[str, Callable[[Schema, object, str], Iterator[Problem]]] = {
    "object": _object,
    "array": _array,
    "string": _string,
    "integer": _integer,
}

REFERENCE = record(
    "Names an object.",
    "apiVersion",
    "kind",
    "name",
    apiVersion=text("API version of the object."),
    kind=text("Kind of the object."),
    name=text("Name of the object."),
    namespace=text("Namespace of the object; the same one when absent."),
)
DESTINATION = record(
    "Where events are sent: an object, an address, or an address relative to an object.",
    ref=REFERENCE,
    uri=text("Address; relative to the address of `ref` when that is there."),
)
DELIVERY = record(
    "How hard delivery is tried, and where events go that cannot be delivered.",
    deadLetterSink=DESTINATION,
    retry=number("Retries after the first attempt.", minimum=0),
    backoffDelay=text("Wait before the first retry, an ISO 8601 duration such as PT0.5S."),
    backoffPolicy=text("How waits grow.", enum=["linear", "exponential"]),
    timeout=text("How long to wait for an answer, an ISO 8601 duration; 30 seconds when absent."),
)
CONDITIONS = array(
    record(
        "One fact about the object.",
        "type",
        "status",
        type=text("What it is about."),
        status=text("True, False or Unknown."),
        reason=text("Why, in one word."),
        message=text("Why, in a sentence."),
        severity=text("Empty, Warning or Info."),
        lastTransitionTime=text("When the status last changed.", format="date-time"),
    ),
    "What is known of the object; Ready sums it up.",
)
ADDRESS = record("Where events are published.", url=text("Address that takes events."))


def status(**properties: Schema) -> Schema:
    """Return the schema of a status that has conditions."""
    return record(
        "What the server knows; only the server writes it.",
        conditions=CONDITIONS,
        observedGeneration=number("The generation of the spec that the status is about."),
        **properties,
    )
