"""Whether data written with one Avro schema can be read with another (Avro, Schema Resolution)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from penstock.errors import Problem
from penstock.schemas.avro_tree import (
    MISSING,
    Array,
    Enum,
    Field,
    Fixed,
    Map,
    Named,
    Primitive,
    Record,
    Tree,
    Type,
    Union,
    kind_of,
)
from penstock.schemas.base import Undecided

_PROMOTIONS: Mapping[str, frozenset[str]] = {
    "int": frozenset({"long", "float", "double"}),
    "long": frozenset({"float", "double"}),
    "float": frozenset({"double"}),
    "string": frozenset({"bytes"}),
    "bytes": frozenset({"string"}),
}

# Every branch of a union may have to be held against every branch of another.
_MOST_STEPS = 200_000

Problems = tuple[Problem, ...]


class _TooManyStepsError(Exception):
    pass


@dataclass(slots=True)
class Resolution:
    """Resolves the types of a reader, the new schema, against those of a writer, the old one."""

    reader: Tree
    writer: Tree
    # Records that are being compared count as equal, so that recursion ends.
    known: dict[tuple[str, str], Problems] = field(default_factory=dict)
    steps: int = 0

    def problems(self) -> Problems:
        """Return what keeps the reader from reading all that the writer can write."""
        try:
            return tuple(dict.fromkeys(self._resolve(self.reader.root, self.writer.root, "")))
        except (_TooManyStepsError, RecursionError):
            return (Undecided("", "the schemas are too large to be compared"),)

    def _resolve(self, new: Type, old: Type, path: str) -> Problems:
        new, old = self.reader.resolved(new), self.writer.resolved(old)
        if isinstance(old, Union):
            branches = (self._resolve(new, branch, path) for branch in old.branches)
            return tuple(problem for problems in branches for problem in problems)
        if isinstance(new, Union):
            return self._into_union(new, old, path)
        return self._parts(new, old, path)

    def _parts(self, new: Type, old: Type, path: str) -> Problems:
        match new, old:
            case Primitive(), Primitive():
                return _primitives(new, old, path)
            case (Array(mine), Array(theirs)) | (Map(mine), Map(theirs)):
                return self._resolve(mine, theirs, f"{path}[]")
            case (Record(), Record()) | (Enum(), Enum()) | (Fixed(), Fixed()):
                return self._named(new, old, path)
        return (Problem(path, f"{_word(old)} cannot be read as {_word(new)}"),)

    def _named(self, new: Type, old: Type, path: str) -> Problems:
        match new, old:
            case Enum(), Enum():
                return _names(new, old, path) or _enums(new, old, path)
            case Fixed(), Fixed():
                return _names(new, old, path) or _fixed(new, old, path)
            case Record(), Record():
                return _names(new, old, path) or self._records(new, old, path)
        return ()

    def _into_union(self, new: Union, old: Type, path: str) -> Problems:
        matching = [branch for branch in new.branches if self._matches(branch, old)]
        if not matching:
            return (Problem(path, f"{_word(old)} is not one of the union's types any more"),)
        problems = self._resolve(matching[0], old, path)
        if problems and not all(self._resolve(one, old, path) for one in matching[1:]):
            message = f"{_word(old)} fits only a later branch of the union; readers differ on that"
            return (Undecided(path, message),)
        return problems

    def _matches(self, new: Type, old: Type) -> bool:
        self.steps += 1
        if self.steps > _MOST_STEPS:
            raise _TooManyStepsError
        new, old = self.reader.resolved(new), self.writer.resolved(old)
        match new, old:
            case Primitive(kind=mine), Primitive(kind=theirs):
                return mine == theirs or mine in _PROMOTIONS.get(theirs, ())
            case (Array(items=mine), Array(items=theirs)) | (Map(mine), Map(theirs)):
                return self._matches(mine, theirs)
            case Fixed(), Fixed():
                return not _names(new, old, "") and new.size == old.size
            case (Record(), Record()) | (Enum(), Enum()):
                return not _names(new, old, "")
        return False

    def _records(self, new: Record, old: Record, path: str) -> Problems:
        pair = (new.name, old.name)
        if pair not in self.known:
            self.known[pair] = ()
            here = path or new.name
            written = {one.name: one for one in old.fields}
            self.known[pair] = tuple(
                problem
                for one in new.fields
                for problem in self._field(one, written, f"{here}.{one.name}")
            )
        return self.known[pair]

    def _field(self, new: Field, written: Mapping[str, Field], path: str) -> Problems:
        names = [name for name in (new.name, *new.aliases) if name in written]
        if names:
            return self._resolve(new.type, written[names[0]].type, path)
        if new.default is MISSING:
            return (Problem(path, "the field is new and has no default, so old data lacks it"),)
        return ()


def _primitives(new: Primitive, old: Primitive, path: str) -> Problems:
    if new.kind != old.kind and new.kind not in _PROMOTIONS.get(old.kind, ()):
        return (Problem(path, f"{old.kind} cannot be read as {new.kind}"),)
    return _logical(new, old, path)


def _logical(new: Primitive | Fixed, old: Primitive | Fixed, path: str) -> Problems:
    if new.logical == old.logical:
        return ()
    if new.logical and old.logical and new.logical.name == old.logical.name:
        return (Problem(path, "precision and scale of a decimal must stay as they are"),)
    before = old.logical.name if old.logical else "no logical type"
    after = new.logical.name if new.logical else "no logical type"
    message = f"the bytes can be read, but {before} became {after}, and that may mean otherwise"
    return (Undecided(path, message),)


def _names(new: Type, old: Type, path: str) -> Problems:
    if not isinstance(new, Named) or not isinstance(old, Named):
        return (Problem(path, "only named types have names"),)
    same = new.name.rpartition(".")[2] == old.name.rpartition(".")[2]
    if same or old.name in new.aliases:
        return ()
    message = f"{old.name} was renamed to {new.name}; give the new type the alias {old.name}"
    return (Problem(path or new.name, message),)


def _enums(new: Enum, old: Enum, path: str) -> Problems:
    gone = [symbol for symbol in old.symbols if symbol not in new.symbols]
    if not gone or new.default is not None:
        return ()
    listed = ", ".join(gone[:10])
    message = f"symbols that old data may have are gone, and there is no default: {listed}"
    return (Problem(path or new.name, message),)


def _fixed(new: Fixed, old: Fixed, path: str) -> Problems:
    if new.size != old.size:
        message = f"the size of {new.name} changed from {old.size} to {new.size} bytes"
        return (Problem(path or new.name, message),)
    return _logical(new, old, path or new.name)


def _word(type_: Type) -> str:
    return f"{kind_of(type_)} {type_.name}" if isinstance(type_, Named) else kind_of(type_)
