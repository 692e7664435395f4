"""Which changes of XML Schemas are compatible."""

from __future__ import annotations

import itertools
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.errors import ResourceError
from penstock.schemas import Schema, schema_format
from tests.schemas.evolution import COMPATIBLE, Evolution, judged
from tests.schemas.evolutions_xsd import (
    EVOLUTIONS,
    MAYBE,
    A,
    B,
    C,
    choice,
    part,
    sequence,
)
from tests.schemas.strategies_xsd import XmlSchemas, documents

XSD = schema_format("XSD/1.0")
ANY = documents()
LATER = schema_format("XSD/1.1")

TEXTS = ("", "a", "aaaaaaa", "x", "y", "1", "7", "-3", "1.5", "3000000000", "70000", "2020-01-01")
CHILDREN = [
    "".join(f"<{name}>{text}</{name}>" for name, text in zip(names, itertools.cycle(texts)))
    for size in range(4)
    for names in itertools.product("abc", repeat=size)
    for texts in (["1"], ["x", "70000"])
]
DOCUMENTS = [
    *(f"<o>{children}</o>" for children in CHILDREN),
    *(f'<o i="{text}"/>' for text in TEXTS),
    *(f"<{name}>{text}</{name}>" for name in ("v", "a", "b") for text in TEXTS),
    *(f"<o><a>{text}</a></o>" for text in TEXTS),
]


@pytest.mark.parametrize("evolution", EVOLUTIONS, ids=lambda one: one.name)
def test_change_is_judged(evolution: Evolution) -> None:
    verdict, paths = judged(XSD, evolution)

    assert verdict == evolution.expected
    assert evolution.path is None or evolution.path in paths


@pytest.mark.parametrize("evolution", EVOLUTIONS, ids=lambda one: one.name)
def test_change_is_judged_in_version_1_1(evolution: Evolution) -> None:
    assert judged(LATER, evolution)[0] == evolution.expected


def test_table_is_large_and_balanced() -> None:
    good = sum(one.expected == COMPATIBLE for one in EVOLUTIONS)

    assert len(EVOLUTIONS) >= 10
    assert 0.4 <= good / len(EVOLUTIONS) <= 0.6


@pytest.mark.parametrize(
    "evolution", [one for one in EVOLUTIONS if one.expected == COMPATIBLE], ids=lambda one: one.name
)
def test_old_documents_fit_a_compatible_schema(evolution: Evolution) -> None:
    old, new = XSD.parse(evolution.old), XSD.parse(evolution.new)

    accepted = [text.encode() for text in DOCUMENTS if not old.problems(text.encode())]
    assert [text for text in accepted if new.problems(text)] == []


MODELS = [
    sequence(*items)
    for size in (1, 2)
    for items in itertools.permutations(
        [A, part("a", occurs=MAYBE), B, part("c", "xs:int", MAYBE)], size
    )
    if len({item.split('"')[1] for item in items}) == size
] + [choice(A, B), choice(B, C), choice(A, B, occurs='maxOccurs="2"')]


def test_no_pair_of_models_is_wrongly_compatible() -> None:
    schemas = [XSD.parse(model) for model in MODELS]
    texts = [text.encode() for text in DOCUMENTS[: len(CHILDREN)]]
    accepted = [{text for text in texts if not schema.problems(text)} for schema in schemas]

    for (old, before), (new, after) in itertools.product(
        zip(schemas, accepted, strict=True), repeat=2
    ):
        assert before <= after or XSD.incompatibilities(new, old)


@given(seed=st.integers(0, 2**32))
@settings(max_examples=5, deadline=None)
def test_no_pair_of_random_schemas_is_wrongly_compatible(seed: int) -> None:
    random = Random(seed)
    schemas = [one for _ in range(6) if (one := parsed(XmlSchemas(random).document()))]
    accepted = [{text for text in ANY if not schema.problems(text)} for schema in schemas]

    pairs = itertools.product(zip(schemas, accepted, strict=True), repeat=2)
    for (old, before), (new, after) in pairs:
        assert before <= after or XSD.incompatibilities(new, old)


def parsed(document: str) -> Schema | None:
    """The schema, or nothing where chance made an ambiguous one."""
    try:
        return XSD.parse(document)
    except ResourceError:
        return None


def test_schema_is_compatible_with_itself() -> None:
    for evolution in EVOLUTIONS:
        if "substitutionGroup" not in evolution.new:
            schema = XSD.parse(evolution.new)
            assert XSD.incompatibilities(schema, schema) == ()
