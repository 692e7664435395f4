"""What every filter is, and what its dialect needs to read one from a document."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal, Protocol, Self, runtime_checkable

from penstock.cesql.lookups import Cover, Lookup, best
from penstock.errors import Problem, ResourceError

_NAME = re.compile(r"[a-z0-9]+")


class Attributes(Protocol):
    """The context attributes of one event: a CloudEvent, or a light view on a row."""

    def text(self, name: str) -> str | None:
        """Return the canonical text of an attribute, or None when it is absent or a map."""
        ...

    def value(self, name: str) -> object | None:
        """Return the typed value of an attribute, or None when it is absent."""
        ...


@runtime_checkable
class Filter(Protocol):
    """A condition on the attributes of an event; pure, frozen and picklable."""

    def matches(self, event: Attributes, /) -> bool:
        """Tell whether the event passes."""
        ...

    def names(self) -> frozenset[str]:
        """Return every attribute name that can influence the answer."""
        ...

    def cover(self) -> Cover:
        """Return lookups of which at least one holds for every event that passes.

        None means that there is no such set; the empty set means that no event ever passes.
        """
        ...

    def document(self) -> Mapping[str, object]:
        """Return the filter in its JSON form."""
        ...


@dataclass(frozen=True, slots=True)
class Place:
    """Where in a document a filter is read, and how its nested filters are."""

    path: str
    depth: int
    parse: Callable[[object, Place], Filter]

    def step(self, name: str) -> Place:
        """Return the place of a member below this one."""
        return Place(f"{self.path}{name}", self.depth, self.parse)

    def nested(self, document: object) -> Filter:
        """Read the filter expression nested at this place."""
        return self.parse(document, Place(self.path, self.depth + 1, self.parse))

    def refuse(self, message: str) -> ResourceError:
        """Return the error that says what is wrong at this place."""
        return ResourceError([Problem(self.path, message)])


class Dialect(Protocol):
    """What an entry point of the group `penstock.filters` names: a class that reads its filters."""

    @classmethod
    def read(cls, value: object, at: Place) -> Filter:
        """Return the filter that stands behind the dialect's name, or raise ResourceError."""
        ...


@dataclass(frozen=True, slots=True)
class Everything:
    """Matches every event; what an absent or empty list of filters means."""

    def matches(self, event: Attributes) -> bool:  # noqa: ARG002
        return True

    def names(self) -> frozenset[str]:
        return frozenset()

    def cover(self) -> Cover:
        return None

    def document(self) -> Mapping[str, object]:
        return {"sql": "TRUE"}


@dataclass(frozen=True, slots=True)
class Texts:
    """The common part of the dialects that map attribute names to texts."""

    texts: Mapping[str, str]

    kind: ClassVar[Literal["exact", "prefix", "suffix"]]

    def __post_init__(self) -> None:
        problems = text_problems(self.texts, self.kind)
        if problems:
            raise ResourceError(problems)

    def __hash__(self) -> int:
        return hash((self.kind, frozenset(self.texts.items())))

    @classmethod
    def read(cls, value: object, at: Place) -> Self:
        """Return the filter for a JSON object of attribute names and texts."""
        return cls(read_texts(value, at.path))

    def names(self) -> frozenset[str]:
        return frozenset(self.texts)

    def cover(self) -> Cover:
        return best(frozenset({Lookup(self.kind, *item)}) for item in self.texts.items())

    def document(self) -> Mapping[str, object]:
        return {self.kind: dict(self.texts)}


def read_filters(value: object, at: Place) -> tuple[Filter, ...]:
    """Return a JSON array of filter expressions, or raise ResourceError with every fault."""
    if not isinstance(value, (list, tuple)):
        raise at.refuse("must be an array of filter expressions")
    if not value:
        raise at.refuse("must have at least one filter expression")
    filters: list[Filter] = []
    problems: list[Problem] = []
    for number, document in enumerate(value):
        try:
            filters.append(at.step(f"[{number}]").nested(document))
        except ResourceError as error:
            problems.extend(error.problems)
    if problems:
        raise ResourceError(problems)
    return tuple(filters)


def read_texts(value: object, path: str, *, may_be_empty: bool = False) -> Mapping[str, str]:
    """Return a JSON object of strings as a mapping, or raise ResourceError with every fault."""
    if not isinstance(value, Mapping):
        message = "must be an object that maps attribute names to strings"
        raise ResourceError([Problem(path, message)])
    problems = text_problems(value, path, may_be_empty=may_be_empty)
    if problems:
        raise ResourceError(problems)
    return dict(value)


def text_problems(
    texts: Mapping[str, object], path: str, *, may_be_empty: bool = False
) -> tuple[Problem, ...]:
    """Return what is wrong with a map of names and texts (Subscriptions 3.2.4.1)."""
    if not texts:
        return (Problem(path, "must name at least one attribute"),)
    faults = (
        (name, fault)
        for name, text in texts.items()
        for fault in (_name_fault(name), _text_fault(text, may_be_empty=may_be_empty))
    )
    return tuple(Problem(f"{path}.{name}", fault) for name, fault in faults if fault)


def _name_fault(name: object) -> str | None:
    if name == "":
        return "an attribute name must not be empty"
    if name == "data":
        return "'data' is not a context attribute; filters see attributes only"
    if isinstance(name, str) and _NAME.fullmatch(name):
        return None
    return f"{name!r} is not an attribute name: use lower-case letters a-z and digits"


def _text_fault(text: object, *, may_be_empty: bool) -> str | None:
    if not isinstance(text, str):
        return "must be a string"
    return "must not be empty" if not text and not may_be_empty else None
