"""Whether the texts that an old simple type allows are allowed by a new one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from penstock.errors import Problem
from penstock.schemas.base import Undecided

# The library's simple types share no class that has all that is asked of them here.
Simple = Any

_XSD = "{http://www.w3.org/2001/XMLSchema}"
_ANYTHING = {f"{_XSD}{name}" for name in ("string", "anySimpleType", "anyAtomicType")}
_NUMBERS = {f"{_XSD}{name}" for name in ("decimal", "float", "double")}
_SPACES = {"preserve": 0, "replace": 1, "collapse": 2, None: 0}
_LENGTHS = ("length", "minLength", "maxLength")
_LOWER = ("minInclusive", "minExclusive")
_UPPER = ("maxInclusive", "maxExclusive")


def simple_problems(new: Simple, old: Simple, path: str) -> Iterator[Problem]:
    """Yield why texts of the old type may be refused by the new one."""
    if new is old or _accepts_all(new) or (_is_builtin(new) and new.name == old.name):
        return
    texts = _listed(old)
    if _spaces_differ(new, old):
        yield Undecided(path, "white space is treated in another way")
    elif texts is not None and not new.is_union():
        gone = [text for text in texts if not new.is_valid(text)]
        if gone:
            yield Problem(path, f"values are not accepted any more: {', '.join(gone[:10])}")
    else:
        yield from _varieties(new, old, path)


def _varieties(new: Simple, old: Simple, path: str) -> Iterator[Problem]:
    if old.is_union():
        for member in _part(old, "member_types"):
            yield from simple_problems(new, member, path)
    elif new.is_union():
        yield from _into_union(new, old, path)
    elif new.is_list() or old.is_list():
        yield from _lists(new, old, path)
    else:
        yield from _atoms(new, old, path)


def _into_union(new: Simple, old: Simple, path: str) -> Iterator[Problem]:
    members = _part(new, "member_types")
    if _facets(new) or all(list(simple_problems(one, old, path)) for one in members):
        yield Undecided(
            path, "the checker finds no member of the union that accepts all old values"
        )


def _lists(new: Simple, old: Simple, path: str) -> Iterator[Problem]:
    if not (new.is_list() and old.is_list()):
        yield Undecided(path, "a list became a single value, or the other way round")
        return
    yield from simple_problems(_part(new, "item_type"), _part(old, "item_type"), path)
    yield from _facet_problems(_facets(new), _facets(old), path)


def _atoms(new: Simple, old: Simple, path: str) -> Iterator[Problem]:
    before, after = old.primitive_type.name, new.primitive_type.name
    if before != after:
        message = f"the type changed from {_short(before)} to {_short(after)}"
        is_unclear = after in _ANYTHING or {before, after} <= _NUMBERS
        yield Undecided(path, message) if is_unclear else Problem(path, message)
        return
    base = next(one.name for one in _chain(new) if _is_builtin(one))
    mine, theirs = _facets(new), _facets(old)
    if base not in {one.name for one in _chain(old)} and not _is_range(base, old):
        message = f"not every old value is a {_short(base)}"
        yield Undecided(path, message) if theirs else Problem(path, message)
    yield from _facet_problems(mine, theirs, path)


def _is_range(base: str, old: Simple) -> bool:
    """Integers of a smaller range are the same texts, so their limits tell all."""
    names = {one.name for one in _chain(old)}
    return f"{_XSD}integer" in names and base.removeprefix(_XSD) in _INTEGERS


_INTEGERS = {
    *("integer", "long", "int", "short", "byte", "nonNegativeInteger", "positiveInteger"),
    *("unsignedLong", "unsignedInt", "unsignedShort", "unsignedByte"),
    *("nonPositiveInteger", "negativeInteger", "decimal"),
}

Facets = Mapping[str, list[Any]]


def _facet_problems(new: Facets, old: Facets, path: str) -> Iterator[Problem]:
    for name, facets in new.items():
        check = _CHECKS.get(name)
        if check is None:
            yield Undecided(path, f"the checker does not know {name}")
        else:
            yield from check(name, facets, old, path)


def _length(name: str, facets: list[Any], old: Facets, path: str) -> Iterator[Problem]:
    limit = facets[0].value
    exact = [one.value for one in old.get("length", ())]
    least = max([one.value for one in old.get("minLength", ())] + exact, default=0)
    most = min([one.value for one in old.get("maxLength", ())] + exact, default=None)
    if name != "maxLength" and least < limit:
        yield Problem(path, f"{name} {limit} refuses shorter values")
    if name != "minLength" and (most is None or most > limit):
        yield Problem(path, f"{name} {limit} refuses longer values")


def _limit(name: str, facets: list[Any], old: Facets, path: str) -> Iterator[Problem]:
    limit = facets[0].value
    is_lower, is_open = name in _LOWER, name.endswith("Exclusive")
    known = [
        (one.value, other.endswith("Exclusive"))
        for other in (_LOWER if is_lower else _UPPER)
        for one in old.get(other, ())
    ]
    try:
        is_kept = any(
            (value > limit if is_lower else value < limit)
            or (value == limit and (known_open or not is_open))
            for value, known_open in known
        )
    except TypeError:
        yield Undecided(path, f"the checker cannot compare {name}")
        return
    if not is_kept:
        yield Problem(path, f"{name} {limit} refuses values that were accepted")


def _digits(name: str, facets: list[Any], old: Facets, path: str) -> Iterator[Problem]:
    if not any(one.value <= facets[0].value for one in old.get(name, ())):
        yield Problem(path, f"{name} {facets[0].value} refuses values that were accepted")


def _patterns(name: str, facets: list[Any], old: Facets, path: str) -> Iterator[Problem]:  # noqa: ARG001
    known = [set(one.regexps) for one in old.get("pattern", ())]
    for facet in facets:
        if not any(one <= set(facet.regexps) for one in known):
            message = (
                f"the checker cannot tell which old values fit the pattern {facet.regexps!r:.80}"
            )
            yield Undecided(path, message)


def _enumeration(name: str, facets: list[Any], old: Facets, path: str) -> Iterator[Problem]:  # noqa: ARG001
    yield Problem(path, "only listed values are accepted now")


def _ignored(name: str, facets: list[Any], old: Facets, path: str) -> Iterator[Problem]:  # noqa: ARG001
    return iter(())


_CHECKS: Mapping[str, Callable[[str, list[Any], Facets, str], Iterator[Problem]]] = {
    **dict.fromkeys(_LENGTHS, _length),
    **dict.fromkeys((*_LOWER, *_UPPER), _limit),
    "totalDigits": _digits,
    "fractionDigits": _digits,
    "pattern": _patterns,
    "enumeration": _enumeration,
    # Compared before all others.
    "whiteSpace": _ignored,
}


def _chain(type_: Simple) -> Iterator[Simple]:
    while type_ is not None:
        yield type_
        type_ = type_.base_type


def _is_builtin(type_: Simple) -> bool:
    return bool(type_.name and type_.name.startswith(_XSD))


def _accepts_all(type_: Simple) -> bool:
    return bool(type_.name in _ANYTHING) or (
        not _facets(type_) and any(one.name in _ANYTHING for one in [type_.base_type] if one)
    )


def _facets(type_: Simple) -> Facets:
    """Return the facets of a type and of all that it restricts, the nearest first."""
    found: dict[str, list[Any]] = {}
    for one in _chain(type_):
        for name, facet in (getattr(one, "facets", None) or {}).items():
            # The texts of a built-in type are known by its name; only its limits count here.
            short = (name or "").removeprefix(_XSD)
            if name and not (_is_builtin(one) and short in {"pattern", "whiteSpace"}):
                found.setdefault(short, []).append(facet)
    return found


def _listed(type_: Simple) -> list[str] | None:
    facets = _facets(type_).get("enumeration")
    if not facets:
        return None
    return [str(elem.attrib["value"]) for elem in facets[0]._elements]  # noqa: SLF001


def _spaces_differ(new: Simple, old: Simple) -> bool:
    if new.is_union() or old.is_union():
        # Each member has its own way, and is looked at alone.
        return False
    mine, theirs = _SPACES[new.white_space], _SPACES[old.white_space]
    measures = {*_LENGTHS, "pattern", "enumeration"} & _facets(new).keys()
    return mine != theirs and (bool(measures) or mine < theirs)


def _part(type_: Simple, name: str) -> Any:  # noqa: ANN401
    return next(found for one in _chain(type_) if (found := getattr(one, name, None)) is not None)


def _short(name: str) -> str:
    return name.replace(_XSD, "xs:")
