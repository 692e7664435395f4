"""Avro schemas: which documents are legal, and which data fits them."""

from __future__ import annotations

import io
import json
from typing import Any

import fastavro
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.errors import ResourceError
from penstock.schemas import Schema, schema_format
from tests.schemas.evolutions_avro import decimal, enum, field, fixed, of, record

AVRO = schema_format("Avro/1.11.0")
BINARY, JSON = "application/vnd.apache.avro", "application/json"

WIDE = record(
    field("null", "n"),
    field("boolean", "b"),
    field("int", "i"),
    field("long", "l"),
    field("float", "f"),
    field("double", "d"),
    field("bytes", "y"),
    field("string", "s"),
    field(enum("X", "Y"), "e"),
    field(fixed(2), "x"),
    field({"type": "array", "items": "int"}, "a"),
    field({"type": "map", "values": ["null", "string"]}, "m"),
    field(["null", "R"], "r"),
)
VALUE: dict[str, Any] = {
    "n": None,
    "b": True,
    "i": -5,
    "l": 2**40,
    "f": 1.5,
    "d": -2.5,
    "y": b"\xff",
    "s": "ä",
    "e": "Y",
    "x": b"ab",
    "a": [1, 2, 3],
    "m": {"k": "v", "z": None},
    "r": None,
}


def written(schema: object, value: object) -> bytes:
    data = io.BytesIO()
    fastavro.schemaless_writer(data, fastavro.parse_schema(schema), value)  # type: ignore[arg-type]
    return data.getvalue()


def paths(document: object) -> list[str]:
    """Where a document is refused."""
    with pytest.raises(ResourceError) as caught:
        AVRO.parse(document)
    return [problem.path for problem in caught.value.problems]


def found(schema: Schema, data: bytes, content_type: str | None = None) -> list[str]:
    return [str(problem) for problem in schema.problems(data, content_type)]


@pytest.mark.parametrize(
    ("document", "path"),
    [
        ({}, ""),
        (5, ""),
        ([], ""),
        ({"type": "record", "name": "R"}, "/fields"),
        ({"type": "record", "name": "R", "fields": {}}, "/fields"),
        (record(name="1R"), "/name"),
        (record(name="R", namespace="a..b"), "/namespace"),
        (record({"name": "a"}), "/fields/0"),
        (record({"name": "a-b", "type": "int"}), "/fields/0/name"),
        (record(field("int", "a"), field("int", "a")), "/fields/1"),
        (of("Unknown"), "/fields/0/type"),
        (of({"type": "array"}), "/fields/0/type"),
        (of({"type": "map"}), "/fields/0/type"),
        (of(["int", ["null"]]), "/fields/0/type/1"),
        (of(["int", "int"]), "/fields/0/type/1"),
        (of(enum("a", "a")), "/fields/0/type/symbols/1"),
        (of(enum("a b")), "/fields/0/type/symbols/0"),
        (of(enum("a", default="b")), "/fields/0/type/default"),
        (of(fixed(-1)), "/fields/0/type/size"),
        (record(field("int", default="x")), "/fields/0/default"),
        (record(field(["null", "int"], default=5)), "/fields/0/default"),
        (record(field(record(field("int"), name="N"), default={"f": "x"})), "/fields/0/default/f"),
        (of(record(name="R")), "/fields/0/type/name"),
    ],
    ids=json.dumps,
)
def test_document_is_refused_with_its_path(document: object, path: str) -> None:
    assert paths(document) == [path]


def test_all_faults_are_reported_at_once() -> None:
    document = record(field("Unknown", "a"), field(fixed(-1), "b"), {"name": "c"})

    assert paths(document) == ["/fields/0/type", "/fields/1/type/size", "/fields/2"]


@pytest.mark.parametrize(
    "document",
    [
        WIDE,
        json.dumps(WIDE),
        json.dumps(WIDE).encode(),
        "string",
        '"string"',
        {"type": {"type": "array", "items": "int"}},
        [record(field("int")), record(field("int"), name="S")],
        of(decimal(4, 9)),
        of({"type": "int", "logicalType": "unheard-of"}),
        record(field(["null", "int"], default=None)),
        record(field("bytes", default="ÿ")),
        record(field("double", default=1)),
    ],
    ids=str,
)
def test_legal_document_is_accepted(document: object) -> None:
    assert AVRO.parse(document).format == "Avro/1.11.0"


def test_default_may_fit_any_branch_since_1_12() -> None:
    document = record(field(["null", "int"], default=5))

    assert schema_format("Avro/1.12.0").parse(document).records == ("R",)


def test_data_of_another_writer_fits() -> None:
    value = {**VALUE, "r": VALUE}

    assert AVRO.parse(WIDE).problems(written(WIDE, value), BINARY) == ()


def test_every_cut_of_the_data_is_a_problem() -> None:
    schema, data = AVRO.parse(WIDE), written(WIDE, VALUE)

    assert all(schema.problems(data[:end]) for end in range(len(data)))


def test_bytes_that_are_left_over_are_a_problem() -> None:
    assert found(AVRO.parse("int"), b"\x02\x02") == ["1 bytes are left over after the value"]


@pytest.mark.parametrize(
    ("document", "data"),
    [
        ("boolean", b"\x02"),
        ("int", b"\xff\xff\xff\xff\x7f"),
        ("int", b"\x80\x80\x80\x80\x80\x01"),
        ("long", b"\xff" * 10),
        ("string", b"\x04\xff\xfe"),
        ("string", b"\x03"),
        ("bytes", b"\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01"),
        (["null", "int"], b"\x04"),
        (["null", "int"], b"\x01"),
        (enum("X"), b"\x02"),
        ({"type": "array", "items": "null"}, b"\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01"),
        (record(field("R")), b""),
        (record(field(["null", "R"])), b"\x02" * 100_000),
    ],
    ids=str,
)
def test_bad_binary_data_is_a_problem(document: object, data: bytes) -> None:
    assert len(AVRO.parse(document).problems(data)) == 1


@given(st.binary(max_size=60))
@settings(max_examples=300)
def test_any_bytes_fit_exactly_when_another_reader_reads_them(data: bytes) -> None:
    document = record(field("string", "s"), field({"type": "array", "items": "int"}, "a"))
    stream = io.BytesIO(data)
    try:
        fastavro.schemaless_reader(stream, fastavro.parse_schema(document), None)
        is_read = stream.tell() == len(data)
    except (EOFError, ValueError, OverflowError, IndexError, MemoryError):
        is_read = False

    # The other reader lets numbers pass that have more bits than their type.
    assert is_read or AVRO.parse(document).problems(data)


def test_data_in_the_json_encoding_is_checked() -> None:
    schema = AVRO.parse(record(field("int", "a"), field(["null", "string"], "b")))

    assert found(schema, b'{"a": 1, "b": {"string": "x"}}', JSON) == []
    assert found(schema, b'{"a": 1, "b": null}', "application/avro+json") == []
    assert found(schema, b'{"a": "1", "b": {"int": 1}, "c": 1}', JSON) == [
        "/a: must be of type int",
        "/b: 'int' is not one of the union's types",
        "/c: is not a field of the record",
    ]


def test_problem_in_binary_data_has_its_path() -> None:
    schema = AVRO.parse(record(field(record(field("boolean", "b"), name="N"), "n")))

    assert found(schema, b"\x07") == ["/n/b: a boolean must be the byte 0 or 1"]


def test_content_type_of_something_else_is_a_problem() -> None:
    assert found(AVRO.parse("int"), b"\x02", "text/plain") == [
        "'text/plain' is not a content type of Avro data"
    ]


def test_record_is_chosen_by_its_name() -> None:
    schema = AVRO.parse([record(field("int"), name="a.One"), record(field("string"), name="a.Two")])

    assert schema.records == ("a.One", "a.Two")
    assert schema.problems(b"\x02", None, "One") == ()
    assert schema.problems(b"\x02x", None, "a.Two") == ()
    assert schema.problems(b"\x02", None, "Three")
    assert schema.problems(b"\x02", None, None)


def test_only_record_needs_no_name() -> None:
    assert AVRO.parse(record(field("int"))).problems(b"\x02") == ()
    assert AVRO.parse([record(field("int"))]).problems(b"\x02") == ()
