"""Members of the JSON object in the column of extensions, as it is written there.

Reading it by regular expressions takes a tenth of the time that Spark's JSON functions take, and
gives fractions and maps the text that Python wrote, which those functions do not.
"""

from __future__ import annotations

from functools import cached_property

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812 - its usual name

# Repetitions are possessive: Java runs those without recursion.
_STRING = r'"(?:[^"\\]++|\\.)*+"'
# One more than events may have.
_DEEPEST = 101


def _nesting() -> str:
    pattern = ""
    for _ in range(_DEEPEST):
        pattern = rf'|[\[{{](?:[^\[\]{{}}"]++|{_STRING}{pattern})*+[\]}}]'
    return pattern


_VALUE = rf'(?:{_STRING}|[^"\[\]{{}},]++{_nesting()})'


class Flat:
    """A Boolean, Integer or String, in an object that holds no others.

    Its key is found wherever it stands, since quotes inside of strings are escaped.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._key = f'"{name}":'
        self._extensions = F.col("extensions")

    @property
    def present(self) -> Column:
        found = self._extensions.rlike(rf"{self._key}(?!null[,}}])")
        return F.coalesce(found, F.lit(False))  # noqa: FBT003 - a value

    @property
    def text(self) -> Column:
        unescaped = F.get_json_object(self._extensions, f"$.{self._name}")
        plain = self._found(r'"?+((?<=")[^"]*+|[^",}]++)')
        text = F.when(self._extensions.contains("\\"), unescaped).otherwise(plain)
        return F.when(self.present, text)

    written = text

    @property
    def string(self) -> Column:
        return F.when(self.integer.isNull() & self.boolean.isNull(), self.text)

    @property
    def integer(self) -> Column:
        return self._found(r"(-?[0-9]++)[,}]").try_cast("int")

    @property
    def boolean(self) -> Column:
        return self._found(r"(true|false)[,}]").try_cast("boolean")

    def _found(self, pattern: str) -> Column:
        return F.regexp_extract(self._extensions, self._key + pattern, 1)


class Nested:
    """Any value, in an object that may hold others."""

    def __init__(self, name: str) -> None:
        self._name = name

    @cached_property
    def _raw(self) -> Column:
        """Return the value as it is written; null or empty if there is none."""
        key, extensions = f'"{self._name}":', F.col("extensions")
        pattern = rf"\A\{{(?:(?!{key}){_STRING}:{_VALUE},)*+{key}(?!null[,}}])({_VALUE})"
        return F.when(extensions.contains(key), F.regexp_extract(extensions, pattern, 1))

    @cached_property
    def _quoted(self) -> Column:
        unescaped = F.get_json_object("extensions", f"$.{self._name}")
        return F.when(self._raw.startswith('"'), unescaped)

    @property
    def present(self) -> Column:
        return F.coalesce(self._raw != "", F.lit(False))  # noqa: FBT003 - a value

    @property
    def text(self) -> Column:
        return F.coalesce(self._quoted, F.when(self._raw.rlike(r"\A[^\[{]"), self._raw))

    @property
    def written(self) -> Column:
        return F.coalesce(self._quoted, F.when(self._raw != "", self._raw))

    @property
    def string(self) -> Column:
        other = (self._raw != "") & self.integer.isNull() & self.boolean.isNull()
        return F.coalesce(self._quoted, F.when(other, self._raw))

    @cached_property
    def integer(self) -> Column:
        return F.regexp_extract(self._raw, r"\A(-?[0-9]++)\z", 1).try_cast("int")

    @cached_property
    def boolean(self) -> Column:
        return F.regexp_extract(self._raw, r"\A(true|false)\z", 1).try_cast("boolean")
