from __future__ import annotations

import pytest

from penstock.registry import formats
from penstock.registry.faults import Faults


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("JSONSchema/draft-07", "JsonSchema/draft-07"),
        ("protobuf/3.0", "Protobuf/3"),
        ("Protobuf/2.0", "Protobuf/2"),
        ("AVRO/1.9", "Avro/1.9"),
        ("acme/1", "acme/1"),
        ("JsonSchema/draft/2020-12", "JsonSchema/draft/2020-12"),
    ],
)
def test_format_gets_its_defined_spelling(given: str, kept: str) -> None:
    assert formats.read(Faults(), given, "format", formats.SCHEMA_FORMATS) == kept


@pytest.mark.parametrize("given", ["", "Avro", "/1", "Avro/", "a b/1", "Protobuf/4", None, 7])
def test_wrong_format_is_a_fault(given: object) -> None:
    faults = Faults()

    assert formats.read(faults, given, "format", formats.SCHEMA_FORMATS) is None
    assert [each.path for each in faults.problems] == ["format"]


@pytest.mark.parametrize(
    ("child", "parent", "fits"),
    [
        ("Avro/1.9", "Avro", True),
        ("Avro/1.9", "Avro/1.9", True),
        ("Avro/1.9.1", "Avro/1.9", True),
        ("Avro", "Avro/1.9", False),
        ("Avro/1.95", "Avro/1.9", False),
        ("AvroX/1", "Avro", False),
    ],
)
def test_child_is_not_looser_than_its_parent(child: str, parent: str, *, fits: bool) -> None:
    assert formats.fits(child, parent) is fits
