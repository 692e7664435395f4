"""The dialect `attributes`: the attribute map of a Knative trigger."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

from penstock.cesql.lookups import Cover, Lookup, best
from penstock.errors import ResourceError
from penstock.filters.base import Attributes, Place, read_texts, text_problems


@dataclass(frozen=True, slots=True)
class AttributeMap:
    """Matches events that have all named attributes, equal to the text where one is given."""

    texts: Mapping[str, str]

    def __post_init__(self) -> None:
        problems = text_problems(self.texts, "attributes", may_be_empty=True)
        if problems:
            raise ResourceError(problems)

    def __hash__(self) -> int:
        return hash(frozenset(self.texts.items()))

    @classmethod
    def read(cls, value: object, at: Place) -> Self:
        """Return the filter for a JSON object; an empty text asks for presence only."""
        return cls(read_texts(value, at.path, may_be_empty=True))

    def matches(self, event: Attributes) -> bool:
        for name, text in self.texts.items():
            if text and event.text(name) != text:
                return False
            if not text and event.value(name) is None:
                return False
        return True

    def names(self) -> frozenset[str]:
        return frozenset(self.texts)

    def cover(self) -> Cover:
        given = ((name, text) for name, text in self.texts.items() if text)
        return best(frozenset({Lookup("exact", name, text)}) for name, text in given)

    def document(self) -> Mapping[str, object]:
        return {"attributes": dict(self.texts)}
