"""The attributes of events as columns, as `CloudEvent.value` and `CloudEvent.text` read them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812 - its usual name

from penstock.formats import arrow

PLAIN = frozenset({"id", "source", "specversion", "time", "type"})
"""These lie in one column of texts, whatever the version."""
_OLD_NAMES = {"contenttype": "datacontenttype", "schemaurl": "dataschema"}
_NEW_NAMES = frozenset(_OLD_NAMES.values())

# A value among the extensions, as it is written there: only so is the text of a map or fraction
# the one that Python writes. Repetitions are possessive: Java runs those without recursion.
_STRING = r'"(?:[^"\\]++|\\.)*+"'
_DEEPEST = 101


def _nested() -> str:
    pattern = ""
    for _ in range(_DEEPEST):
        pattern = rf'[\[{{](?:[^\[\]{{}}"]++|{_STRING}{pattern})*+[\]}}]'
        pattern = f"|{pattern}"
    return pattern


_VALUE = rf'(?:{_STRING}|[^"\[\]{{}},]++{_nested()})'


class Attribute(Protocol):
    """What is known of one attribute; every column but the first is null when it is absent.

    Of `string`, `integer` and `boolean`, those of other types than the value are null: as in CESQL,
    what is neither Boolean nor Integer of 32 bits is a String.
    """

    @property
    def present(self) -> Column:
        """Return whether the attribute is there, never null."""
        ...

    @property
    def text(self) -> Column:
        """Return what filters compare, null for a map or list."""
        ...

    @property
    def written(self) -> Column:
        """Return what CESQL makes of any value that is cast to a String."""
        ...

    @property
    def string(self) -> Column: ...
    @property
    def integer(self) -> Column: ...
    @property
    def boolean(self) -> Column: ...


def attribute(name: str) -> Attribute:
    """Return the columns of an attribute."""
    core = _OLD_NAMES.get(name, name)
    if core not in arrow.CORE:
        return _Extension(name)
    plain = _Plain(F.col(core))
    if name in PLAIN:
        return plain
    other = _Extension(name)
    return _Chosen(_is_extension(name, other), other, plain)


def homes(name: str) -> set[str]:
    """Return the columns in which an attribute may lie."""
    core = _OLD_NAMES.get(name, name)
    found = {core} & set(arrow.CORE)
    return found if name in PLAIN else found | {"extensions"}


class _Plain:
    """A column of texts."""

    def __init__(self, column: Column) -> None:
        self.text = self.written = self.string = column

    @property
    def present(self) -> Column:
        return self.text.isNotNull()

    @property
    def integer(self) -> Column:
        return F.lit(None).cast("int")

    @property
    def boolean(self) -> Column:
        return F.lit(None).cast("boolean")


class _Extension:
    """A member of the JSON object in the column of extensions."""

    def __init__(self, name: str) -> None:
        self._name = name

    @cached_property
    def _raw(self) -> Column:
        """Return the value as it is written; null or empty if there is none."""
        key, extensions = f'"{self._name}":', F.col("extensions")
        pattern = rf"\A\{{(?:(?!{key}){_STRING}:{_VALUE},)*+{key}(?!null[,}}])({_VALUE})"
        # Most events do not have it, which is quick to see.
        return F.when(extensions.contains(key), F.regexp_extract(extensions, pattern, 1))

    @cached_property
    def _quoted(self) -> Column:
        unquoted = F.get_json_object("extensions", f"$.{self._name}")
        return F.when(self._raw.startswith('"'), unquoted)

    @property
    def present(self) -> Column:
        return F.coalesce(self._raw != "", F.lit(False))  # noqa: FBT003 - a value

    @property
    def text(self) -> Column:
        return F.coalesce(self._quoted, F.when(self._raw.rlike(r"\A[^\[{]"), self._raw))

    @property
    def written(self) -> Column:
        return F.coalesce(self._quoted, F.when(self._raw != "", self._raw))

    @cached_property
    def string(self) -> Column:
        other = (self._raw != "") & self.integer.isNull() & self.boolean.isNull()
        return F.coalesce(self._quoted, F.when(other, self._raw))

    @cached_property
    def integer(self) -> Column:
        return F.regexp_extract(self._raw, r"\A(-?[0-9]++)\z", 1).try_cast("int")

    @cached_property
    def boolean(self) -> Column:
        return F.regexp_extract(self._raw, r"\A(true|false)\z", 1).try_cast("boolean")


def _is_extension(name: str, other: Attribute) -> Column:
    """Return whether the extension counts, not the column, as the version has it."""
    old = F.col("specversion") == "0.2"
    if name == "subject":
        return old
    return (old if name in _NEW_NAMES else ~old) & other.present


@dataclass(frozen=True, slots=True)
class _Chosen:
    """One of two attributes for each event."""

    test: Column
    yes: Attribute
    no: Attribute

    @property
    def present(self) -> Column:
        return F.when(self.test, self.yes.present).otherwise(self.no.present)

    @property
    def text(self) -> Column:
        return F.when(self.test, self.yes.text).otherwise(self.no.text)

    @property
    def written(self) -> Column:
        return F.when(self.test, self.yes.written).otherwise(self.no.written)

    @property
    def string(self) -> Column:
        return F.when(self.test, self.yes.string).otherwise(self.no.string)

    @property
    def integer(self) -> Column:
        return F.when(self.test, self.yes.integer)

    @property
    def boolean(self) -> Column:
        return F.when(self.test, self.yes.boolean)
