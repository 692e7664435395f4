"""The type names of the CloudEvents type system, and whether a value is of a type."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from penstock.discovery.rules import Rule, text
from penstock.errors import Problem
from penstock.events.values import Kind, fault

# 0.2 knew two more types than 1.0; services may emit events of either version.
_MAP, _ANY = "Map", "Any"
_PROPER = {
    name.lower(): name
    for name in (
        *(kind.value for kind in Kind if kind is not Kind.MEDIA_TYPE),
        *(_MAP, _ANY),
    )
}


def proper(name: str) -> str:
    """Return a type name in its proper spelling; case does not matter."""
    return _PROPER.get(name.lower(), name)


def _fault(name: str) -> str | None:
    if name.lower() in _PROPER:
        return None
    return f"is no CloudEvents type; known are {', '.join(_PROPER.values())}"


TYPE: Rule = text(_fault, examples=["String"])
"""A type name is known; JSON Schema cannot say that its case does not matter."""


def config_faults(config: Mapping[str, object], allowed: Mapping[str, str]) -> Iterator[Problem]:
    """Yield what keeps a subscription's `config` from following a `subscriptionconfig`."""
    for name, value in config.items():
        if name not in allowed:
            known = ", ".join(sorted(allowed)) or "none"
            yield Problem(f"config.{name}", f"is no key that the service knows; known are {known}")
        elif message := _value_fault(allowed[name], value):
            yield Problem(f"config.{name}", message)


def _value_fault(type_name: str, value: object) -> str | None:
    if type_name == _ANY:
        return None
    if type_name == _MAP:
        return None if isinstance(value, Mapping) else "must be of type Map"
    return fault(Kind(type_name), value)
