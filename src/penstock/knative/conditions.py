"""Conditions: what is known of an object; Ready is derived from the others."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

READY = "Ready"
TRUE, FALSE, UNKNOWN = "True", "False", "Unknown"


class Condition(msgspec.Struct, frozen=True, omit_defaults=True):
    """One fact about an object, with the reason where it is not as it should be."""

    type: str
    status: str = TRUE
    reason: str = ""
    message: str = ""


def summary(found: Iterable[Condition]) -> Condition:
    """Return the condition Ready: the first of the others that fails says why."""
    others = list(found)
    for status in (FALSE, UNKNOWN):
        for condition in others:
            if condition.status == status:
                return Condition(READY, status, condition.reason, condition.message)
    return Condition(READY)


def documents(found: Sequence[Condition], before: object, now: str) -> list[Mapping[str, Any]]:
    """Return conditions and their summary as a status holds them.

    A condition keeps the time of its last transition for as long as its status stays.
    """
    known = before if isinstance(before, list) else []
    since = {
        (one.get("type"), one.get("status")): one.get("lastTransitionTime", now) for one in known
    }
    return [
        {
            **msgspec.to_builtins(one),
            "status": one.status,
            "lastTransitionTime": since.get((one.type, one.status), now),
        }
        for one in sorted([*found, summary(found)], key=lambda one: one.type)
    ]


def ready(found: Mapping[str, Any]) -> Condition:
    """Return the condition Ready of an object; unknown where it has none."""
    status = found.get("status")
    known = status.get("conditions") if isinstance(status, Mapping) else None
    for one in known if isinstance(known, list) else ():
        if isinstance(one, Mapping) and one.get("type") == READY:
            texts = (str(one.get(name, "")) for name in ("status", "reason", "message"))
            return Condition(READY, *texts)
    return Condition(READY, UNKNOWN)
