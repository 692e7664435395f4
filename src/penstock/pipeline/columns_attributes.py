"""The attributes of events as columns, as `CloudEvent.value` and `CloudEvent.text` read them."""

from __future__ import annotations

from dataclasses import dataclass

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
_INTEGER = r"\A(-?[0-9]++)\z"
_BOOLEAN = r"\A(true|false)\z"


@dataclass(frozen=True, slots=True)
class Attribute:
    """What is known of one attribute; every column but the first is null when it is absent.

    `string`, `integer` and `boolean` are null, too, when the value is of another type: as in
    CESQL, what is neither Boolean nor Integer of 32 bits is a String.
    """

    present: Column
    text: Column
    """What filters compare; null for a map or list."""
    written: Column
    """What CESQL makes of any value that it casts to a String."""
    string: Column
    integer: Column | None = None
    boolean: Column | None = None


def attribute(name: str) -> Attribute:
    """Return the columns of an attribute."""
    core = _OLD_NAMES.get(name, name)
    if core not in arrow.CORE:
        return _extension(name)
    plain = _plain(core)
    if name in PLAIN:
        return plain
    other = _extension(name)
    return _chosen(_is_extension(name, other), other, plain)


def homes(name: str) -> set[str]:
    """Return the columns in which an attribute may lie."""
    core = _OLD_NAMES.get(name, name)
    found = {core} & set(arrow.CORE)
    return found if name in PLAIN else found | {"extensions"}


def _plain(column: str) -> Attribute:
    text = F.col(column)
    return Attribute(text.isNotNull(), text, text, text)


def _extension(name: str) -> Attribute:
    extensions = F.col("extensions")
    pattern = rf'\A\{{(?:(?!"{name}":){_STRING}:{_VALUE},)*+"{name}":(?!null[,}}])({_VALUE})'
    # Most events do not have it, which is quick to see.
    raw = F.when(extensions.contains(f'"{name}":'), F.regexp_extract(extensions, pattern, 1))
    quoted = F.when(raw.startswith('"'), F.get_json_object(extensions, f"$.{name}"))
    integer = F.regexp_extract(raw, _INTEGER, 1).try_cast("int")
    boolean = F.regexp_extract(raw, _BOOLEAN, 1).try_cast("boolean")
    other = (raw != "") & integer.isNull() & boolean.isNull()
    return Attribute(
        F.coalesce(raw != "", F.lit(False)),  # noqa: FBT003 - a value
        F.coalesce(quoted, F.when(raw.rlike(r"\A[^\[{]"), raw)),
        F.coalesce(quoted, F.when(raw != "", raw)),
        F.coalesce(quoted, F.when(other, raw)),
        integer,
        boolean,
    )


def _is_extension(name: str, other: Attribute) -> Column:
    """Return whether the extension counts, not the column, as the version has it."""
    old = F.col("specversion") == "0.2"
    if name == "subject":
        return old
    return (old if name in _NEW_NAMES else ~old) & other.present


def _chosen(test: Column, yes: Attribute, no: Attribute) -> Attribute:
    return Attribute(
        F.when(test, yes.present).otherwise(no.present),
        F.when(test, yes.text).otherwise(no.text),
        F.when(test, yes.written).otherwise(no.written),
        F.when(test, yes.string).otherwise(no.string),
        F.when(test, yes.integer),
        F.when(test, yes.boolean),
    )
