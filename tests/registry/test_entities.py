from __future__ import annotations

import pytest

from penstock.registry.entities import Place, key, next_id, ordered, segment


@pytest.mark.parametrize(
    ("ids", "expected"),
    [
        (("10", "9", "1"), ("1", "9", "10")),
        (("2.0", "10.0", "1.0"), ("1.0", "2.0", "10.0")),
        (("v3-rc1", "v3", "1.10", "2.0"), ("v3", "2.0", "1.10", "v3-rc1")),
        ((), ()),
    ],
)
def test_versions_are_ordered_by_padded_ids(
    ids: tuple[str, ...], expected: tuple[str, ...]
) -> None:
    assert ordered(ids) == expected


@pytest.mark.parametrize(
    ("ids", "expected"),
    [
        ((), "1"),
        (("1",), "2"),
        (("9",), "10"),
        (("99", "7"), "100"),
        (("1.0",), "100"),
        (("2.9",), "200"),
        (("9a",), "100"),
        (("1a0",), "200"),
        (("007",), "100"),
        (("-5",), "10"),
        (("v3-rc1",), "1000000"),
        (("ü",), "10"),
    ],
)
def test_next_id_is_the_smallest_number_above_all(ids: tuple[str, ...], expected: str) -> None:
    found = next_id(ids)

    assert found == expected
    assert ordered((*ids, found))[-1] == found
    assert all(
        ordered((*ids, str(n)))[-1] != str(n) or str(n) in ids
        for n in range(1, int(found))
        if n < 2000
    )


def test_keys_ignore_case_and_keep_slashes_apart() -> None:
    assert key("A", "ß") == key("a", "SS")
    assert key("a/b", "c") != key("a", "b/c")
    assert key("a%2fb") != key("a/b")


def test_place_has_an_address_that_can_be_split_again() -> None:
    place = Place("schemaGroups", "a/b", "schemas", "c d?#%")

    assert place.path == "/schemaGroups/a%2Fb/schemas/c%20d%3F%23%25"
    assert segment("urn:uuid:1") == "urn:uuid:1"
    assert place.key.startswith(f"{place.above}/")
