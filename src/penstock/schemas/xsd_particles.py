"""Whether the children that an old content model allows fit a new one, by names and order.

Only the shape is matched here; the pairs of elements that meet are compared afterwards, so a
choice never depends on what is found out about types.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from xmlschema.validators import XMLSchemaBase, XsdAnyElement, XsdElement, XsdGroup

from penstock.errors import Problem
from penstock.schemas.base import Undecided

# Elements, wildcards and groups share only their occurrence.
Particle = Any

_MOST_STEPS = 20_000


class TooLargeError(Exception):
    """The comparison takes more steps than it may."""


@dataclass(slots=True)
class Match:
    """The elements that meet when a model is laid over another, and what does not fit."""

    pairs: list[tuple[XsdElement, XsdElement]] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)

    def add(self, other: Match) -> None:
        """Take over what another match found."""
        self.pairs += other.pairs
        self.problems += other.problems


@dataclass(slots=True)
class Models:
    """Lays content models over each other."""

    steps: int = 0

    def match(self, new: Particle, old: Particle, path: str) -> Match:
        """Return how all that the old model allows fits the new one."""
        self.steps += 1
        if self.steps > _MOST_STEPS:
            raise TooLargeError
        new, old = _unwrapped(new), _unwrapped(old)
        if _is_nothing(old):
            return _nothing(new, path)
        if isinstance(new, XsdElement) and isinstance(old, XsdElement):
            return _elements(new, old, path)
        if isinstance(new, XsdAnyElement) and isinstance(old, XsdAnyElement):
            return _wildcards(new, old, path)
        if isinstance(new, XsdGroup):
            return self._into_group(new, old, path)
        if isinstance(old, XsdGroup) and old.model == "sequence" and _is_once(old):
            return self._sequence([new], _items(old), path)
        return Match([], [_unclear(old, path)])

    def _into_group(self, new: XsdGroup, old: Particle, path: str) -> Match:
        if new.model == "choice":
            return self._into_choice(new, old, path)
        if isinstance(old, XsdGroup) and old.model == new.model:
            found = Match([], list(_occurrence(new, old, path, "the group")))
            lay = self._sequence if new.model == "sequence" else self._all
            found.add(lay(_items(new), _items(old), path))
            return found
        if new.min_occurs > 1:
            return Match([], [_unclear(old, path)])
        if new.model == "all":
            return self._into_all(new, old, path)
        if isinstance(old, XsdElement):
            return self._sequence(_items(new), [old], path)
        return Match([], [_unclear(old, path)])

    def _sequence(self, new: Sequence[Particle], old: Sequence[Particle], path: str) -> Match:
        found, at = Match(), 0
        for part in old:
            meets = next((n for n in range(at, len(new)) if _meet(new[n], part)), None)
            if meets is None:
                found.problems.append(_lost(new, part, path))
                continue
            found.problems += _demanded(new[at:meets], path)
            found.add(self.match(new[meets], part, path))
            at = meets + 1
        found.problems += _demanded(new[at:], path)
        return found

    def _all(self, new: Sequence[Particle], old: Sequence[Particle], path: str) -> Match:
        found, met = Match(), set()
        for part in old:
            meets = next((n for n in range(len(new)) if _meet(new[n], part)), None)
            if meets is None or meets in met:
                found.problems.append(_lost(new, part, path))
                continue
            met.add(meets)
            found.add(self.match(new[meets], part, path))
        found.problems += _demanded([one for n, one in enumerate(new) if n not in met], path)
        return found

    def _into_all(self, new: XsdGroup, old: Particle, path: str) -> Match:
        is_group = isinstance(old, XsdGroup)
        parts = _items(old) if is_group else [old]
        is_plain = all(isinstance(one, XsdElement) for one in parts)
        once = not is_group or (old.model == "sequence" and _is_once(old))
        if is_plain and once:
            return self._all(_items(new), parts, path)
        return Match([], [_unclear(old, path)])

    def _into_choice(self, new: XsdGroup, old: Particle, path: str) -> Match:
        if isinstance(old, XsdGroup) and old.model == "choice":
            found = Match([], list(_occurrence(new, old, path, "the choice")))
            for branch in old:
                found.add(self._some_branch(new, branch, path))
            return found
        if isinstance(old, XsdElement):
            single = [
                one
                for one in new
                if isinstance(one, XsdElement) and one.name == old.name and _is_once(one)
            ]
            if single and not list(_occurrence(new, old, path, "")):
                return Match([(single[0], old)])
        if new.min_occurs <= 1 and (new.max_occurs is None or new.max_occurs >= 1):
            return self._some_branch(new, old, path)
        return Match([], [_unclear(old, path)])

    def _some_branch(self, new: XsdGroup, old: Particle, path: str) -> Match:
        likely = [one for one in new if _meet(_unwrapped(one), _unwrapped(old))]
        found = [self.match(one, old, path) for one in likely]
        fitting = next((one for one in found if not one.problems), None)
        if fitting is not None:
            return fitting
        return found[0] if len(found) == 1 else Match([], [_lost(list(new), old, path)])


def _unwrapped(part: Particle) -> Particle:
    while isinstance(part, XsdGroup) and len(part) == 1 and _is_once(part):
        part = part[0]
    return part


def _items(group: XsdGroup) -> list[Particle]:
    found: list[Particle] = []
    for part in group:
        one = _unwrapped(part)
        nested = isinstance(one, XsdGroup) and one.model == group.model and _is_once(one)
        found += _items(one) if nested else [one]
    return [one for one in found if not _is_nothing(one)]


def _is_once(part: Particle) -> bool:
    return (part.min_occurs, part.max_occurs) == (1, 1)


def _is_nothing(part: Particle) -> bool:
    return part.max_occurs == 0 or (isinstance(part, XsdGroup) and not len(part))


def _can_be_absent(part: Particle) -> bool:
    if part.min_occurs == 0 or _is_nothing(part):
        return True
    if not isinstance(part, XsdGroup):
        return False
    each = (_can_be_absent(one) for one in part)
    return any(each) if part.model == "choice" else all(each)


def _nothing(new: Particle, path: str) -> Match:
    return Match([], list(_demanded([new], path)))


def _demanded(parts: Sequence[Particle], path: str) -> Iterator[Problem]:
    for part in parts:
        if not _can_be_absent(part):
            yield Problem(f"{path}/{_word(part)}", "is new and required, and old data lacks it")


def _elements(new: XsdElement, old: XsdElement, path: str) -> Match:
    if new.name != old.name:
        return Match([], [_lost([new], old, path)])
    below = f"{path}/{old.local_name}"
    return Match([(new, old)], list(_occurrence(new, old, below, "the element")))


def _occurrence(new: Particle, old: Particle, path: str, what: str) -> Iterator[Problem]:
    if new.min_occurs > old.min_occurs:
        change = f"from {old.min_occurs} to {new.min_occurs}"
        yield Problem(path, f"{what} must appear more often: minOccurs rose {change}")
    if new.max_occurs is not None and (old.max_occurs is None or new.max_occurs < old.max_occurs):
        was = "unbounded" if old.max_occurs is None else old.max_occurs
        yield Problem(
            path, f"{what} may appear less: maxOccurs fell from {was} to {new.max_occurs}"
        )


def _wildcards(new: XsdAnyElement, old: XsdAnyElement, path: str) -> Match:
    found = list(_occurrence(new, old, f"{path}/any", "the wildcard"))
    if not same_wildcard(new, old):
        found.append(Undecided(f"{path}/any", "the wildcard changed"))
    return Match([], found)


def same_wildcard(new: Any, old: Any) -> bool:  # noqa: ANN401
    """Tell whether two wildcards allow the same names and check them no harder."""
    return (
        set(new.namespace) == set(old.namespace)
        and set(new.not_namespace or ()) == set(old.not_namespace or ())
        and set(new.not_qname or ()) == set(old.not_qname or ())
        and new.process_contents in {old.process_contents, "skip"}
        and (new.process_contents != "lax" or not declared_since(new.schema, old.schema))
    )


def declared_since(new: XMLSchemaBase, old: XMLSchemaBase) -> bool:
    """Tell whether names that nobody knew, and so nobody checked, are declared now."""
    added = set(new.elements) - set(old.elements), set(new.attributes) - set(old.attributes)
    return any(added)


def _names(part: Particle) -> set[str]:
    if isinstance(part, XsdGroup):
        return {name for one in part for name in _names(one)}
    return {part.name} if isinstance(part, XsdElement) else {"*"}


def _meet(new: Particle, old: Particle) -> bool:
    return bool(_names(new) & _names(old))


def _lost(new: Sequence[Particle], old: Particle, path: str) -> Problem:
    known = {name for part in new for name in _names(part)}
    below = f"{path}/{_word(old)}"
    if not _names(old) & known and "*" not in known:
        return Problem(below, "is not allowed any more")
    if isinstance(old, XsdElement) and all(isinstance(one, XsdElement) for one in new):
        return Problem(below, "is allowed at another place only")
    return Undecided(below, "the checker cannot tell whether it still has a place")


def _unclear(old: Particle, path: str) -> Problem:
    return Undecided(f"{path}/{_word(old)}", "the checker cannot compare the content models")


def _word(part: Particle) -> str:
    if isinstance(part, XsdGroup):
        return str(part.model)
    return str(part.local_name) if isinstance(part, XsdElement) else "any"
