"""Protobuf schemas: which documents are legal, and which data fits them."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

from penstock.errors import ResourceError
from penstock.schemas import schema_format

TWO, THREE = schema_format("Protobuf/2"), schema_format("Protobuf/3")
JSON = "application/json"
ORDER = """
syntax = "proto3";
package shop;
import "google/protobuf/timestamp.proto";
message Order {
  string id = 1;
  int32 count = 2;
  google.protobuf.Timestamp at = 3;
  Line line = 4;
  message Line { string sku = 1; }
}
"""
PAIR = 'syntax = "proto3"; message A { string a = 1; } message B { int32 b = 1; }'


def refused(document: object) -> list[str]:
    with pytest.raises(ResourceError) as caught:
        THREE.parse(document)
    return [str(problem) for problem in caught.value.problems]


def test_compiler_errors_have_their_lines() -> None:
    problems = refused('syntax = "proto3";\nmessage A { int32 a = 1; zz }\nmessage { }')

    places = [problem.partition(": ")[0] for problem in problems]
    assert places[0] == "line 2, column 29"
    assert "line 3, column 9" in places


def test_stray_brace_is_refused() -> None:
    problems = refused('syntax = "proto3"; message Metrics { float metric = 1; } }')

    assert problems[0].startswith("line 1, column 58: Expected top-level statement")


@pytest.mark.parametrize(
    "document",
    [
        "message A {}",
        'syntax = "proto2"; message A {}',
        'edition = "2023"; message A {}',
        'syntax = "proto4"; message A {}',
        "",
        5,
        None,
        {"a": 1},
        b"\xff\xfe",
        "\ud800",
        'syntax = "proto3"; message \0 {}',
        'syntax = "proto3"; message Ä {}',
    ],
    ids=repr,
)
def test_document_of_another_kind_is_refused(document: object) -> None:
    assert refused(document)


@pytest.mark.parametrize(
    "address",
    ["other.proto", "/etc/hostname", "../x.proto", "schema.proto", "http://127.0.0.1:1/x"],
)
def test_other_documents_are_never_read(address: str) -> None:
    problems = refused(f'syntax = "proto3"; import "{address}"; message A {{}}')

    assert problems[0].startswith("line 1, column 20:")


def test_syntax_2_needs_no_statement_and_columns_stay_right() -> None:
    assert TWO.parse("/* two */ message A { optional int32 a = 1; }").records == ("A",)

    with pytest.raises(ResourceError) as caught:
        TWO.parse("message A { int32 a = 1; }")
    assert caught.value.problems[0].path == "line 1, column 13"


def test_compiler_leaves_no_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))

    THREE.parse(ORDER)
    refused("nothing")

    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("data", "content_type"),
    [
        (b"", None),
        (b"\x0a\x01x\x10\x05", "application/protobuf"),
        (b"\x0a\x01x", "application/x-protobuf; proto=shop.Order"),
        (b"\x98\x06\x01", None),
        (b'{"id": "x", "count": 5, "at": "2020-01-01T00:00:00Z"}', JSON),
        (b"{}", "application/protobuf+json"),
    ],
)
def test_data_fits(data: bytes, content_type: str | None) -> None:
    assert THREE.parse(ORDER).problems(data, content_type) == ()


@pytest.mark.parametrize(
    ("data", "content_type"),
    [
        (b"\x0a", None),
        (b"\x0a\x05x", None),
        (b"\x0a\x01\xff", None),
        (b"\x07", None),
        (b'{"id": 5}', JSON),
        (b'{"count": 1e99}', JSON),
        (b'{"at": 5}', JSON),
        (b'{"at": {"a": 1}}', JSON),
        (b'{"line": [1]}', JSON),
        (b'{"line": "x"}', JSON),
        (b'{"nobody": 1}', JSON),
        (b"[]", JSON),
        (b"{", JSON),
        (b"[" * 100_000, JSON),
        (b"", "text/plain"),
    ],
)
def test_bad_data_is_a_problem(data: bytes, content_type: str | None) -> None:
    assert len(THREE.parse(ORDER).problems(data, content_type)) == 1


def test_missing_required_fields_are_all_named() -> None:
    schema = TWO.parse("message A { required int32 a = 1; required int32 b = 2; }")

    assert [problem.path for problem in schema.problems(b"")] == ["a", "b"]
    assert schema.problems(b"\x08\x01\x10\x01") == ()


def test_message_is_chosen_by_its_name() -> None:
    schema = THREE.parse(PAIR)

    assert schema.records == ("A", "B")
    assert schema.problems(b"\x0a\x01x", None, "A") == ()
    assert schema.problems(b"\x08\x05", None, "B") == ()
    assert schema.problems(b"\x0a\x01\xff", None, "A")
    assert schema.problems(b"", None, "C")
    assert [str(one) for one in schema.problems(b"")] == [
        "the schema has 2 messages; name one with a ':' suffix: A, B"
    ]


def test_nested_message_is_chosen_only_when_named() -> None:
    schema = THREE.parse(ORDER)

    assert schema.records == ("shop.Order", "shop.Order.Line")
    assert schema.problems(b"\x10\x05") == ()
    assert schema.problems(b"\x0a\x01\xff", None, "shop.Order.Line")
    assert schema.problems(b"\x0a\x01\xff", None, "Line")


def test_deeply_nested_data_is_a_problem() -> None:
    schema = THREE.parse('syntax = "proto3"; message M { M m = 1; }')
    data = b""
    for _ in range(200):
        size = len(data)
        data = b"\x0a" + bytes([size & 127 | 128, size >> 7]) + data

    assert schema.problems(data)
