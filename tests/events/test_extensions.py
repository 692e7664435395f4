from __future__ import annotations

import pytest

from penstock.events.extensions import KNOWN


@pytest.mark.covers("CE-153")
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("partitionkey", "k"),
        ("sequence", "001"),
        ("traceparent", "00-0af7651916cd43dd8448eb211c80319c-b9c7c989f97918e1-01"),
        ("tracestate", ""),
        ("dataref", "/blobs/1"),
        ("expirytime", "2030-01-01T00:00:00Z"),
        ("recordedtime", "2030-01-01T00:00:00Z"),
        ("sampledrate", 1),
        ("sampledrate", "30"),
    ],
)
def test_value_as_documented_has_no_fault(name: str, value: object) -> None:
    assert KNOWN[name].fault(value) is None


@pytest.mark.covers("CE-153")
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("partitionkey", ""),
        ("partitionkey", 5),
        ("sequence", ""),
        ("traceparent", ""),
        ("traceparent", True),
        ("dataref", "::bad"),
        ("expirytime", "soon"),
        ("sampledrate", 0),
        ("sampledrate", "-1"),
        ("sampledrate", "often"),
    ],
)
def test_value_against_the_definition_is_a_fault(name: str, value: object) -> None:
    assert KNOWN[name].fault(value) is not None
