"""JSON Schemas: which documents are legal, and which data fits them."""

from __future__ import annotations

from typing import Any

import pytest

from penstock.errors import ResourceError
from penstock.schemas import schema_format

SEVEN = schema_format("JsonSchema/draft-07")
LATEST = schema_format("JsonSchema/draft/2020-12")
PERSON = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "age": {"type": "integer", "minimum": 0}},
    "required": ["name"],
}


def refused(document: object) -> list[str]:
    with pytest.raises(ResourceError) as caught:
        LATEST.parse(document)
    return [problem.path for problem in caught.value.problems]


@pytest.mark.parametrize(
    ("document", "paths"),
    [
        ([], [""]),
        (True, [""]),
        ("no json", ["line 1, column 1"]),
        ({"type": "strin"}, ["/type"]),
        ({"properties": {"a": {"minLength": "x"}}}, ["/properties/a/minLength"]),
        ({"type": 5, "minimum": "x"}, ["/type", "/minimum"]),
        ({"pattern": "("}, ["/pattern"]),
        ({"$ref": "#/$defs/nowhere"}, [""]),
        ({"$schema": "http://json-schema.org/draft-07/schema#"}, ["/$schema"]),
        ({"$schema": 5}, ["/$schema", "/$schema"]),
    ],
    ids=str,
)
def test_document_is_refused_with_its_paths(document: object, paths: list[str]) -> None:
    assert sorted(refused(document)) == sorted(paths)


@pytest.mark.parametrize(
    "address",
    [
        "http://127.0.0.1:1/schema",
        "https://example.com/schema.json#/definitions/a",
        "file:///etc/hostname",
        "other.json",
    ],
)
def test_other_documents_are_never_fetched(address: str) -> None:
    assert refused({"$ref": address})


@pytest.mark.parametrize(
    ("name", "address"),
    [
        ("JsonSchema/draft-07", "http://json-schema.org/draft-07/schema"),
        ("JsonSchema/draft-07", "http://json-schema.org/draft-07/schema#"),
        ("JsonSchema/draft/2019-09", "https://json-schema.org/draft/2019-09/schema"),
        ("JsonSchema/draft/2020-12", "https://json-schema.org/draft/2020-12/schema"),
    ],
)
def test_document_may_state_the_draft_of_its_format(name: str, address: str) -> None:
    assert schema_format(name).parse({"$schema": address}).format == name


def test_document_may_be_text_or_bytes() -> None:
    assert LATEST.parse('{"type": "string"}').problems(b'"a"') == ()
    assert LATEST.parse(b'\xef\xbb\xbf{"type": "string"}').problems(b"5")


def test_every_problem_of_the_data_has_its_path() -> None:
    schema = LATEST.parse({"type": "array", "items": PERSON})

    problems = schema.problems(b'[{"name": "x"}, {"age": -1}, {"name": 5}]', "application/json")

    assert sorted(str(problem) for problem in problems) == [
        "/1/age: -1 is less than the minimum of 0",
        '/1: "name" is a required property',
        '/2/name: 5 is not of type "string"',
    ]


@pytest.mark.parametrize(
    "content_type", [None, "application/json", "text/json", "application/x+json; a=b"]
)
def test_json_data_fits(content_type: str | None) -> None:
    assert LATEST.parse(PERSON).problems(b'{"name": "x"}', content_type) == ()


@pytest.mark.parametrize(
    ("data", "content_type"),
    [
        (b"", None),
        (b"{", None),
        (b"NaN", None),
        (b"1e999", None),
        (b"1" * 10_000, None),
        (b"\xff", None),
        (b'"\\ud800"', None),
        (b"[" * 100_000, None),
        (b"{}", "text/plain"),
        (b"{}", "application/xml"),
    ],
    ids=lambda one: str(one)[:20],
)
def test_data_that_is_no_json_is_a_problem(data: bytes, content_type: str | None) -> None:
    assert len(LATEST.parse({}).problems(data, content_type)) == 1


def test_formats_are_checked_in_draft_07_only() -> None:
    document = {"type": "string", "format": "date"}

    assert SEVEN.parse(document).problems(b'"x"')
    assert LATEST.parse(document).problems(b'"x"') == ()


def test_part_of_the_document_is_chosen_by_pointer() -> None:
    schema = SEVEN.parse(
        {
            "definitions": {
                "a": {"$ref": "#/definitions/b/c"},
                "b/c": {"type": "string"},
                "b": {"c": {"type": "integer"}},
            }
        }
    )

    assert schema.problems(b"{}") == ()
    assert schema.problems(b"5", None, "/definitions/a") == ()
    assert schema.problems(b'"x"', None, "#/definitions/b~1c") == ()
    assert schema.problems(b'"x"', None, "/definitions/a")
    assert [str(one) for one in schema.problems(b"{}", None, "/definitions/z")] == [
        "the schema has nothing at '/definitions/z'"
    ]


def test_many_parts_can_be_chosen() -> None:
    schema = LATEST.parse({"$defs": {str(n): {"const": n} for n in range(100)}})

    assert all(schema.problems(b"%d" % n, None, f"/$defs/{n}") == () for n in range(100))


@pytest.mark.parametrize("value", [2**53 + 1, 10**40, 1.5, -0.0])
def test_numbers_keep_their_value(value: Any) -> None:  # noqa: ANN401
    schema = LATEST.parse({"const": value})

    assert schema.problems(str(value).encode()) == ()
    assert schema.problems(b"7")
