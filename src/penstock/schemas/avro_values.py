"""JSON values against Avro types: defaults of fields, and data in Avro's JSON encoding."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from penstock.errors import Problem
from penstock.schemas.avro_tree import (
    MISSING,
    Array,
    Enum,
    Fixed,
    Map,
    Primitive,
    Record,
    Tree,
    Type,
    Union,
    kind_of,
)
from penstock.schemas.document import DEEPEST, Json, escape

_BYTES = re.compile("[\u0000-\u00ff]*", re.DOTALL)
_BITS = {"int": 31, "long": 63}


@dataclass(frozen=True, slots=True)
class Values:
    """Checks JSON values against the types of one tree."""

    tree: Tree
    any_branch: bool = True

    def default_problems(self, type_: Type, value: Json) -> Iterator[Problem]:
        """Yield why a value cannot be the default of a type; unions take no wrapping there."""
        return self._problems(type_, value, "", is_default=True)

    def problems(self, type_: Type, value: Json) -> Iterator[Problem]:
        """Yield why a value is not the JSON encoding of a type."""
        return self._problems(type_, value, "", is_default=False)

    def _problems(
        self, type_: Type, value: Json, path: str, *, is_default: bool
    ) -> Iterator[Problem]:
        if path.count("/") > DEEPEST:
            yield Problem("", "the value is nested too deeply")
            return
        match self.tree.resolved(type_):
            case Union() as union:
                yield from self._union(union, value, path, is_default=is_default)
            case Array(items=items):
                yield from self._array(items, value, path, is_default=is_default)
            case Map(values=values):
                yield from self._map(values, value, path, is_default=is_default)
            case Record() as record:
                yield from self._record(record, value, path, is_default=is_default)
            case leaf:
                fault = _leaf_fault(leaf, value)
                if fault:
                    yield Problem(path, fault)

    def _union(
        self, union: Union, value: Json, path: str, *, is_default: bool
    ) -> Iterator[Problem]:
        if is_default:
            branches = union.branches if self.any_branch else union.branches[:1]
            attempts = [list(self._problems(one, value, path, is_default=True)) for one in branches]
            if all(attempts):
                yield attempts[0][0]
            return
        if value is None:
            if not any(kind_of(one) == "null" for one in union.branches):
                yield Problem(path, "null is not one of the union's types")
            return
        if not isinstance(value, dict) or len(value) != 1:
            yield Problem(path, "must be null or an object with the type as its key")
            return
        ((name, inner),) = value.items()
        chosen = [one for one in union.branches if name == kind_of(one)]
        if not chosen:
            yield Problem(path, f"{name!r} is not one of the union's types")
            return
        yield from self._problems(chosen[0], inner, f"{path}/{escape(name)}", is_default=False)

    def _array(self, items: Type, value: Json, path: str, *, is_default: bool) -> Iterator[Problem]:
        if not isinstance(value, list):
            yield Problem(path, "must be an array")
            return
        for at, item in enumerate(value):
            yield from self._problems(items, item, f"{path}/{at}", is_default=is_default)

    def _map(self, values: Type, value: Json, path: str, *, is_default: bool) -> Iterator[Problem]:
        if not isinstance(value, dict):
            yield Problem(path, "must be an object")
            return
        for key, item in value.items():
            yield from self._problems(values, item, f"{path}/{escape(key)}", is_default=is_default)

    def _record(
        self, record: Record, value: Json, path: str, *, is_default: bool
    ) -> Iterator[Problem]:
        if not isinstance(value, dict):
            yield Problem(path, "must be an object")
            return
        for field in record.fields:
            below = f"{path}/{field.name}"
            if field.name in value:
                yield from self._problems(
                    field.type, value[field.name], below, is_default=is_default
                )
            elif not is_default or field.default is MISSING:
                yield Problem(below, "is missing")
        for name in value.keys() - {field.name for field in record.fields}:
            yield Problem(f"{path}/{escape(name)}", "is not a field of the record")


def _leaf_fault(type_: Type, value: Json) -> str | None:
    match type_:
        case Primitive(kind=kind):
            return _primitive_fault(kind, value)
        case Enum(symbols=symbols):
            return None if value in symbols else f"{value!r:.80} is not one of the symbols"
        case Fixed(size=size):
            return _fixed_fault(size, value)
    return None


def _primitive_fault(kind: str, value: Json) -> str | None:
    match kind, value:
        case ("null", None) | ("boolean", bool()) | ("string", str()):
            return None
        case ("int" | "long", int()) if not isinstance(value, bool):
            bits = _BITS[kind]
            return (
                None if -(1 << bits) <= value < 1 << bits else f"{value} does not fit into {kind}"
            )
        case ("float" | "double", int() | float()) if not isinstance(value, bool):
            return None
        case ("float" | "double", "NaN" | "Infinity" | "-Infinity"):
            return None
        case "bytes", str():
            return None if _BYTES.fullmatch(value) else "must have characters up to U+00FF only"
    return f"must be of type {kind}"


def _fixed_fault(size: int, value: Json) -> str | None:
    if not isinstance(value, str) or not _BYTES.fullmatch(value):
        return "must be a string with characters up to U+00FF only"
    return None if len(value) == size else f"must be {size} bytes long, not {len(value)}"
