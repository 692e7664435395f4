from __future__ import annotations

import pytest

from penstock.errors import ResourceError
from penstock.filters.exact import Exact
from tests.filters.support import an_event, refusal

EVENT = an_event(type="a.b", subject="s", n=5, flag=True, raw=b"ab", contenttype="x/y")


@pytest.mark.parametrize(
    "texts",
    [
        {"type": "a.b"},
        {"type": "a.b", "subject": "s"},
        {"n": "5"},
        {"flag": "true"},
        {"raw": "YWI="},
    ],
)
def test_equal_attributes_match(texts: dict[str, str]) -> None:
    assert Exact(texts).matches(EVENT)


@pytest.mark.parametrize(
    "texts",
    [
        {"type": "a"},
        {"type": "a.b.c"},
        {"type": "A.B"},
        {"type": "a.b", "subject": "other"},
        {"n": "05"},
        {"flag": "TRUE"},
        {"missing": "x"},
        {"type": "a.b", "missing": "x"},
    ],
)
def test_other_attributes_do_not_match(texts: dict[str, str]) -> None:
    assert not Exact(texts).matches(EVENT)


def test_map_of_an_old_event_never_matches() -> None:
    event = an_event(specversion="0.2", ext={"a": 1})

    assert not Exact({"ext": '{"a":1}'}).matches(event)


@pytest.mark.parametrize(
    ("version", "attribute"),
    [("0.2", "datacontenttype"), ("0.2", "contenttype"), ("1.0", "contenttype")],
)
def test_name_of_the_other_version_is_known(version: str, attribute: str) -> None:
    event = an_event(specversion=version, datacontenttype="text/plain")

    assert Exact({attribute: "text/plain"}).matches(event)


@pytest.mark.parametrize(
    ("value", "paths"),
    [
        ("x", ["f.exact"]),
        (["x"], ["f.exact"]),
        (None, ["f.exact"]),
        ({}, ["f.exact"]),
        ({"": "x"}, ["f.exact."]),
        ({"type": ""}, ["f.exact.type"]),
        ({"type": 5}, ["f.exact.type"]),
        (
            {"type": None, "Type": "x", "data": "", "my-ext": "x"},
            ["f.exact.type", "f.exact.Type", "f.exact.data", "f.exact.my-ext"],
        ),
        ({"type\n": "x"}, ["f.exact.type\n"]),
        ({"é": "x"}, ["f.exact.é"]),
    ],
)
def test_wrong_shape_is_refused_at_its_path(value: object, paths: list[str]) -> None:
    assert list(refusal({"exact": value})) == paths


def test_one_name_can_have_two_problems() -> None:
    with pytest.raises(ResourceError) as caught:
        Exact({"Type": ""})

    assert [problem.path for problem in caught.value.problems] == ["exact.Type", "exact.Type"]


def test_cover_is_one_lookup_the_most_selective() -> None:
    cover = Exact({"type": "a", "id": "7", "specversion": "1.0"}).cover()

    assert {(one.kind, one.name, one.text) for one in cover or ()} == {("exact", "id", "7")}


def test_filters_with_the_same_texts_are_equal() -> None:
    one, other = Exact({"a": "1", "b": "2"}), Exact({"b": "2", "a": "1"})

    assert one == other
    assert len({one, other}) == 1
