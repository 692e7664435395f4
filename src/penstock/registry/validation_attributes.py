"""Attributes that definitions declare, compiled to be looked for in events."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from operator import attrgetter

import msgspec

from penstock.errors import Problem
from penstock.events import CloudEvent
from penstock.events.plain import Passed
from penstock.events.values import canonical
from penstock.registry import values
from penstock.registry.metadata import ALWAYS_REQUIRED, BASE_TYPES
from penstock.registry.validation_templates import Template, agree, template

_CORE = frozenset({"specversion", *BASE_TYPES})
_TEMPLATED = frozenset({"string", "uritemplate"})
_TEXT = frozenset({"string", "var"})
_REFERENCE = _TEXT | {"urireference", "uritemplate"}
# What every valid event has there anyway need not be looked at again.
_ASSURED: Mapping[str, frozenset[str]] = {
    "source": _REFERENCE,
    "dataschema": _REFERENCE | {"uri"},
    "time": _TEXT | {"timestamp"},
}
_LONGEST = 100

Read = Callable[[CloudEvent], str | None]


@dataclass(frozen=True, slots=True)
class Attribute:
    """One attribute as a definition declares it."""

    name: str
    type: str
    required: bool
    read: Read
    value: str | None = None
    template: Template | None = None

    def passed(self) -> Passed | None:
        """Return what knows the texts that fit; None where every one does."""
        if self.value is None and self._is_assured():
            return None
        return Passed(lambda text: self.fault(text) is None)

    def fault(self, text: str | None) -> str | None:
        """Return what is wrong with an attribute of an event."""
        if text is None:
            return "is required by the definition" if self.required else None
        found = None
        if not self._is_assured():
            found = values.problem(self.type, text, wire=False, braces=False)
        if found is None and not self._has_value(text):
            meant = "fit the template" if self.template else "be"
            found = f"must {meant} {self.value!r}, not {text[:_LONGEST]!r}"
        return found

    def _has_value(self, text: str) -> bool:
        if self.value is None:
            return True
        if self.template is not None:
            return self.template.pattern.fullmatch(text) is not None
        if self.type == "number":
            return float(self.value) == float(text)
        return self.value == text

    def _is_assured(self) -> bool:
        return self.type in _ASSURED.get(self.name, _TEXT)


class Declared:
    """All attributes that a definition declares."""

    def __init__(self, attributes: tuple[Attribute, ...]) -> None:
        self._attributes = attributes
        self._quick = tuple((at.read, at.passed(), at.required) for at in attributes)
        self._sharing = _sharing(attributes)

    def problems(self, event: CloudEvent) -> tuple[Problem, ...]:
        """Return what keeps a valid event from being as declared."""
        for read, passed, required in self._quick:
            text = read(event)
            if text is None:
                if required:
                    return self._faults(event)
            elif passed is not None and text not in passed and not passed.admits(text):
                return self._faults(event)
        return self._disagreement(event) if self._sharing else ()

    def _faults(self, event: CloudEvent) -> tuple[Problem, ...]:
        found = [(at.name, at.fault(at.read(event))) for at in self._attributes]
        return tuple(Problem(name, message) for name, message in found if message)

    def _disagreement(self, event: CloudEvent) -> tuple[Problem, ...]:
        pairs: list[tuple[Template, str]] = []
        names: list[str] = []
        for at, form in self._sharing:
            text = at.read(event)
            if text is None:
                continue
            pairs.append((form, text))
            names.append(at.name)
            if not agree(pairs):
                return (Problem(at.name, _differs(form, names)),)
        return ()


def _differs(form: Template, names: list[str]) -> str:
    shown = ", ".join(f"{{{name}}}" for name in dict.fromkeys(form.names))
    where = " and ".join(names[:-1]) or "itself"
    return f"must have the same {shown} as {where}"


def _sharing(attributes: tuple[Attribute, ...]) -> tuple[tuple[Attribute, Template], ...]:
    """Return the templates with placeholders that are also elsewhere, or there twice."""
    found = [(at, at.template) for at in attributes if at.template is not None]
    used = Counter(name for _, form in found for name in form.names)
    return tuple((at, form) for at, form in found if any(used[name] > 1 for name in form.names))


def declared(definition: Mapping[str, object]) -> Declared:
    """Return the attributes of a definition with all that it inherits."""
    metadata = definition.get("metadata")
    given = metadata.get("attributes") if isinstance(metadata, Mapping) else None
    entries = given if isinstance(given, Mapping) else {}
    return Declared(
        tuple(
            _attribute(name, entry) for name, entry in entries.items() if isinstance(entry, Mapping)
        )
    )


def type_of(definition: Mapping[str, object]) -> str | None:
    """Return the value that a definition declares for `type`, if any."""
    metadata = definition.get("metadata")
    given = metadata.get("attributes") if isinstance(metadata, Mapping) else None
    entry = given.get("type") if isinstance(given, Mapping) else None
    value = entry.get("value") if isinstance(entry, Mapping) else None
    return value if isinstance(value, str) else None


def _attribute(name: str, entry: Mapping[str, object]) -> Attribute:
    type_ = str(entry.get("type") or BASE_TYPES.get(name, "string"))
    value = _literal(entry.get("value"))
    return Attribute(
        name,
        type_,
        entry.get("required") is True or name in ALWAYS_REQUIRED,
        attrgetter(name) if name in _CORE else _extension(name),
        value,
        template(value) if value is not None and type_ in _TEMPLATED else None,
    )


def _literal(value: object) -> str | None:
    """Return a value as the text it has in an event; that of now stands for any moment."""
    if value is None or values.is_now(value) or isinstance(value, dict | list):
        return None
    if isinstance(value, float):
        return msgspec.json.encode(value).decode()
    return canonical(value) if isinstance(value, bool | int | str) else None


def _extension(name: str) -> Read:
    def read(event: CloudEvent) -> str | None:
        found = event.extensions.get(name)
        return found if found is None or isinstance(found, str) else event.text(name)

    return read
