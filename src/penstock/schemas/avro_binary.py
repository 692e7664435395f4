"""Data in Avro's binary encoding, walked byte by byte against its schema.

The walk is our own because a decoder that recurses in C can be made to overflow its stack by
data, and because an array of nulls can claim any length in a few bytes.
"""

from __future__ import annotations

from dataclasses import dataclass

from penstock.errors import Problem
from penstock.schemas.avro_tree import (
    Array,
    Enum,
    Fixed,
    Map,
    Primitive,
    Record,
    Tree,
    Type,
    Union,
)
from penstock.schemas.document import DEEPEST

_LONGEST_NUMBER = {"int": 5, "long": 10}
_WIDTH = {"null": 0, "float": 4, "double": 8}
# Values that take no bytes are free for the sender, so their number is bounded.
_MOST_VALUES = 100_000


class _BadDataError(Exception):
    def __init__(self, path: str, message: str) -> None:
        self.problem = Problem(path, message)
        super().__init__(message)


def binary_problems(tree: Tree, type_: Type, data: bytes) -> tuple[Problem, ...]:
    """Return the first fault of binary data, if any; what follows it cannot be read."""
    walk = _Walk(tree, data)
    try:
        walk.value(type_, "", 0)
    except _BadDataError as exc:
        return (exc.problem,)
    left = len(data) - walk.offset
    return (Problem("", f"{left} bytes are left over after the value"),) if left else ()


@dataclass(slots=True)
class _Walk:
    tree: Tree
    data: bytes
    offset: int = 0
    values: int = 0

    def value(self, type_: Type, path: str, depth: int) -> None:
        self._count(path, depth)
        match self.tree.resolved(type_):
            case Record(fields=fields):
                for field in fields:
                    self.value(field.type, f"{path}/{field.name}", depth + 1)
            case Union(branches=branches):
                self.value(branches[self._index(len(branches), path)], path, depth + 1)
            case Array(items=items):
                self._blocks(items, path, depth, is_map=False)
            case Map(values=values):
                self._blocks(values, path, depth, is_map=True)
            case leaf:
                self._leaf(leaf, path)

    def _leaf(self, type_: Type, path: str) -> None:
        match type_:
            case Primitive(kind=kind):
                self._primitive(kind, path)
            case Enum(symbols=symbols):
                self._index(len(symbols), path)
            case Fixed(size=size):
                self._take(size, path)

    def _count(self, path: str, depth: int) -> None:
        self.values += 1
        if depth > DEEPEST:
            raise _BadDataError("", f"the data is nested deeper than {DEEPEST} levels")
        if self.values > _MOST_VALUES + len(self.data):
            raise _BadDataError(path, "the data has too many values that take no bytes")

    def _take(self, size: int, path: str) -> bytes:
        end = self.offset + size
        if size < 0 or end > len(self.data):
            raise _BadDataError(path, f"the data ends early, at byte {len(self.data)}")
        taken = self.data[self.offset : end]
        self.offset = end
        return taken

    def _number(self, kind: str, path: str) -> int:
        number = shift = 0
        for _ in range(_LONGEST_NUMBER[kind]):
            (byte,) = self._take(1, path)
            number |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:  # noqa: PLR2004
                return self._zigzag(number, kind, path)
        raise _BadDataError(path, f"the {kind} at byte {self.offset} is too long")

    def _zigzag(self, number: int, kind: str, path: str) -> int:
        if number >= 1 << (32 if kind == "int" else 64):
            raise _BadDataError(path, f"the number before byte {self.offset} does not fit {kind}")
        return (number >> 1) ^ -(number & 1)

    def _index(self, count: int, path: str) -> int:
        index = self._number("int", path)
        if not 0 <= index < count:
            raise _BadDataError(path, f"there is no choice {index} among {count}")
        return index

    def _primitive(self, kind: str, path: str) -> None:
        if kind in _WIDTH:
            self._take(_WIDTH[kind], path)
        elif kind in _LONGEST_NUMBER:
            self._number(kind, path)
        elif kind == "boolean":
            if self._take(1, path) not in (b"\x00", b"\x01"):
                raise _BadDataError(path, "a boolean must be the byte 0 or 1")
        else:
            self._text(kind, path)

    def _text(self, kind: str, path: str) -> None:
        taken = self._take(self._number("long", path), path)
        if kind == "string":
            try:
                taken.decode()
            except UnicodeDecodeError as exc:
                raise _BadDataError(path, "the string is not UTF-8") from exc

    def _blocks(self, items: Type, path: str, depth: int, *, is_map: bool) -> None:
        number = 0
        while count := self._number("long", path):
            if count < 0:
                # A negative count is followed by the size of the block in bytes.
                self._number("long", path)
            for _ in range(abs(count)):
                if is_map:
                    self._text("string", path)
                self.value(items, f"{path}/{number}", depth + 1)
                number += 1
