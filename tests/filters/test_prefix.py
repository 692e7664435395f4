from __future__ import annotations

import pytest

from penstock.filters.exact import Exact
from penstock.filters.prefix import Prefix
from tests.filters.support import an_event, refusal

EVENT = an_event(n=123, flag=True)


@pytest.mark.parametrize(
    "texts",
    [
        {"type": "com.example."},
        {"type": "com.example.order.created"},
        {"type": "com", "source": "/shops/"},
        {"n": "1"},
        {"flag": "tr"},
    ],
)
def test_attributes_that_start_with_the_texts_match(texts: dict[str, str]) -> None:
    assert Prefix(texts).matches(EVENT)


@pytest.mark.parametrize(
    "texts",
    [
        {"type": "Com.example."},
        {"type": "com.example.order.created.x"},
        {"type": "com", "source": "/other"},
        {"type": ".created"},
        {"missing": "x"},
    ],
)
def test_other_attributes_do_not_match(texts: dict[str, str]) -> None:
    assert not Prefix(texts).matches(EVENT)


def test_missing_attribute_does_not_match() -> None:
    event = an_event(subject=None)

    assert not Prefix({"subject": "orders/"}).matches(event)


def test_map_of_an_old_event_never_matches() -> None:
    event = an_event(specversion="0.2", ext={"a": 1})

    assert not Prefix({"ext": "{"}).matches(event)


@pytest.mark.parametrize(
    ("value", "path"),
    [
        ("x", "f.prefix"),
        (["x"], "f.prefix"),
        ({}, "f.prefix"),
        ({"": "x"}, "f.prefix."),
        ({"type": ""}, "f.prefix.type"),
        ({"type": 5}, "f.prefix.type"),
        ({"Type": "x"}, "f.prefix.Type"),
    ],
)
def test_wrong_shape_is_refused_at_its_path(value: object, path: str) -> None:
    assert list(refusal({"prefix": value})) == [path]


def test_cover_is_the_longest_prefix() -> None:
    cover = Prefix({"type": "ab", "source": "abcdef"}).cover()

    assert {(one.kind, one.name, one.text) for one in cover or ()} == {
        ("prefix", "source", "abcdef")
    }


def test_same_texts_in_another_dialect_are_another_filter() -> None:
    others: list[object] = [Prefix({"type": "a"}), Exact({"type": "a"})]

    assert [other == Prefix({"type": "a"}) for other in others] == [True, False]
