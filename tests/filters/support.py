"""Events, and random filters as documents, for the tests of all dialects."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

from penstock import filters
from penstock.errors import Problem, ResourceError
from penstock.events import CloudEvent
from penstock.filters import Filter
from tests.cesql import naive, strategies
from tests.cesql.strategies import (
    NAMES,
    TEXTS,
    conditions,
    events,
    is_writable,
    written,
)

Document = dict[str, Any]


def an_event(**attributes: Any) -> CloudEvent:  # noqa: ANN401
    """An event with the given attributes; required ones are filled in."""
    core = {
        name: attributes.pop(name) for name in CloudEvent.__struct_fields__ if name in attributes
    }
    needed = {"id": "1", "source": "/shops/42", "type": "com.example.order.created"}
    return CloudEvent(**needed | core, extensions=attributes)


def problems(read: Callable[[], Filter]) -> dict[str, str]:
    """What a reader refuses: path to message."""
    try:
        read()
    except ResourceError as error:
        return {problem.path: problem.message for problem in error.problems}
    return {}


def refusal(document: object) -> dict[str, str]:
    """What is wrong with one filter expression: path to message."""
    return problems(lambda: filters.parse(document, "f"))


def listed(found: tuple[Problem, ...]) -> list[str]:
    return [problem.path for problem in found]


Shape = tuple[str, Any]
_names = st.sampled_from([name for name in NAMES if name != "data"])
_texts = st.sampled_from([text for text in TEXTS if text]) | st.text(min_size=1, max_size=3)


_maps = st.dictionaries(_names, _texts, min_size=1, max_size=2)
maps = st.tuples(st.sampled_from(("exact", "prefix", "suffix")), _maps)
_leaves: st.SearchStrategy[Shape] = st.one_of(
    maps,
    st.tuples(
        st.just("attributes"), st.dictionaries(_names, st.just("") | _texts, min_size=1, max_size=2)
    ),
    st.tuples(st.just("sql"), conditions),
)
# Filters of all dialects, as (dialect, value); the value of `sql` is a tree.
shapes = st.recursive(
    _leaves,
    lambda inner: st.one_of(
        st.tuples(st.sampled_from(("all", "any")), st.lists(inner, min_size=1, max_size=3)),
        st.tuples(st.just("not"), inner),
    ),
    max_leaves=6,
).filter(is_writable)


def met(shape: Shape, event: CloudEvent, chance: random.Random) -> Shape:
    """The shape, with some of its texts taken from an event."""
    dialect, value = shape
    match dialect:
        case "all" | "any":
            return dialect, [met(part, event, chance) for part in value]
        case "not":
            return dialect, met(value, event, chance)
        case "sql":
            return dialect, strategies.meeting(value, event, chance.randrange(2**16))[0]
    return dialect, {name: taken(name, text, event, chance) for name, text in value.items()}


def taken(name: str, text: str, event: CloudEvent, chance: random.Random) -> str:
    found = event.text(name) or text
    return chance.choice([text, found, found[:1], found[-1:], found[: len(found) // 2]]) or text


def meeting(shape: Shape, event: CloudEvent, seed: int) -> tuple[Shape, CloudEvent]:
    """A filter and an event that have something to do with each other."""
    return met(shape, event, random.Random(seed)), event


def meetings_of(
    several: st.SearchStrategy[Shape],
) -> st.SearchStrategy[tuple[Shape, CloudEvent]]:
    """Pairs of a filter and an event, where the filter can be written."""
    pairs = st.builds(meeting, several, events(), st.integers(0, 2**16))
    return pairs.filter(lambda pair: is_writable(pair[0]))


meetings = meetings_of(shapes)


def document(shape: Shape) -> Document:
    """The JSON form of a shape."""
    dialect, value = shape
    if dialect in ("all", "any"):
        return {dialect: [document(part) for part in value]}
    if dialect == "not":
        return {dialect: document(value)}
    return {dialect: written(value) if dialect == "sql" else value}


def passes(shape: Shape, event: CloudEvent) -> bool:  # noqa: PLR0911
    """The plain reading of a shape: what the filters are held against."""
    dialect, value = shape
    match dialect:
        case "all":
            return min(passes(part, event) for part in value)
        case "any":
            return max(passes(part, event) for part in value)
        case "not":
            return not passes(value, event)
        case "sql":
            return naive.evaluate(value, event.value) == (True, None) and is_true(value, event)
        case "attributes":
            return all(
                event.text(name) == text if text else event.value(name) is not None
                for name, text in value.items()
            )
    found = {name: event.text(name) for name in value}
    if None in found.values():
        return False
    return all(compared(dialect, str(found[name]), text) for name, text in value.items())


def compared(dialect: str, found: str, text: str) -> bool:
    if dialect == "exact":
        return found == text
    return found[: len(text)] == text if dialect == "prefix" else found[-len(text) :] == text


def is_true(tree: naive.Tree, event: CloudEvent) -> bool:
    # 1 equals True in Python, not in CESQL.
    return naive.evaluate(tree, event.value)[0] is True
