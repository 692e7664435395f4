"""The drafts of JSON Schema, read as one language: that of 2020-12."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from penstock.schemas.document import Json

_ASSERTIONS = frozenset(
    {
        *("$ref", "allOf", "anyOf", "oneOf", "not", "if", "then", "else"),
        *("type", "enum", "const"),
        *("multipleOf", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"),
        *("minLength", "maxLength", "pattern"),
        *("minItems", "maxItems", "uniqueItems", "contains", "items", "prefixItems"),
        *("minProperties", "maxProperties", "required", "properties", "patternProperties"),
        *("additionalProperties", "propertyNames", "dependentRequired", "dependentSchemas"),
    }
)
_SINCE_2019 = frozenset(
    {"unevaluatedItems", "unevaluatedProperties", "minContains", "maxContains"},
)


@dataclass(frozen=True, slots=True)
class Draft:
    """One draft: its address, and the keywords that can refuse a value."""

    version: str
    address: str
    asserts: frozenset[str]
    has_tuples_in_items: bool
    ref_hides_siblings: bool = False

    def keywords(self, schema: Mapping[str, Json]) -> dict[str, Json]:
        """Return what can refuse a value, in the words of draft 2020-12."""
        if self.ref_hides_siblings and "$ref" in schema:
            return {"$ref": schema["$ref"]}
        found = {key: schema[key] for key in schema.keys() & self.asserts}
        if self.has_tuples_in_items:
            _rename_items(schema, found)
        if "dependencies" in schema:
            _split_dependencies(schema["dependencies"], found)
        return found

    def spelling(self, word: str, words: Mapping[str, Json]) -> str:
        """Return how the draft itself spells a keyword of 2020-12."""
        if self.ref_hides_siblings and word in {"dependentRequired", "dependentSchemas"}:
            return "dependencies"
        if self.has_tuples_in_items and word == "prefixItems":
            return "items"
        if self.has_tuples_in_items and word == "items" and "prefixItems" in words:
            return "additionalItems"
        return word


def _rename_items(schema: Mapping[str, Json], found: dict[str, Json]) -> None:
    found.pop("prefixItems", None)
    if isinstance(schema.get("items"), list):
        found["prefixItems"] = found.pop("items")
        if "additionalItems" in schema:
            found["items"] = schema["additionalItems"]


def _split_dependencies(dependencies: Json, found: dict[str, Json]) -> None:
    # Later drafts keep the word for old documents, so it counts in all of them.
    for name, wanted in dependencies.items():
        word = "dependentRequired" if isinstance(wanted, list) else "dependentSchemas"
        found[word] = {**found.get(word, {}), name: wanted}


DRAFT_07 = Draft(
    "draft-07",
    "http://json-schema.org/draft-07/schema",
    _ASSERTIONS - {"dependentRequired", "dependentSchemas"}
    | {"format", "contentEncoding", "contentMediaType"},
    has_tuples_in_items=True,
    ref_hides_siblings=True,
)
DRAFT_2019 = Draft(
    "draft/2019-09",
    "https://json-schema.org/draft/2019-09/schema",
    _ASSERTIONS | _SINCE_2019 | {"$recursiveRef"},
    has_tuples_in_items=True,
)
DRAFT_2020 = Draft(
    "draft/2020-12",
    "https://json-schema.org/draft/2020-12/schema",
    _ASSERTIONS | _SINCE_2019 | {"$dynamicRef"},
    has_tuples_in_items=False,
)
DRAFTS: Mapping[str, Draft] = {one.version: one for one in (DRAFT_07, DRAFT_2019, DRAFT_2020)}
