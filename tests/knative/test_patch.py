from __future__ import annotations

from typing import Any

import pytest

from penstock.errors import ResourceError
from penstock.knative.patch import merged, operated, strategic


@pytest.mark.parametrize(
    ("target", "patch", "made"),
    [
        ({"a": "b"}, {"a": "c"}, {"a": "c"}),
        ({"a": "b"}, {"b": "c"}, {"a": "b", "b": "c"}),
        ({"a": "b"}, {"a": None}, {}),
        ({"a": ["b"]}, {"a": "c"}, {"a": "c"}),
        ({"a": {"b": "c"}}, {"a": {"b": "d", "c": None}}, {"a": {"b": "d"}}),
        ({"a": [{"b": "c"}]}, {"a": [1]}, {"a": [1]}),
        ({"e": None}, {"a": 1}, {"e": None, "a": 1}),
        ([1, 2], {"a": "b", "c": None}, {"a": "b"}),
        ({}, {"a": {"bb": {"ccc": None}}}, {"a": {"bb": {}}}),
        ({"a": "b"}, ["c"], ["c"]),
    ],
    ids=str,
)
def test_merge_patches_of_rfc_7396(target: Any, patch: Any, made: Any) -> None:  # noqa: ANN401
    assert merged(target, patch) == made


@pytest.mark.parametrize(
    ("target", "operations", "made"),
    [
        ({"a": 1}, [{"op": "add", "path": "/b", "value": 2}], {"a": 1, "b": 2}),
        ({"a": [1, 3]}, [{"op": "add", "path": "/a/1", "value": 2}], {"a": [1, 2, 3]}),
        ({"a": [1]}, [{"op": "add", "path": "/a/-", "value": 2}], {"a": [1, 2]}),
        ({"a": [1]}, [{"op": "add", "path": "/a/1", "value": 2}], {"a": [1, 2]}),
        ({"a": 1, "b": 2}, [{"op": "remove", "path": "/a"}], {"b": 2}),
        ({"a": [1, 2]}, [{"op": "remove", "path": "/a/0"}], {"a": [2]}),
        ({"a": [1]}, [{"op": "replace", "path": "/a/0", "value": 5}], {"a": [5]}),
        ({"a": 1}, [{"op": "replace", "path": "", "value": {"b": 1}}], {"b": 1}),
        ({"a": 1}, [{"op": "copy", "from": "/a", "path": "/b"}], {"a": 1, "b": 1}),
        ({"a": 1}, [{"op": "move", "from": "/a", "path": "/b"}], {"b": 1}),
        ({"a/b": 1}, [{"op": "test", "path": "/a~1b", "value": 1}], {"a/b": 1}),
    ],
    ids=str,
)
def test_json_patches_of_rfc_6902(target: Any, operations: Any, made: Any) -> None:  # noqa: ANN401
    before = str(target)

    assert operated(target, operations) == made
    assert str(target) == before


@pytest.mark.parametrize(
    "operations",
    [
        {},
        [{"op": "add", "path": "/a/5", "value": 1}],
        [{"op": "add", "path": "/a/01", "value": 1}],
        [{"op": "replace", "path": "/a/1", "value": 1}],
        [{"op": "remove", "path": "/a/-"}],
        [{"op": "add", "path": "/b/c", "value": 1}],
        [{"op": "test", "path": "/a", "value": []}],
        ["add"],
    ],
    ids=str,
)
def test_json_patch_that_cannot_be_done_is_refused(operations: object) -> None:
    with pytest.raises(ResourceError):
        operated({"a": [1]}, operations)


@pytest.mark.parametrize(
    ("target", "patch", "made"),
    [
        ({"a": {"b": 1}}, {"a": {"c": 2}}, {"a": {"b": 1, "c": 2}}),
        ({"a": {"b": 1}}, {"a": {"$patch": "replace", "c": 2}}, {"a": {"c": 2}}),
        ({"a": 1, "b": 2}, {"$retainKeys": ["a"], "a": 3}, {"a": 3}),
        ({"a": 1}, {"a": None}, {}),
        ({"ports": [{"port": 1}]}, {"ports": [{"port": 2}]}, {"ports": [{"port": 1}, {"port": 2}]}),
        (
            {"ports": [{"port": 1, "name": "a"}]},
            {"$setElementOrder/ports": [{"port": 1}], "ports": [{"port": 1, "name": "b"}]},
            {"ports": [{"port": 1, "name": "b"}]},
        ),
        (
            {"ports": [{"port": 1}]},
            {"ports": [{"$patch": "replace"}, {"port": 2}]},
            {"ports": [{"port": 2}]},
        ),
        (
            {"finalizers": ["a"]},
            {"finalizers": ["b"], "$setElementOrder/finalizers": ["a", "b"]},
            {"finalizers": ["a", "b"]},
        ),
        (
            {"finalizers": ["a", "b"]},
            {"$deleteFromPrimitiveList/finalizers": ["a"]},
            {"finalizers": ["b"]},
        ),
    ],
    ids=str,
)
def test_strategic_merges(target: Any, patch: Any, made: Any) -> None:  # noqa: ANN401
    assert strategic(target, patch) == made
