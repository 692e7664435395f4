"""The attributes of events as columns, as `CloudEvent.value` and `CloudEvent.text` read them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812 - its usual name

from penstock.formats import arrow
from penstock.pipeline.columns_extensions import Flat, Nested

PLAIN = frozenset({"id", "source", "specversion", "time", "type"})
"""These lie in one column of texts, whatever the version."""
ALWAYS = PLAIN - {"time"}
"""These no event lacks."""
_OLD_NAMES = {"contenttype": "datacontenttype", "schemaurl": "dataschema"}


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
    """Return the columns of an attribute, which lies where the version of an event has it."""
    core = _OLD_NAMES.get(name, name)
    plain, flat, nested = _Plain(core), Flat(name), Nested(name)
    old = F.col("specversion") == "0.2"
    if core not in arrow.CORE:
        return _Chosen(old, nested, flat)
    if name in PLAIN:
        return plain
    if name == "subject":
        return _Chosen(old, nested, plain)
    if name in _OLD_NAMES:
        return _Chosen(~old & flat.present, flat, plain)
    return _Chosen(old & nested.present, nested, plain)


def homes(name: str) -> set[str]:
    """Return the columns in which an attribute may lie."""
    core = _OLD_NAMES.get(name, name)
    found = {core} & set(arrow.CORE)
    return found if name in PLAIN else found | {"extensions"}


class _Plain:
    """A column of texts."""

    def __init__(self, column: str) -> None:
        self._column = column

    @property
    def present(self) -> Column:
        return F.col(self._column).isNotNull()

    @property
    def text(self) -> Column:
        return F.col(self._column)

    written = string = text

    @property
    def integer(self) -> Column:
        return F.lit(None).cast("int")

    @property
    def boolean(self) -> Column:
        return F.lit(None).cast("boolean")


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
        return F.when(self.test, self.yes.integer).otherwise(self.no.integer)

    @property
    def boolean(self) -> Column:
        return F.when(self.test, self.yes.boolean).otherwise(self.no.boolean)
