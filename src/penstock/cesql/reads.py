"""What of an event's attributes an expression can tell apart."""

from __future__ import annotations

from typing import NamedTuple

from penstock.cesql import like
from penstock.cesql.cover import TEXTUAL, is_plain
from penstock.cesql.lookups import Lookup
from penstock.cesql.tree import Attribute, Binary, Exists, In, Like, Literal, Node, children
from penstock.cesql.values import to_text


class Reads(NamedTuple):
    """All that can influence whether an expression passes.

    Events that agree in these lookups, in the presence of these attributes, and in type and
    value of the `whole` ones, get the same answer.
    """

    lookups: frozenset[Lookup]
    presence: frozenset[str]
    whole: frozenset[str]


def reads(root: Node) -> Reads:
    """Return what an expression reads."""
    lookups: set[Lookup] = set()
    presence: set[str] = set()
    whole: set[str] = set()
    waiting = [root]
    while waiting:
        node = waiting.pop()
        found = simple(node)
        if found is not None:
            name, conditions = found
            presence.add(name)
            lookups.update(conditions)
        elif isinstance(node, Attribute):
            whole.add(node.name)
        else:
            waiting.extend(children(node))
    seen = frozenset(lookup for lookup in lookups if lookup.name != "data")
    return Reads(seen, frozenset(presence - {"data"}), frozenset(whole - {"data"}))


def simple(node: Node) -> tuple[str, list[Lookup]] | None:
    """Return the attribute and the lookups that alone decide a condition, if there are such."""
    match node:
        case Exists(name):
            return name, []
        case Binary("=" | "!=", Attribute(name), Literal(str() as text)) if is_plain(name, text):
            return name, [Lookup("exact", name, text)]
        case Like(Attribute(name), pattern):
            return _likeness(name, like.pattern(pattern))
        case In(Attribute(name), items) if name in TEXTUAL:
            texts = [to_text(item.value) for item in items if isinstance(item, Literal)]
            exact = [Lookup("exact", name, text) for text in texts]
            return (name, exact) if len(texts) == len(items) else None
    return None


def _likeness(name: str, pattern: like.Pattern) -> tuple[str, list[Lookup]] | None:
    match pattern.literals:
        case (text,) if is_plain(name, text):
            return name, [Lookup("exact", name, text)]
        case ("", ""):
            return name, []
        case (head, "") if is_plain(name, head):
            return name, [Lookup("prefix", name, head)]
        case ("", tail) if is_plain(name, "", tail):
            return name, [Lookup("suffix", name, tail)]
    return None
