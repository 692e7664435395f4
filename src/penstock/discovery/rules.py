"""Rules for JSON values: a rule names every fault of a value, and carries its own JSON schema."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from penstock.errors import Problem

Schema = Mapping[str, object]
Faults = Callable[[object, str], Iterator[Problem]]


@dataclass(frozen=True, slots=True)
class Rule:
    """What a value must be like; `schema` says the same to clients, as far as JSON Schema can."""

    faults: Faults
    schema: Schema


def text(fault: Callable[[str], str | None], **schema: object) -> Rule:
    """Return a rule for strings; `fault` says what is wrong with one."""

    def faults(value: object, path: str) -> Iterator[Problem]:
        message = fault(value) if isinstance(value, str) else "must be a string"
        if message is not None:
            yield Problem(path, message)

    return Rule(faults, {"type": "string", **schema})


def array(of: Rule, least: int = 0) -> Rule:
    """Return a rule for arrays whose entries all follow another rule."""

    def faults(value: object, path: str) -> Iterator[Problem]:
        if not isinstance(value, list):
            yield Problem(path, "must be an array")
            return
        if len(value) < least:
            yield Problem(path, "must not be empty")
        for number, entry in enumerate(value):
            yield from of.faults(entry, f"{path}[{number}]")

    return Rule(faults, {"type": "array", "items": of.schema, "minItems": least})


def table(of: Rule) -> Rule:
    """Return a rule for objects with any names whose values all follow another rule."""

    def faults(value: object, path: str) -> Iterator[Problem]:
        if not isinstance(value, Mapping):
            yield Problem(path, "must be an object")
            return
        for name, entry in value.items():
            if not name:
                yield Problem(path, "must not have an empty name")
            yield from of.faults(entry, f"{path}.{name}")

    names = {"minLength": 1}
    return Rule(
        faults, {"type": "object", "propertyNames": names, "additionalProperties": of.schema}
    )


@dataclass(frozen=True, slots=True)
class Record:
    """The members of a JSON object; unknown ones are let through, null counts as absent."""

    members: Mapping[str, Rule]
    required: tuple[str, ...] = ()
    banned: Mapping[str, str] = field(default_factory=dict)
    """Members that must not be there, each with the reason."""
    whole: Callable[[Mapping[str, object], str], Iterator[Problem]] | None = None
    """What the members must be like together."""

    def faults(self, value: object, path: str = "") -> Iterator[Problem]:
        """Yield every fault of a value."""
        if not isinstance(value, Mapping):
            yield Problem(path, "must be an object")
            return
        found = present(value)
        dot = f"{path}." if path else ""
        missing = [name for name in self.required if name not in found]
        yield from (Problem(dot + name, "is required") for name in missing)
        for name, entry in found.items():
            if name in self.banned:
                yield Problem(dot + name, self.banned[name])
            elif name in self.members:
                yield from self.members[name].faults(entry, dot + name)
        if self.whole is not None:
            yield from self.whole(found, dot)

    @property
    def schema(self) -> Schema:
        """The JSON schema of such objects."""
        members: dict[str, object] = {name: rule.schema for name, rule in self.members.items()}
        members |= dict.fromkeys(self.banned, False)
        return {"type": "object", "properties": members, "required": list(self.required)}

    @property
    def rule(self) -> Rule:
        return Rule(self.faults, self.schema)


def present(record: Mapping[str, object]) -> dict[str, object]:
    """Return the members that are there: null counts as absent."""
    return {name: value for name, value in record.items() if value is not None}
