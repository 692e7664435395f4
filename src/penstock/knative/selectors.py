"""Selectors: which objects a list or a watch is about, by labels and by fields."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from penstock.errors import Problem, ResourceError
from penstock.knative.meta import Object, member, metadata

Matches = Callable[[Object], bool]

_SET = re.compile(r"\s*(?P<key>[^\s!=,()]+)\s+(?P<how>in|notin)\s*\((?P<values>[^()]*)\)\s*")
_EQUAL = re.compile(r"\s*(?P<key>[^\s!=,()]+)\s*(?P<how>==|!=|=)\s*(?P<value>[^\s!=,()]*)\s*")
_PRESENT = re.compile(r"\s*(?P<absent>!?)\s*(?P<key>[^\s!=,()]+)\s*")
_COMMA = re.compile(r",(?![^()]*\))")


def labels(text: str) -> Matches:
    """Return what a label selector means."""
    tests = [_label(part) for part in _COMMA.split(text)] if text.strip() else []

    def matches(found: Object) -> bool:
        given = metadata(found).get("labels")
        return all(test(given if isinstance(given, dict) else {}) for test in tests)

    return matches


def fields(text: str) -> Matches:
    """Return what a field selector means; any path of an object can be compared."""
    tests = list(_fields(text)) if text.strip() else []
    return lambda found: all(test(found) for test in tests)


def _label(text: str) -> Matches:
    if match := _SET.fullmatch(text):
        key, wanted = match["key"], {value.strip() for value in match["values"].split(",")}
        if match["how"] == "in":
            return lambda given: given.get(key) in wanted
        return lambda given: given.get(key) not in wanted
    if match := _EQUAL.fullmatch(text):
        key, value = match["key"], match["value"]
        if match["how"] == "!=":
            return lambda given: given.get(key) != value
        return lambda given: given.get(key) == value
    if match := _PRESENT.fullmatch(text):
        key, absent = match["key"], bool(match["absent"])
        return lambda given: (key in given) is not absent
    raise ResourceError([Problem("labelSelector", f"Invalid value: {text!r} is no requirement")])


def _fields(text: str) -> Iterator[Matches]:
    for part in text.split(","):
        match = _EQUAL.fullmatch(part)
        if match is None:
            detail = f"Invalid value: {part!r} is no requirement"
            raise ResourceError([Problem("fieldSelector", detail)])
        yield _field(match["key"].split("."), match["value"], is_equal=match["how"] != "!=")


def _field(path: list[str], value: str, *, is_equal: bool) -> Matches:
    def matches(found: Object) -> bool:
        given = member(found, *path)
        return (("" if given is None else str(given)) == value) is is_equal

    return matches
