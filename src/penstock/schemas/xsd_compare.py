"""Whether documents that an old XML Schema accepts are accepted by a new one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from xmlschema.validators import XMLSchemaBase, XsdElement

from penstock.errors import Problem
from penstock.schemas.base import Undecided
from penstock.schemas.xsd_particles import (
    Models,
    TooLargeError,
    declared_since,
    same_wildcard,
)
from penstock.schemas.xsd_simple import simple_problems

_ANY_TYPE = "{http://www.w3.org/2001/XMLSchema}anyType"

# Types and attributes of the library, whose classes differ between XSD 1.0 and 1.1.
Type = Any
Attribute = Any


@dataclass(slots=True)
class Comparison:
    """Holds the elements of a new schema against those of an old one; used once."""

    new: XMLSchemaBase
    old: XMLSchemaBase
    models: Models = field(default_factory=Models)
    # A pair of types is compared once, which also ends recursion.
    seen: set[tuple[int, int]] = field(default_factory=set)

    def problems(self) -> tuple[Problem, ...]:
        """Return what the new schema refuses although the old one accepts it."""
        try:
            return tuple(dict.fromkeys(self._problems()))
        except (TooLargeError, RecursionError):
            return (Undecided("", "the schemas are too large to be compared"),)

    def _problems(self) -> Iterator[Problem]:
        if self.new.target_namespace != self.old.target_namespace:
            message = f"the target namespace changed from {self.old.target_namespace!r}"
            yield Problem("targetNamespace", f"{message} to {self.new.target_namespace!r}")
            return
        if len(self.new.substitution_groups) or len(self.old.substitution_groups):
            yield Undecided("", "the checker does not follow substitution groups")
        for name, before in self.old.elements.items():
            after = self.new.elements.get(name)
            if after is None:
                yield Problem(before.local_name, "the element is gone")
            else:
                yield from self._element(after, before, before.local_name)
        yield from self._derived()

    def _derived(self) -> Iterator[Problem]:
        """Old data may name any derived type with xsi:type."""
        for name, before in self.old.types.items():
            after, base = self.new.types.get(name), before.base_type
            if base is None or not base.name or base.name not in self.old.types:
                continue
            if after is None or after.base_type is None or after.base_type.name != base.name:
                message = "the derived type is gone or has another base, and xsi:type may name it"
                yield Undecided(str(before.local_name), message)
            else:
                yield from self._type(after, before, str(before.local_name))

    def _element(self, new: XsdElement, old: XsdElement, path: str) -> Iterator[Problem]:
        if new.abstract and not old.abstract:
            yield Problem(path, "the element is abstract now")
        if old.nillable and not new.nillable:
            yield Problem(path, "the element must not be nil any more")
        if (new.fixed, new.default) != (old.fixed, old.default):
            is_free = new.fixed is None and new.default is None
            yield from () if is_free and old.default is None else _value(new, path)
        if new.identities or new.alternatives or new.block != old.block:
            yield Undecided(path, "the checker does not compare keys, alternatives and blocks")
        yield from self._type(new.type, old.type, path)

    def _type(self, new: Type, old: Type, path: str) -> Iterator[Problem]:
        if (id(new), id(old)) in self.seen:
            return
        self.seen.add((id(new), id(old)))
        if new.name == _ANY_TYPE:
            if not old.is_simple() and declared_since(self.new, self.old):
                yield Undecided(path, "names that could have any content are declared now")
            return
        if new.is_simple() and old.is_simple():
            yield from simple_problems(new, old, path)
        elif old.is_simple() and new.has_simple_content():
            yield from simple_problems(new.content, old, path)
            yield from _attributes(new, None, path)
        elif new.is_simple() or old.is_simple() or old.name == _ANY_TYPE:
            yield Problem(path, "the type changed between simple and complex content")
        else:
            yield from self._complex(new, old, path)

    def _complex(self, new: Type, old: Type, path: str) -> Iterator[Problem]:
        if new.abstract and not old.abstract:
            yield Problem(path, "the type is abstract now")
        if getattr(new, "assertions", ()) or getattr(new, "open_content", None):
            yield Undecided(path, "the checker does not compare assertions and open content")
        if getattr(old, "open_content", None):
            yield Undecided(path, "the checker does not compare open content")
        yield from _attributes(new, old, path)
        yield from self._content(new, old, path)

    def _content(self, new: Type, old: Type, path: str) -> Iterator[Problem]:
        if new.has_simple_content() != old.has_simple_content():
            yield Problem(path, "the type changed between simple and complex content")
            return
        if new.has_simple_content():
            yield from simple_problems(new.content, old.content, path)
            return
        if old.mixed and not new.mixed:
            yield Problem(path, "text between the elements is not allowed any more")
        match = self.models.match(new.content, old.content, path)
        yield from match.problems
        for after, before in match.pairs:
            yield from self._element(after, before, f"{path}/{before.local_name}")


def _value(new: Any, path: str) -> Iterator[Problem]:  # noqa: ANN401
    if new.fixed is not None:
        yield Problem(path, f"only the fixed value {new.fixed!r:.80} is accepted now")
    else:
        yield Undecided(path, "the default changed, and with it what an absent value means")


def _attributes(new: Type, old: Type | None, path: str) -> Iterator[Problem]:
    before = dict(old.attributes) if old is not None else {}
    after = dict(new.attributes)
    for name, one in after.items():
        known = before.get(name)
        if (
            name is not None
            and one.use == "required"
            and (known is None or known.use != "required")
        ):
            yield Problem(f"{path}/@{one.local_name}", "the attribute is required now")
    for name, one in before.items():
        if name is None:
            if None not in after or not same_wildcard(after[None], one):
                yield Undecided(f"{path}/@*", "the wildcard for attributes changed")
        elif one.use != "prohibited":
            yield from _attribute(after, one, f"{path}/@{one.local_name}")
    # What a wildcard let pass may be declared now, with a type of its own.
    if None in before and after.keys() - before.keys():
        yield Undecided(f"{path}/@*", "attributes that any name could have are declared now")


def _attribute(after: dict[str | None, Attribute], old: Attribute, path: str) -> Iterator[Problem]:
    new = after.get(old.name)
    if new is None or new.use == "prohibited":
        message = "the attribute is not allowed any more"
        yield Undecided(path, message) if None in after else Problem(path, message)
        return
    if new.fixed != old.fixed and new.fixed is not None:
        yield Problem(path, f"only the fixed value {new.fixed!r:.80} is accepted now")
    elif new.default != old.default or new.fixed != old.fixed:
        yield Undecided(path, "the default changed, and with it what an absent value means")
    yield from simple_problems(new.type, old.type, path)
