"""Which changes of Avro schemas are compatible."""

from __future__ import annotations

import io
import json
from typing import Any

import avro.compatibility
import avro.schema
import fastavro
import pytest
from avro.compatibility import ReaderWriterCompatibilityChecker, SchemaCompatibilityType

from penstock.schemas import Undecided, schema_format
from tests.schemas.evolution import COMPATIBLE, INCOMPATIBLE, UNDECIDED, Evolution, judged
from tests.schemas.evolutions_avro import (
    EVOLUTIONS,
    enum,
    field,
    fixed,
    of,
    record,
)

AVRO = schema_format("Avro/1.11.0")

# The other implementation does not follow the specification here, by our reading of it.
ITS_OWN_WAY = {
    "decimal rescaled": "it leaves logical types out",
    "decimal more precise": "it leaves logical types out",
    "unknown logical type added": "it warns of what the specification has it ignore",
}


@pytest.mark.parametrize("evolution", EVOLUTIONS, ids=lambda one: one.name)
def test_change_is_judged(evolution: Evolution) -> None:
    verdict, paths = judged(AVRO, evolution)

    assert verdict == evolution.expected
    assert evolution.path is None or paths[0] == evolution.path


def test_table_is_large_and_balanced() -> None:
    good = sum(one.expected == COMPATIBLE for one in EVOLUTIONS)

    assert len(EVOLUTIONS) >= 40
    assert 0.4 <= good / len(EVOLUTIONS) <= 0.6


def verdict_of_avro(evolution: Evolution) -> str:
    checker = ReaderWriterCompatibilityChecker()  # type: ignore[no-untyped-call]
    reader, writer = (
        avro.schema.parse(json.dumps(document)) for document in (evolution.new, evolution.old)
    )
    result = checker.get_compatibility(reader, writer)
    is_fine = result.compatibility is SchemaCompatibilityType.compatible
    return COMPATIBLE if is_fine else INCOMPATIBLE


@pytest.mark.parametrize(
    "evolution",
    [one for one in EVOLUTIONS if one.expected != UNDECIDED and one.name not in ITS_OWN_WAY],
    ids=lambda one: one.name,
)
def test_verdict_is_that_of_the_avro_project(evolution: Evolution) -> None:
    assert judged(AVRO, evolution)[0] == verdict_of_avro(evolution)


SAMPLES: dict[str, list[Any]] = {
    "null": [None],
    "boolean": [True],
    "int": [0, -7, 2**31 - 1],
    "long": [0, 2**62],
    "float": [1.5],
    "double": [1e300],
    "string": ["", "a"],
    "bytes": [b"a"],
}


def samples(schema: Any) -> list[Any]:  # noqa: ANN401, PLR0911
    """Values that a schema can write, every branch and symbol among them."""
    if isinstance(schema, list):
        return [value for branch in schema for value in samples(branch)]
    if isinstance(schema, str):
        return SAMPLES.get(schema, [])
    match schema["type"]:
        case "record" | "error":
            found = [samples(one["type"]) for one in schema["fields"]]
            count = max(map(len, found), default=1)
            names = [one["name"] for one in schema["fields"]]
            return [
                dict(zip(names, (one[n % len(one)] for one in found), strict=True))
                for n in range(count)
            ]
        case "enum":
            return list(schema["symbols"])
        case "fixed":
            return [b"x" * schema["size"]]
        case "array":
            return [[], samples(schema["items"])]
        case "map":
            return [{}, {"k": samples(schema["values"])[0]}]
    return [] if "logicalType" in schema else samples(schema["type"])


@pytest.mark.parametrize(
    "evolution",
    [one for one in EVOLUTIONS if one.expected == COMPATIBLE],
    ids=lambda one: one.name,
)
def test_old_data_is_read_with_a_compatible_schema(evolution: Evolution) -> None:
    writer, reader = (
        fastavro.parse_schema(document) for document in (evolution.old, evolution.new)
    )

    for value in samples(evolution.old):
        data = io.BytesIO()
        fastavro.schemaless_writer(data, writer, value)
        data.seek(0)
        fastavro.schemaless_reader(data, writer, reader)


def test_every_incompatible_change_is_named() -> None:
    old = record(field("long", "a"), field(enum("X", "Y"), "b"), field(fixed(4), "c"))
    new = record(field("int", "a"), field(enum("X"), "b"), field(fixed(5), "c"), field("int", "d"))

    problems = AVRO.incompatibilities(AVRO.parse(new), AVRO.parse(old))

    assert [problem.path for problem in problems] == ["R.a", "R.b", "R.c", "R.d"]


def test_default_of_an_enum_means_nothing_before_1_9() -> None:
    early = schema_format("Avro/1.8.2")
    old, new = of(enum("X", "Y")), of(enum("X", default="X"))

    assert early.incompatibilities(early.parse(new), early.parse(old))


def test_branch_that_only_some_readers_take_is_undecided() -> None:
    old = of(record(field("int", "a"), name="N"))
    new = of(
        [record(field("int", "z"), name="N", namespace="one"), record(field("int", "a"), name="N")]
    )

    (problem,) = AVRO.incompatibilities(AVRO.parse(new), AVRO.parse(old))

    assert isinstance(problem, Undecided)
