from __future__ import annotations

import pytest

from penstock.errors import ResourceError
from penstock.registry import kinds, model


def test_model_that_was_printed_is_read_again() -> None:
    assert model.read(kinds.MODEL.document()) == kinds.MODEL


def test_types_are_found_without_regard_to_case() -> None:
    found = kinds.MODEL.group("SCHEMAgroups")

    assert found is not None
    assert found.resource("Schemas") is not None
    assert kinds.MODEL.group("schemaGroup") is None
    assert kinds.MODEL.group("schemaGroup", singular=True) is found


@pytest.mark.parametrize("document", [None, [], "x", {"groups": {}}, {"groups": [1]}])
def test_model_of_another_shape_is_refused(document: object) -> None:
    with pytest.raises(ResourceError):
        model.read(document)
