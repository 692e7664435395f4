"""Which changes of Protobuf documents are compatible."""

from __future__ import annotations

from typing import Any

import pytest
from google.protobuf import json_format
from google.protobuf.message_factory import GetMessageClass

from penstock.schemas import SchemaFormat, schema_format
from penstock.schemas.protobuf import ProtobufSchema
from tests.schemas.evolution import COMPATIBLE, Evolution, judged
from tests.schemas.evolutions_protobuf import EVOLUTIONS, proto2, proto3


def format_of(text: str) -> SchemaFormat:
    return schema_format("Protobuf/2" if "proto2" in text else "Protobuf/3")


def parsed(text: str) -> ProtobufSchema:
    schema = format_of(text).parse(text)
    assert isinstance(schema, ProtobufSchema)
    return schema


@pytest.mark.parametrize("evolution", EVOLUTIONS, ids=lambda one: one.name)
def test_change_is_judged(evolution: Evolution) -> None:
    verdict, paths = judged(format_of(evolution.new), evolution)

    assert verdict == evolution.expected
    assert evolution.path is None or evolution.path in paths


def test_table_is_large_and_balanced() -> None:
    good = sum(one.expected == COMPATIBLE for one in EVOLUTIONS)

    assert len(EVOLUTIONS) >= 40
    assert 0.4 <= good / len(EVOLUTIONS) <= 0.6


SAMPLES: list[tuple[str, str, Any]] = [
    ("int32", "int64", -5),
    ("int32", "int64", 2**31 - 1),
    ("uint32", "uint64", 2**32 - 1),
    ("uint32", "int64", 2**32 - 1),
    ("sint32", "sint64", -5),
    ("bool", "int32", True),
    ("bool", "uint64", True),
    ("string", "bytes", "äöü"),
]


def sent(old: str, new: str, value: Any) -> Any:  # noqa: ANN401
    """What a reader of one type gets when a writer of another sends a value."""
    writer, reader = (
        GetMessageClass(parsed(proto3(f"{type_} f = 1;")).pool.FindMessageTypeByName("M"))
        for type_ in (old, new)
    )
    message: Any = reader.FromString(writer(f=value).SerializeToString())
    return message.f


@pytest.mark.parametrize(("old", "new", "value"), SAMPLES)
def test_value_survives_a_compatible_change(old: str, new: str, value: object) -> None:
    expected = value.encode() if isinstance(value, str) else value

    assert sent(old, new, value) == expected


@pytest.mark.parametrize(
    ("old", "new", "value"),
    [
        ("int64", "int32", 2**40),
        ("int32", "uint32", -1),
        ("fixed32", "sfixed32", 2**32 - 1),
        ("int32", "sint32", 7),
        ("float", "fixed32", 1.5),
        ("double", "int64", 1.5),
        ("bool", "string", True),
        ("int32", "fixed32", 7),
    ],
)
def test_value_is_changed_or_lost_by_other_changes(old: str, new: str, value: object) -> None:
    assert sent(old, new, value) != value


def test_values_in_one_oneof_drop_each_other() -> None:
    old = parsed(proto3("int32 a = 1; string b = 2;"))
    new = parsed(proto3("oneof o { int32 a = 1; string b = 2; }"))
    writer, reader = (GetMessageClass(one.pool.FindMessageTypeByName("M")) for one in (old, new))

    message = reader.FromString(writer(a=1, b="x").SerializeToString())

    assert json_format.MessageToDict(message) == {"b": "x"}


def test_every_incompatible_change_is_named() -> None:
    old = parsed(
        proto3("int32 a = 1; int32 b = 2; repeated string c = 3; map<string, int32> d = 4;")
    )
    new = parsed(proto3("string a = 1; string c = 3; map<string, string> d = 4;"))

    problems = format_of("proto3").incompatibilities(new, old)

    assert [one.path for one in problems] == ["M.a", "M.b", "M.c", "M.DEntry.value"]


def test_syntaxes_are_compared_with_each_other() -> None:
    old, new = parsed(proto2("optional int32 a = 1;")), parsed(proto3("int32 a = 1;"))

    forth = format_of("proto3").incompatibilities(new, old)
    back = format_of("proto2").incompatibilities(old, new)

    assert forth == ()
    assert [one.path for one in back] == ["syntax"]
