"""Schema formats are found by the names of the registry."""

from __future__ import annotations

from importlib.metadata import EntryPoint

import pytest

from penstock import schemas
from penstock.errors import ResourceError, UnsupportedError
from penstock.schemas import FORMATS, schema_format

NAMES = {
    "JsonSchema/draft-07": "JsonSchema/draft-07",
    "JSONSchema/draft-07": "JsonSchema/draft-07",
    "JsonSchema/draft/2019-09": "JsonSchema/draft/2019-09",
    "jsonschema/Draft/2020-12": "JsonSchema/draft/2020-12",
    "XSD/1.0": "XSD/1.0",
    "xsd/1.1": "XSD/1.1",
    "Avro/1.8.2": "Avro/1.8.2",
    "AVRO/1.9": "Avro/1.9",
    "Avro/1.11.0": "Avro/1.11.0",
    "Protobuf/2": "Protobuf/2",
    "Protobuf/3": "Protobuf/3",
    "protobuf/3.0": "Protobuf/3",
}
MEDIA_TYPES = {
    "JsonSchema/draft-07": "application/json",
    "Avro/1.9": "application/vnd.apache.avro",
    "Protobuf/3": "application/protobuf",
    "XSD/1.0": "application/xml",
}


@pytest.mark.parametrize(("name", "spelling"), NAMES.items())
def test_format_is_found_and_spelled_as_defined(name: str, spelling: str) -> None:
    assert schema_format(name).name == spelling


@pytest.mark.parametrize(("name", "media_type"), MEDIA_TYPES.items())
def test_format_knows_the_media_type_of_its_data(name: str, media_type: str) -> None:
    assert schema_format(name).media_type == media_type


@pytest.mark.parametrize("name", ["", "Avro", "Avro/", "/1.9", "/"])
def test_name_without_version_is_refused(name: str) -> None:
    with pytest.raises(ResourceError, match="NAME/VERSION"):
        schema_format(name)


@pytest.mark.parametrize(
    "name", ["AcmeIDL/2", "JsonSchema/draft-99", "XSD/2.0", "Avro/latest", "Protobuf/4", "Avro/1\n"]
)
def test_format_that_nobody_implements_is_unsupported(name: str) -> None:
    with pytest.raises(UnsupportedError):
        schema_format(name)


@pytest.mark.parametrize("one", ["JsonSchema/draft-07", "Avro/1.9", "Protobuf/3", "XSD/1.0"])
def test_schemas_of_two_formats_cannot_be_compared(one: str) -> None:
    documents = {
        "JsonSchema/draft-07": {},
        "Avro/1.9": "int",
        "Protobuf/3": 'syntax = "proto3";',
        "XSD/1.0": '<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema"/>',
    }
    other = "Avro/1.9" if one != "Avro/1.9" else "Protobuf/3"
    mine, theirs = (schema_format(name).parse(documents[name]) for name in (one, other))

    with pytest.raises(ResourceError, match="cannot be compared"):
        schema_format(one).incompatibilities(mine, theirs)


def test_stranger_joins_by_entry_point(monkeypatch: pytest.MonkeyPatch) -> None:
    entry = EntryPoint("AcmeIDL", "penstock.schemas.avro:AvroFormat", "penstock.schemas")
    monkeypatch.setattr(schemas, "entry_points", lambda **_: [entry])
    clear()

    try:
        assert schema_format("acmeidl/2").parse("int").records == ()
        assert set(schemas.formats()) == {*FORMATS, "AcmeIDL"}
    finally:
        monkeypatch.undo()
        clear()


def clear() -> None:
    """Forget which formats are installed."""
    schemas._strangers.cache_clear()  # noqa: SLF001
    schemas.formats.cache_clear()
    schemas._family.cache_clear()  # noqa: SLF001
    schema_format.cache_clear()
