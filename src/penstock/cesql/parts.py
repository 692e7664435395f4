"""The code of the parts of an expression: variables, attributes and casts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from penstock.cesql.code import REFUSE, Block
from penstock.cesql.values import CASTS, GREATEST, SMALLEST, Kind, Value, castable, primitive


@dataclass(slots=True)
class Part:
    """The code of one node: statements, then an expression that cannot fail.

    An `atom` is a variable or a literal; an expression that is `compound` has logic in it.
    A part with an `attribute` may still be None when it runs; one with a `literal` has no body.
    Parts are changed in place, so that a long chain of operators is compiled in linear time;
    each variable belongs to one part.
    """

    result: str
    kind: Kind | None = bool
    body: Block = field(default_factory=list)
    atom: bool = False
    compound: bool = False
    attribute: str | None = None
    literal: Value | None = None
    height: int = 0

    def put(self, name: str) -> None:
        """Assign the value to a variable, which is the result from now on."""
        self.body.append(f"{name} = {self.result}")
        self.result, self.atom, self.compound, self.literal = name, True, False, None

    def when(self, test: str, body: Block, height: int = 0) -> None:
        """Add statements under a condition."""
        self.body += [f"if {test}:", body]
        self.height = max(self.height, height + 1)

    def absorb(self, other: Part) -> None:
        """Move the statements of another part here."""
        self.body += other.body
        self.height = max(self.height, other.height)
        other.body = []


def literal(value: Value) -> Part:
    """Return the part of a value."""
    return Part(repr(value), value.__class__, atom=True, literal=value)


def _attribute_as(cast: Callable[[Value], Value], value: object, name: str) -> Value:
    return cast(primitive(value, name))


SCOPE: Mapping[str, object] = {
    "primitive": primitive,
    **{kind.__name__: kind for kind in CASTS},
    **{f"to_{kind.__name__}": cast for kind, cast in CASTS.items()},
    **{f"attribute_{kind.__name__}": partial(_attribute_as, CASTS[kind]) for kind in CASTS},
}


class Caster:
    """Gives parts the types that operators want.

    Where `quiet`, a missing attribute makes the function refuse, else it is an error.
    """

    def __init__(self, *, quiet: bool) -> None:
        self._quiet = quiet
        self._count = 0

    def new(self) -> str:
        """Return a fresh variable."""
        self._count += 1
        return f"v{self._count}"

    def plain(self, part: Part) -> str:
        """Return a part's value as a variable or literal, so that expressions stay flat."""
        if not part.atom:
            part.put(self.new())
        return part.result

    def condition(self, part: Part) -> str:
        """Return a part's value as an expression that may stand below one more operator."""
        if part.compound:
            part.put(self.new())
        return part.result

    def variable(self, part: Part) -> str:
        """Return the variable that holds a part's value."""
        if not part.atom or part.literal is not None:
            part.put(self.new())
        return part.result

    def settled(self, part: Part) -> Part:
        """Make sure that a part's value is a Boolean, Integer or String, and not missing."""
        return part if part.attribute is None else self._checked(part, None)

    def cast(self, part: Part, kind: Kind | None) -> Part:
        """Make sure that a part's value is of the given type, or None for any."""
        if kind is None:
            return self.settled(part)
        if part.kind is kind:
            return part
        if part.attribute is not None:
            return self._checked(part, kind)
        if part.literal is not None:
            value = castable(part.literal, kind)
            if value is not None:
                return literal(value)
        name, target = self.variable(part), kind.__name__
        part.when(f"{name}.__class__ is not {target}", [f"{name} = to_{target}({name})"])
        part.kind = kind
        return part

    def _checked(self, part: Part, kind: Kind | None) -> Part:
        name = self.variable(part)
        convert = f"attribute_{kind.__name__}" if kind else "primitive"
        unusual: Block = [f"{name} = {convert}({name}, {part.attribute!r})"]
        if self._quiet:
            unusual = [f"if {name} is None:", [REFUSE], *unusual]
        test = f"{name}.__class__ is not {(kind or str).__name__}"
        if kind is int:
            # Old events may carry longer integers, which are Strings here.
            test = f"{test} or not {SMALLEST} <= {name} <= {GREATEST}"
        part.when(test, unusual, 1)
        part.kind, part.attribute = kind, None
        return part

    def operands(self, parts: list[Part], kinds: Sequence[Kind | None]) -> tuple[Part, list[str]]:
        """Return code that first evaluates all parts, then casts them, both in order."""
        together = Part("")
        if parts:
            together.body, parts[0].body = parts[0].body, []
        if not _is_direct(parts, kinds):
            for part in parts:
                together.absorb(self.settled(part))
        values = []
        for part, kind in zip(parts, kinds, strict=True):
            cast = self.cast(part, kind)
            values.append(self.plain(cast))
            together.absorb(cast)
        return together, values


def _is_direct(parts: Sequence[Part], kinds: Sequence[Kind | None]) -> bool:
    """Tell whether the one part that can fail may be cast as soon as it is evaluated."""
    literals = [
        kind is None or castable(part.literal, kind) is not None
        for part, kind in zip(parts, kinds, strict=True)
        if part.literal is not None
    ]
    return len(literals) >= len(parts) - 1 and all(literals)
