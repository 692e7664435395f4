"""From an Avro schema document to its tree, with every fault and its JSON Pointer."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from penstock.errors import Problem, ResourceError
from penstock.schemas.avro_tree import (
    MISSING,
    PRIMITIVES,
    Array,
    Enum,
    Field,
    Fixed,
    Logical,
    Map,
    Named,
    Primitive,
    Record,
    Reference,
    Tree,
    Type,
    Union,
    kind_of,
)
from penstock.schemas.avro_values import Values
from penstock.schemas.document import Json

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
_FULL_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*", re.ASCII)
_BROKEN = Primitive("null")

_LOGICAL_OF = {
    "int": {"date", "time-millis"},
    "long": {
        *("time-micros", "timestamp-millis", "timestamp-micros", "timestamp-nanos"),
        *("local-timestamp-millis", "local-timestamp-micros", "local-timestamp-nanos"),
    },
    "string": {"uuid"},
    "bytes": {"decimal", "big-decimal"},
    "fixed": {"decimal", "duration", "uuid"},
}
ENUM_DEFAULTS_SINCE = (1, 9)
ANY_BRANCH_DEFAULTS_SINCE = (1, 12)


@dataclass(slots=True)
class Reader:
    """Reads one document; used once."""

    version: tuple[int, ...]
    named: dict[str, Named] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    defaults: list[tuple[str, Type, Json]] = field(default_factory=list)

    def read(self, document: Json) -> Tree:
        """Return the tree of a document, or raise ResourceError with every fault."""
        root = self._type(document, "", "")
        tree = Tree(root, self.named)
        if not self.problems:
            self._check_defaults(tree)
        if self.problems:
            raise ResourceError(self.problems)
        return tree

    def _fault(self, path: str, message: str) -> Type:
        self.problems.append(Problem(path, message))
        return _BROKEN

    def _check_defaults(self, tree: Tree) -> None:
        values = Values(tree, any_branch=self.version >= ANY_BRANCH_DEFAULTS_SINCE)
        for path, type_, default in self.defaults:
            for problem in values.default_problems(type_, default):
                message = f"the default does not fit the type: {problem.message}"
                self.problems.append(Problem(f"{path}{problem.path}", message))

    def _type(self, schema: Json, path: str, space: str) -> Type:
        match schema:
            case str():
                return self._by_name(schema, path, space)
            case list():
                return self._union(schema, path, space)
            case {"type": str(kind)}:
                return self._typed(kind, schema, path, space)
            case {"type": (dict() | list()) as inner}:
                return self._type(inner, f"{path}/type", space)
            case dict():
                return self._fault(path, "must have a 'type'")
        return self._fault(path, "must be a type name, an object or an array of types")

    def _by_name(self, name: str, path: str, space: str) -> Type:
        if name in PRIMITIVES:
            return Primitive(name)
        full = name if "." in name or not space else f"{space}.{name}"
        if full in self.named:
            return Reference(full)
        if name in self.named:
            return Reference(name)
        return self._fault(path, f"unknown type {name!r}; a name must be defined before its use")

    def _typed(self, kind: str, schema: dict[str, Json], path: str, space: str) -> Type:
        if kind in PRIMITIVES:
            return Primitive(kind, _logical(kind, schema))
        readers: Mapping[str, Callable[[dict[str, Json], str, str], Type]] = {
            "array": self._array,
            "map": self._map,
            "record": self._record,
            "error": self._record,
            "enum": self._enum,
            "fixed": self._fixed,
        }
        if kind in readers:
            return readers[kind](schema, path, space)
        return self._by_name(kind, f"{path}/type", space)

    def _union(self, branches: list[Json], path: str, space: str) -> Type:
        types = []
        seen: set[str] = set()
        for number, branch in enumerate(branches):
            type_ = self._type(branch, f"{path}/{number}", space)
            if isinstance(type_, Union):
                self._fault(f"{path}/{number}", "a union must not hold another union directly")
            elif kind_of(type_) in seen and type_ is not _BROKEN:
                self._fault(f"{path}/{number}", f"the union has {kind_of(type_)!r} twice")
            seen.add(kind_of(type_))
            types.append(type_)
        return Union(tuple(types)) if types else self._fault(path, "a union needs a branch")

    def _array(self, schema: dict[str, Json], path: str, space: str) -> Type:
        if "items" not in schema:
            return self._fault(path, "an array must have 'items'")
        return Array(self._type(schema["items"], f"{path}/items", space))

    def _map(self, schema: dict[str, Json], path: str, space: str) -> Type:
        if "values" not in schema:
            return self._fault(path, "a map must have 'values'")
        return Map(self._type(schema["values"], f"{path}/values", space))

    def _name(self, schema: dict[str, Json], path: str, space: str) -> str | None:
        name, given = schema.get("name"), schema.get("namespace")
        if not isinstance(name, str) or not _FULL_NAME.fullmatch(name):
            self._fault(f"{path}/name", f"{name!r} is not a name: use letters, digits and _")
            return None
        if given not in (None, "") and not (isinstance(given, str) and _FULL_NAME.fullmatch(given)):
            self._fault(f"{path}/namespace", f"{given!r} is not a namespace")
            return None
        inside = space if given is None else given
        full = name if "." in name or not inside else f"{inside}.{name}"
        if full in PRIMITIVES or full in self.named:
            self._fault(f"{path}/name", f"the name {full!r} is already taken")
            return None
        return full

    def _aliases(self, schema: dict[str, Json], path: str, space: str) -> tuple[str, ...]:
        aliases = schema.get("aliases", [])
        if not isinstance(aliases, list) or not all(isinstance(one, str) for one in aliases):
            self._fault(f"{path}/aliases", "must be an array of names")
            return ()
        return tuple(one if "." in one or not space else f"{space}.{one}" for one in aliases)

    def _record(self, schema: dict[str, Json], path: str, space: str) -> Type:
        name = self._name(schema, path, space)
        fields = schema.get("fields")
        if not isinstance(fields, list):
            return self._fault(f"{path}/fields", "a record must have an array of fields")
        if name is None:
            return _BROKEN
        inside = name.rpartition(".")[0]
        aliases = self._aliases(schema, path, inside)
        # Fields may refer to the record they are part of, so its name comes first.
        self.named[name] = Record(name)
        found = [self._field(one, f"{path}/fields/{at}", inside) for at, one in enumerate(fields)]
        known = tuple(one for one in found if one is not None)
        self._refuse_repeated([one.name for one in known], f"{path}/fields", "field")
        self.named[name] = Record(name, known, aliases)
        return Reference(name)

    def _field(self, schema: Json, path: str, space: str) -> Field | None:
        if not isinstance(schema, dict):
            self._fault(path, "a field must be an object")
            return None
        name = schema.get("name")
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            self._fault(f"{path}/name", f"{name!r} is not a field name")
            return None
        if "type" not in schema:
            self._fault(path, "a field must have a 'type'")
            return None
        type_ = self._type(schema["type"], f"{path}/type", space)
        default = schema.get("default", MISSING)
        if "default" in schema:
            self.defaults.append((f"{path}/default", type_, default))
        return Field(name, type_, default, self._aliases(schema, path, ""))

    def _enum(self, schema: dict[str, Json], path: str, space: str) -> Type:
        name, symbols = self._name(schema, path, space), schema.get("symbols")
        if not isinstance(symbols, list):
            return self._fault(f"{path}/symbols", "an enum must have an array of symbols")
        for at, symbol in enumerate(symbols):
            if not isinstance(symbol, str) or not _NAME.fullmatch(symbol):
                self._fault(f"{path}/symbols/{at}", f"{symbol!r} is not a symbol")
                return _BROKEN
        self._refuse_repeated(symbols, f"{path}/symbols", "symbol")
        default = schema.get("default") if self.version >= ENUM_DEFAULTS_SINCE else None
        if default is not None and default not in symbols:
            return self._fault(f"{path}/default", f"{default!r} is not one of the symbols")
        if name is None:
            return _BROKEN
        aliases = self._aliases(schema, path, name.rpartition(".")[0])
        self.named[name] = Enum(name, tuple(symbols), default, aliases)
        return Reference(name)

    def _fixed(self, schema: dict[str, Json], path: str, space: str) -> Type:
        name, size = self._name(schema, path, space), schema.get("size")
        if not isinstance(size, int) or isinstance(size, bool) or size < 0:
            return self._fault(f"{path}/size", "a fixed must have a size of 0 or more")
        if name is None:
            return _BROKEN
        aliases = self._aliases(schema, path, name.rpartition(".")[0])
        self.named[name] = Fixed(name, size, _logical("fixed", schema), aliases)
        return Reference(name)

    def _refuse_repeated(self, names: list[str], path: str, what: str) -> None:
        seen: set[str] = set()
        for at, name in enumerate(names):
            if name in seen:
                self._fault(f"{path}/{at}", f"the {what} {name!r} appears twice")
            seen.add(name)


def _logical(kind: str, schema: dict[str, Json]) -> Logical | None:
    name = schema.get("logicalType")
    if not isinstance(name, str) or name not in _LOGICAL_OF.get(kind, ()):
        return None
    if name != "decimal":
        return Logical(name)
    precision, scale = _count(schema.get("precision")), _count(schema.get("scale", 0))
    # The specification has readers ignore a decimal that makes no sense.
    if not precision or scale is None or scale > precision:
        return None
    return Logical(name, precision, scale)


def _count(value: Json) -> int | None:
    is_count = isinstance(value, int) and not isinstance(value, bool) and value >= 0
    return value if is_count else None
