"""Random CESQL expressions, as trees and as texts, and random events."""

from __future__ import annotations

import os
import random
from typing import Any

from hypothesis import strategies as st

from penstock.events import CloudEvent
from tests.cesql.naive import Tree

NAMES = ("id", "source", "type", "subject", "num", "flag", "x1", "contenttype", "data")
TEXTS = (
    *("", "a", "ab", "abc", "ba", "A", "true", "TRUE", "False", "0", "5", "05", "+5", "-5", " 5"),
    *("2147483647", "2147483648", "-2147483648", "a%b", "a_b", "\\", "it's", '"', "é", "𝄞x", "K"),
    *('{"a":1}', "[1,2]", "1.5", "YWI=", "\u2003a\x1c", "ab\n"),
)
INTEGERS = (0, 1, -1, 2, 5, 7, 2147483647, -2147483648)
PATTERNS = (
    "",
    "%",
    "_",
    "a%",
    "%b",
    "%b%",
    "a%b",
    "a_",
    "_b%",
    "%a_%",
    "a\\%b",
    "a\\_b",
    "\\",
    "5%",
)
OPERATORS = ("AND", "OR", "XOR", "=", "!=", "<>", "<", "<=", ">", ">=", "+", "-", "*", "/", "%")
FUNCTIONS = (
    *(("LENGTH", 1), ("CONCAT", 0), ("CONCAT", 2), ("CONCAT_WS", 3), ("LOWER", 1), ("UPPER", 1)),
    *(("TRIM", 1), ("LEFT", 2), ("RIGHT", 2), ("SUBSTRING", 2), ("SUBSTRING", 3), ("ABS", 1)),
    *(("INT", 1), ("BOOL", 1), ("STRING", 1), ("NOSUCH", 1), ("CONCAT_WS", 0), ("LENGTH", 2)),
)


def examples(count: int) -> int:
    """How many examples a property gets; PENSTOCK_FUZZ asks for more."""
    return max(count, int(os.environ.get("PENSTOCK_FUZZ", "0")) // 100)


texts = st.sampled_from(TEXTS) | st.text(max_size=4)
integers = st.sampled_from(INTEGERS) | st.integers(-(2**31), 2**31 - 1)
values = texts | integers | st.booleans()
attributes = st.builds(lambda name: ("attr", name), st.sampled_from(NAMES))
literals = st.builds(lambda value: ("lit", value), values)
existence = st.builds(lambda name: ("exists", name), st.sampled_from(NAMES))


def larger(trees: st.SearchStrategy[Tree]) -> st.SearchStrategy[Tree]:
    """Trees one level above others."""
    patterns = st.sampled_from(PATTERNS) | st.text("ab%_\\", max_size=5)
    items = st.lists(trees, min_size=1, max_size=3)
    calls = st.sampled_from(FUNCTIONS).flatmap(
        lambda known: st.tuples(
            st.just("call"),
            st.just(known[0]),
            st.lists(trees, min_size=known[1], max_size=known[1]),
        )
    )
    return st.one_of(
        st.tuples(st.just("not"), trees),
        st.tuples(st.just("neg"), trees),
        st.tuples(st.just("bin"), st.sampled_from(OPERATORS), trees, trees),
        st.tuples(st.just("bin"), st.sampled_from(("=", "AND", "OR")), trees, trees),
        st.tuples(st.just("like"), trees, patterns, st.booleans()),
        st.tuples(st.just("in"), trees, items, st.booleans()),
        calls,
    )


trees = st.recursive(attributes | literals | existence, larger, max_leaves=8)
# Comparisons of attributes with literals, joined by logic, as people write them.
conditions = st.recursive(
    st.one_of(
        st.tuples(st.just("bin"), st.sampled_from(("=", "!=")), attributes, literals),
        st.tuples(st.just("bin"), st.just("="), literals, attributes),
        st.tuples(st.just("like"), attributes, st.sampled_from(PATTERNS), st.booleans()),
        st.tuples(
            st.just("in"), attributes, st.lists(literals, min_size=1, max_size=3), st.booleans()
        ),
        existence,
        attributes | literals,
    ),
    lambda inner: st.one_of(
        st.tuples(st.just("bin"), st.sampled_from(("AND", "OR", "XOR")), inner, inner),
        st.tuples(st.just("not"), inner),
    ),
    max_leaves=5,
)


def pattern_of(literal_: Tree) -> str:
    """A pattern for what starts like a literal, or ends so."""
    text = str(literal_[1]).lower()
    return f"{text}%" if len(text) % 2 else f"%{text}"


def pieces(event: CloudEvent) -> list[str]:
    """The texts of an event's attributes, and beginnings and ends of them."""
    found = [text for name in NAMES if (text := event.text(name))]
    return sorted(
        {part for text in found for part in (text, text[:1], text[:-1], text[1:]) if part}
    )


def met(tree: Any, found: list[str], chance: random.Random) -> Any:  # noqa: ANN401
    """The tree, with some of its literals and patterns taken from the texts of an event."""
    match tree:
        case ("lit", _) if chance.random() < 1 / 2:
            return ("lit", chance.choice(found))
        case ("like", part, _, negated) if chance.random() < 1 / 2:
            return ("like", part, pattern_of(("lit", chance.choice(found))), negated)
        case tuple():
            return tuple(met(part, found, chance) for part in tree)
        case list():
            return [met(part, found, chance) for part in tree]
    return tree


def meeting(tree: Tree, event: CloudEvent, seed: int) -> tuple[Tree, CloudEvent]:
    """An expression and an event that have something to do with each other."""
    found = pieces(event)
    return (met(tree, found, random.Random(seed)) if found else tree), event


def written(tree: Tree) -> str:  # noqa: C901, PLR0911
    """Write a tree as text, every part that has parts in parentheses."""
    match tree:
        case ("lit", value):
            return literal(value)
        case ("attr", name):
            return str(name)
        case ("exists", name):
            return f"EXISTS {name}"
        case ("not", part):
            return f"NOT {inner(part)}"
        case ("neg", part):
            return f"- {inner(part)}"
        case ("bin", operator, left, right):
            return f"{inner(left)} {operator} {inner(right)}"
        case ("like", part, pattern, negated):
            return f"{inner(part)} {'not like' if negated else 'LIKE'} {literal(pattern)}"
        case ("in", part, items, negated):
            listed = ", ".join(written(item) for item in items)
            return f"{inner(part)} {'NOT IN' if negated else 'in'} ({listed})"
        case ("call", name, arguments):
            return f"{name}({','.join(written(argument) for argument in arguments)})"
    raise AssertionError(tree)


def inner(tree: Tree) -> str:
    text = written(tree)
    return text if tree[0] in ("lit", "attr", "call") else f"({text})"


def literal(value: object) -> str:
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    return str(value).upper()


def writable(value: object) -> bool:
    """Whether a text can be written: a backslash before a quote, or at the end, cannot."""
    return not isinstance(value, str) or not (
        "\\'" in value or "\\\\" in value or value[-1:] == "\\"
    )


def is_writable(tree: object) -> bool:
    """Whether every text in a tree can be written."""
    if isinstance(tree, tuple | list):
        return all(map(is_writable, tree))
    return writable(tree)


@st.composite
def events(draw: st.DrawFn) -> CloudEvent:
    """Events of both versions, with extensions of every type, numbers as text among them."""
    extensions: dict[str, Any] = {}
    old = draw(st.booleans())
    anything = texts | integers | st.booleans() | st.binary(max_size=3)
    if old:
        anything |= st.sampled_from(({"a": 1}, [1, 2], 1.5, 2**40, {"é": [True, None]}))
    for name in draw(st.sets(st.sampled_from(("num", "flag", "x1", "subject", "contenttype")))):
        extensions[name] = draw(anything)
    return CloudEvent(
        id=draw(texts),
        source=draw(texts),
        type=draw(texts),
        specversion="0.2" if old else "1.0",
        subject=None if old else draw(st.none() | texts),
        datacontenttype=draw(st.none() | st.just("text/plain")),
        extensions=extensions,
        data=b"{}",
    )


meetings = st.builds(meeting, conditions, events(), st.integers(0, 2**16))
