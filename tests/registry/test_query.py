from __future__ import annotations

import pytest

from penstock.errors import ResourceError
from penstock.registry import kinds
from penstock.registry.query import EVERYTHING, NOTHING, below_registry, inline

ALLOWED = below_registry(kinds.MODEL)


def test_nothing_is_inlined_unless_asked_for() -> None:
    assert inline([], ALLOWED) is NOTHING
    assert NOTHING.inner("endpoints") is None


@pytest.mark.parametrize("values", [[""], ["", ""], [","]])
def test_no_value_inlines_everything(values: list[str]) -> None:
    assert inline(values, ALLOWED) is EVERYTHING
    assert EVERYTHING.inner("anything") is EVERYTHING


def test_paths_share_their_beginnings() -> None:
    found = inline(["schemaGroups.schemas,ENDPOINTS", "schemagroups.schemas.versions"], ALLOWED)

    groups = found.inner("schemaGroups")
    assert groups is not None
    schemas = groups.inner("schemas")
    assert schemas is not None
    assert schemas.inner("versions") == NOTHING
    assert found.inner("endpoints") == NOTHING
    assert found.inner("definitionGroups") is None


def test_every_unknown_path_is_named() -> None:
    with pytest.raises(ResourceError) as caught:
        inline(["nosuch", "endpoints.schemas", "endpoints.definitions.versions.x"], ALLOWED)

    assert len(caught.value.problems) == 3
