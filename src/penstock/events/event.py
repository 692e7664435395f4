"""One event of CloudEvents 0.2 or 1.0."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

import msgspec

from penstock.errors import EventError, Problem
from penstock.events import checks, conversion
from penstock.events.media import DataForm
from penstock.events.values import canonical

__all__ = ["CloudEvent", "DataForm", "Value", "from_attributes", "refuse"]

# Maps, lists, fractions and null inside them are 0.2 only.
Value: TypeAlias = "bool | int | float | str | bytes | list[Any] | dict[str, Any]"


class CloudEvent(msgspec.Struct, frozen=True, gc=False):
    """An event as received: `problems()` tells whether it keeps to its `specversion`.

    Version 0.2 calls `datacontenttype` `contenttype`, calls `dataschema` `schemaurl`, and has
    `subject` among the extensions.
    """

    id: str
    source: str
    type: str
    specversion: str = "1.0"
    subject: str | None = None
    time: str | None = None
    datacontenttype: str | None = None
    dataschema: str | None = None
    extensions: Mapping[str, Value] = msgspec.field(default_factory=dict)
    data: bytes | None = None
    form: DataForm = DataForm.BYTES

    def value(self, name: str) -> Value | None:
        """Return the attribute of that name, or of its name in the other version."""
        field = checks.fields(self.specversion).get(name)
        found = self.extensions.get(name) if field is None else getattr(self, field)
        if found is None and name in checks.RENAMED:
            found = getattr(self, checks.RENAMED[name])
        return found

    def text(self, name: str) -> str | None:
        """Return the attribute's canonical string; maps and lists have none."""
        found = self.value(name)
        if found is None or isinstance(found, str):
            return found
        if isinstance(found, dict | list):
            return None
        return msgspec.json.encode(found).decode() if isinstance(found, float) else canonical(found)

    def attributes(self) -> dict[str, Value]:
        """Return all present context attributes under the names of the event's version."""
        core = {
            name: value
            for name, field in checks.fields(self.specversion).items()
            if (value := getattr(self, field)) is not None
        }
        return {**core, **self.extensions}

    def problems(self) -> tuple[Problem, ...]:
        """Return every fault with its attribute as path; none when the event is valid."""
        return checks.problems(self)

    def convert(self, specversion: str) -> CloudEvent:
        """Return the event in that version, or raise EventError where it has no place there."""
        if specversion == self.specversion:
            return self
        event = msgspec.structs.replace(self, **conversion.changes(self, specversion))
        refuse(event.problems())
        return event


def from_attributes(
    attributes: Mapping[str, Any], data: bytes | None = None, form: DataForm = DataForm.BYTES
) -> CloudEvent:
    """Return the valid event with these attributes, named as in its version; None is absent."""
    rest = {name: value for name, value in attributes.items() if value is not None}
    version = rest.get("specversion")
    core = {
        field: rest.pop(name, None)
        for name, field in checks.fields(version if isinstance(version, str) else "").items()
    }
    event = CloudEvent(**core, extensions=rest, data=data, form=form)
    refuse(event.problems())
    return event


def refuse(problems: tuple[Problem, ...]) -> None:
    """Raise EventError if there are problems."""
    if problems:
        raise EventError(problems)
