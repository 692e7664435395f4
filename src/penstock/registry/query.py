"""What a request wants to see: collections inlined, and pages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from penstock.registry.faults import Faults
from penstock.registry.model import GroupType, Model

VERSIONS = "versions"


@dataclass(frozen=True, slots=True)
class Inline:
    """Which collections below an entity are wanted, and of them which below."""

    below: Mapping[str, Inline] = field(default_factory=dict)
    everything: bool = False

    def inner(self, plural: str) -> Inline | None:
        """Return what is wanted inside a collection, or None where it is not wanted itself."""
        return self if self.everything else self.below.get(plural.casefold())

    def __bool__(self) -> bool:
        return self.everything or bool(self.below)


NOTHING = Inline()
EVERYTHING = Inline(everything=True)


def inline(values: Sequence[str], allowed: Mapping[str, object]) -> Inline:
    """Return what the values of `inline` ask for; `allowed` names what there is, as a tree."""
    if not values:
        return NOTHING
    paths = [path.strip() for value in values for path in value.split(",")]
    if not any(paths):
        return EVERYTHING
    faults = Faults()
    tree: dict[str, object] = {}
    for path in filter(None, paths):
        _plant(faults, tree, path, allowed)
    faults.finish()
    return _grown(tree)


def below_registry(model: Model) -> dict[str, object]:
    return {each.plural.casefold(): below_group(each) for each in model.groups}


def below_group(type_: GroupType) -> dict[str, object]:
    return {each.plural.casefold(): below_resource() for each in type_.resources}


def below_resource() -> dict[str, object]:
    return {VERSIONS: {}}


def _plant(
    faults: Faults, tree: dict[str, object], path: str, allowed: Mapping[str, object]
) -> None:
    here = tree
    for name in path.split("."):
        low = name.casefold()
        inside = allowed.get(low)
        if not isinstance(inside, Mapping):
            known = ", ".join(allowed) or "nothing more"
            faults.add("inline", f"{path!r}: there is no collection {name!r} here, but {known}")
            return
        allowed = inside
        grown = here.setdefault(low, {})
        if isinstance(grown, dict):
            here = grown


def _grown(tree: Mapping[str, object]) -> Inline:
    return Inline(
        {name: _grown(below) for name, below in tree.items() if isinstance(below, Mapping)}
    )
