"""Which changes of JSON Schemas are compatible."""

from __future__ import annotations

from random import Random
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.errors import ResourceError
from penstock.schemas import Undecided, schema_format
from penstock.schemas.jsonschema import JsonSchema
from tests.schemas.evolution import COMPATIBLE, INCOMPATIBLE, Evolution, judged
from tests.schemas.evolutions_jsonschema import EVOLUTIONS, STRING
from tests.schemas.strategies import Schemas, values

LATEST = schema_format("JsonSchema/draft/2020-12")
DRAFTS = ("draft-07", "draft/2019-09", "draft/2020-12")
VALUES = values()


@pytest.mark.parametrize("evolution", EVOLUTIONS, ids=lambda one: one.name)
def test_change_is_judged(evolution: Evolution) -> None:
    verdict, paths = judged(LATEST, evolution)

    assert verdict == evolution.expected
    assert evolution.path is None or evolution.path in paths


def test_table_is_large_and_balanced() -> None:
    good = sum(one.expected == COMPATIBLE for one in EVOLUTIONS)

    assert len(EVOLUTIONS) >= 40
    assert 0.4 <= good / len(EVOLUTIONS) <= 0.6


@pytest.mark.parametrize("evolution", EVOLUTIONS, ids=lambda one: one.name)
def test_verdict_agrees_with_another_implementation(evolution: Evolution) -> None:
    new, old = (jsonschema_rs.canonicalize(one) for one in (evolution.new, evolution.old))

    contradicts = {COMPATIBLE: "no", INCOMPATIBLE: "yes"}
    assert str(new.covers(old)) != contradicts.get(evolution.expected)


def parsed(draft: str, document: Any) -> JsonSchema | None:  # noqa: ANN401
    """The schema, or nothing where chance made one that no draft allows."""
    try:
        schema = schema_format(f"JsonSchema/{draft}").parse(document)
    except ResourceError:
        return None
    assert isinstance(schema, JsonSchema)
    return schema


@given(
    seed=st.integers(0, 2**32),
    drafts=st.sampled_from([*((one, one) for one in DRAFTS), ("draft-07", "draft/2020-12")]),
)
@settings(max_examples=1000, deadline=None)
def test_compatible_schema_accepts_all_that_the_old_one_accepts(
    seed: int, drafts: tuple[str, str]
) -> None:
    schemas = Schemas(Random(seed), drafts[0])
    document = schemas.document()
    old, new = parsed(drafts[0], document), parsed(drafts[1], schemas.changed(document))
    if old is None or new is None:
        return

    if not LATEST.incompatibilities(new, old):
        accepted = [value for value in VALUES if old.validator.is_valid(value)]
        assert [value for value in accepted if not new.validator.is_valid(value)] == []


@given(seed=st.integers(0, 2**32), draft=st.sampled_from(DRAFTS))
@settings(max_examples=300, deadline=None)
def test_schema_is_compatible_with_itself_where_nothing_refers(seed: int, draft: str) -> None:
    schema = parsed(draft, Schemas(Random(seed), draft).schema(3))

    if schema is not None and "$ref" not in str(schema.document):
        assert LATEST.incompatibilities(schema, schema) == ()


def test_every_incompatible_change_is_named() -> None:
    old = LATEST.parse({"type": "object", "properties": {"a": STRING, "b": {"enum": [1, 2]}}})
    new = LATEST.parse(
        {
            "type": "object",
            "required": ["a"],
            "properties": {"a": {"type": "integer"}, "b": {"enum": [2]}},
        }
    )

    paths = {problem.path for problem in LATEST.incompatibilities(new, old)}

    assert paths == {"/required", "/properties/a/type", "/properties/b/enum"}


@pytest.mark.parametrize(
    ("old", "new", "path"),
    [
        ({"items": [{}, {}]}, {"items": [{}, STRING]}, "/items/1/type"),
        ({"items": [{}]}, {"items": [{}], "additionalItems": False}, "/additionalItems"),
        ({}, {"dependencies": {"a": ["b"]}}, "/dependencies/a"),
        (STRING, {"type": "string", "format": "date"}, "/format"),
    ],
)
def test_draft_07_is_read_in_its_own_words(old: object, new: object, path: str) -> None:
    seven = schema_format("JsonSchema/draft-07")

    problems = seven.incompatibilities(seven.parse(new), seven.parse(old))

    assert [problem.path for problem in problems] == [path]


def test_words_beside_a_reference_mean_nothing_in_draft_07_only() -> None:
    seven = schema_format("JsonSchema/draft-07")
    document = {"$ref": "#/definitions/a", "minLength": 3, "definitions": {"a": STRING}}
    old = seven.parse(STRING)

    assert seven.incompatibilities(seven.parse(document), old) == ()
    assert LATEST.incompatibilities(LATEST.parse(document), old) != ()


def test_drafts_are_compared_with_each_other() -> None:
    seven = schema_format("JsonSchema/draft-07")
    old = seven.parse({"items": [STRING], "additionalItems": False})
    new = LATEST.parse({"prefixItems": [STRING], "items": False})

    assert LATEST.incompatibilities(new, old) == ()


def test_comparison_gives_up_on_too_many_combinations() -> None:
    branches = [{"properties": {str(n): {"enum": [n]}}} for n in range(8)]
    old = LATEST.parse({"allOf": [{"anyOf": [dict(one) for one in branches]} for _ in range(8)]})
    new = LATEST.parse({"oneOf": branches})

    problems = LATEST.incompatibilities(new, old)

    assert problems
    assert all(isinstance(problem, Undecided) for problem in problems)
