from __future__ import annotations

import pytest

from penstock.errors import ResourceError
from penstock.registry import document
from penstock.registry.references import Missing, is_inside, point, pointer, resolve, steps

BASE = "https://host/registry"
FILE = b'{"definitionGroups": {"a/b": {"list": [{"x": 1}]}}}'


@pytest.mark.parametrize("reference", ["#/a", "#", BASE, f"{BASE}/a", f"{BASE}#/a"])
def test_own_references_are_inside(reference: str) -> None:
    assert is_inside(reference, BASE)


@pytest.mark.parametrize("reference", ["https://other/registry/a", f"{BASE}2/a", "/registry/a", ""])
def test_other_references_are_outside(reference: str) -> None:
    assert not is_inside(reference, BASE)


@pytest.mark.parametrize(
    ("reference", "names", "suffix"),
    [
        ("#/a/b~1c/d~0e", ["a", "b/c", "d~e"], ""),
        ("#/a/b%20c", ["a", "b c"], ""),
        (f"{BASE}/a/b%2Fc", ["a", "b/c"], ""),
        (f"{BASE}/a/b#Name", ["a", "b"], "Name"),
        (f"{BASE}/#/a/b", ["a", "b"], ""),
    ],
)
def test_reference_is_taken_apart(reference: str, names: list[str], suffix: str) -> None:
    assert steps(reference, BASE) == (names, suffix)


@pytest.mark.covers("REG-168")
def test_reference_to_a_file_points_into_what_was_fetched() -> None:
    address, _, fragment = "https://host/x.cereg#/definitionGroups/a~1b/list/0".partition("#")
    fetched = document.parse(FILE, document.JSON)

    assert address.endswith(".cereg")
    assert resolve(fetched, fragment) == {"x": 1}


def test_file_that_lacks_the_object_is_named_with_the_step() -> None:
    with pytest.raises(ResourceError, match="'none'"):
        resolve(document.parse(FILE, document.JSON), "/definitionGroups/none/x")


def test_pointer_starts_with_a_slash() -> None:
    with pytest.raises(Missing):
        pointer("a/b")
    assert pointer("") == []
    assert point({"a": 1}, []) == {"a": 1}
