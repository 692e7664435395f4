"""Hostile documents and data: always a ResourceError or problems, and always soon."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.errors import ResourceError
from penstock.schemas import Schema, schema_format
from tests.schemas.evolutions_avro import enum, field, record
from tests.schemas.evolutions_xsd import choice, facet, part, sequence, value, xsd

FORMATS = ["JsonSchema/draft-07", "JsonSchema/draft/2019-09", "JsonSchema/draft/2020-12"]
FORMATS += ["Avro/1.11.0", "Protobuf/2", "Protobuf/3", "XSD/1.0", "XSD/1.1"]
LATEST = "JsonSchema/draft/2020-12"

# Generous, since machines differ; without a limit these take minutes or for ever.
SOON = 10.0


def attempt(name: str, document: object) -> Schema | None:
    """The schema, or nothing where it is refused as it should be."""
    try:
        return schema_format(name).parse(document)
    except ResourceError:
        return None


def seconds(work: Callable[[], Any]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def deep(levels: int) -> Any:  # noqa: ANN401
    nested: Any = {}
    for _ in range(levels):
        nested = {"properties": {"a": nested}}
    return nested


ODD = [
    b"",
    b"\0",
    b"null",
    b"[]",
    b"{}",
    b'"',
    b"\xff\xfe\xfd",
    b"NaN",
    b"1e999",
    b"-Infinity",
    b'{"a": 1, "a": 2}',
    b'{"type": "string", "type": "integer"}',
    b'{"title": "\\ud800"}',
    b"[" * 100_000,
    b'{"a":' * 100_000,
    b"9" * 100_000,
    b"<" * 100_000,
    b"<a>" * 100_000,
    b"{" * 100_000,
    b"message A {" * 10_000,
    b'syntax = "proto3"; option a = ' + b"{" * 100_000,
    b'syntax = "proto3"; message A { repeated ' + b"map<" * 100_000,
    b" " * (5 * 1024 * 1024),
    "\ufeff\u202e\u0000\U0010ffff".encode(),
]


@pytest.mark.parametrize("document", ODD, ids=lambda one: repr(one[:20]))
@pytest.mark.parametrize("name", FORMATS)
def test_odd_bytes_are_refused_or_read(name: str, document: bytes) -> None:
    assert seconds(lambda: attempt(name, document)) < SOON


VALUES: list[Any] = [
    None,
    5,
    1.5,
    float("nan"),
    float("inf"),
    10**5000,
    [],
    {},
    {1: 2},
    {"a": {1, 2}},
    {"a": object()},
    {"title": "\ud800"},
    {"\ud800": 1},
    deep(300),
    deep(5000),
    {"enum": list(range(100_000))},
]


@pytest.mark.parametrize("document", VALUES, ids=lambda one: repr(type(one)))
@pytest.mark.parametrize("name", FORMATS)
def test_odd_values_are_refused_or_read(name: str, document: object) -> None:
    assert seconds(lambda: attempt(name, document)) < SOON


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                [
                    *("type", "items", "$ref", "$id", "properties", "fields", "name", "symbols"),
                    *("allOf", "not", "default", "enum", "const", "pattern", "if", "$defs", "size"),
                ]
            ),
            inner
            | st.sampled_from(["#", "#/$defs", "record", "array", "enum", "string", "(", "R"]),
            max_size=5,
        )
    ),
    max_leaves=20,
)


@given(document=JSON, name=st.sampled_from(FORMATS[:4]))
@settings(max_examples=300)
def test_random_json_is_refused_or_can_be_compared_with_itself(document: Any, name: str) -> None:  # noqa: ANN401
    schema = attempt(name, document)

    if schema is not None:
        schema_format(name).incompatibilities(schema, schema)
        schema.problems(b'{"a": [1, null]}', "application/json")


@given(
    text=st.lists(
        st.sampled_from(
            [
                *('syntax = "proto3";', "message", "A", "{", "}", "int32", "=", "1", ";", "oneof"),
                *("enum", "map<", ",", ">", "reserved", "to", "max", '"x"', "[", "]", "package"),
            ]
        ),
        max_size=25,
    )
)
@settings(max_examples=200)
def test_random_protobuf_is_refused_or_can_be_compared_with_itself(text: list[str]) -> None:
    document = 'syntax = "proto3"; ' + " ".join(text)

    schema = attempt("Protobuf/3", document)

    assert schema is None or schema_format("Protobuf/3").incompatibilities(schema, schema) == ()


@given(data=st.binary(max_size=200))
@settings(max_examples=200)
def test_random_data_is_answered_with_problems(data: bytes) -> None:
    documents = {
        LATEST: {"type": "object"},
        "Avro/1.11.0": record(
            field(["null", "R"]), field({"type": "map", "values": "double"}, "m")
        ),
        "Protobuf/3": 'syntax = "proto3"; message M { M m = 1; map<string, M> n = 2; }',
        "XSD/1.0": sequence(part("a", "xs:date")),
    }

    for name, document in documents.items():
        schema = PARSED.setdefault(name, schema_format(name).parse(document))
        assert isinstance(schema.problems(data), tuple)


PARSED: dict[str, Schema] = {}

REGEXES = [r"^(a+)+$", r"^(a|a)*$", r"(a*)*b", r"^(?=(a+)+$)a", r"(.*)(.*)(.*)(.*)x", r"(x+x+)+y"]


@pytest.mark.parametrize("pattern", REGEXES)
def test_patterns_never_run_away(pattern: str) -> None:
    schema = attempt(LATEST, {"pattern": pattern})
    data = json.dumps("a" * 50_000 + "!").encode()

    assert schema is None or seconds(lambda: schema.problems(data)) < SOON


@pytest.mark.parametrize("pattern", ["(a+)+b", "(a|a)*b", "a*a*a*a*a*b", "(x{1,100}){1,100}"])
def test_patterns_of_xml_never_run_away(pattern: str) -> None:
    schema = attempt("XSD/1.0", value("xs:string", facet("pattern", pattern)))
    data = b"<v>" + b"a" * 50_000 + b"</v>"

    assert schema is None or seconds(lambda: schema.problems(data)) < SOON


CIRCLES: list[Any] = [
    {"$ref": "#"},
    {"allOf": [{"$ref": "#"}]},
    {"anyOf": [{"$ref": "#"}, {"type": "string"}]},
    {"not": {"$ref": "#"}},
    {"if": {"$ref": "#"}, "then": {"$ref": "#"}},
    {"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}},
    {"properties": {"a": {"$ref": "#"}}, "additionalProperties": {"$ref": "#"}},
    {"dependentSchemas": {"a": {"$ref": "#"}}},
]


@pytest.mark.parametrize("document", CIRCLES, ids=json.dumps)
def test_circles_of_references_end(document: object) -> None:
    schema = attempt(LATEST, document)

    assert schema is not None
    schema_format(LATEST).incompatibilities(schema, schema)
    schema.problems(b'{"a": {"a": {}}}')


def test_circle_without_progress_is_never_called_compatible() -> None:
    format_ = schema_format(LATEST)
    new = format_.parse({"anyOf": [{"$ref": "#"}, {"type": "string"}]})

    assert format_.incompatibilities(new, format_.parse({"type": "integer"}))


LARGE = {
    LATEST: {"properties": {f"p{n}": {"type": "string", "maxLength": n} for n in range(20_000)}},
    "Avro/1.11.0": record(*(field("string", f"f{n}") for n in range(25_000))),
    "Protobuf/3": 'syntax = "proto3";'
    + "".join(
        f"message M{m} {{ {''.join(f'int32 field_{n} = {n};' for n in range(1, 3000))} }}"
        for m in range(8)
    ),
    "XSD/1.0": xsd("".join(part(f"e{n}") for n in range(2_000))),
}


@pytest.mark.parametrize("name", LARGE)
def test_large_schema_is_read_and_compared_soon(name: str) -> None:
    format_ = schema_format(name)

    def work() -> None:
        schema, again = format_.parse(LARGE[name]), format_.parse(LARGE[name])
        assert format_.incompatibilities(schema, again) == ()

    assert seconds(work) < SOON


def test_unions_of_many_types_are_compared_soon() -> None:
    format_ = schema_format("Avro/1.11.0")
    union = [{**enum("X"), "name": f"E{n}"} for n in range(3_000)]
    schema = format_.parse(union)

    assert seconds(lambda: format_.incompatibilities(schema, schema)) < SOON


@pytest.mark.parametrize("depth", [3, 12])
def test_nested_choices_are_compared_soon(depth: int) -> None:
    inner = part("a") + part("b")
    for n in range(depth):
        below = f"<xs:sequence>{part(f'c{n}')}<xs:choice>{inner}</xs:choice></xs:sequence>"
        inner = f"<xs:choice>{below}{part(f'd{n}')}</xs:choice>"

    def work() -> None:
        schema = attempt("XSD/1.0", choice(inner))
        found = schema and schema_format("XSD/1.0").incompatibilities(schema, schema)
        assert not found

    assert seconds(work) < SOON


def test_schema_of_too_many_parts_is_refused() -> None:
    document = xsd("".join(part(f"e{n}") for n in range(10_001)))

    assert attempt("XSD/1.0", document) is None
