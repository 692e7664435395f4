from __future__ import annotations

import pytest

from penstock.filters.exact import Exact
from penstock.filters.suffix import Suffix
from tests.filters.support import an_event, refusal

EVENT = an_event(n=123, flag=True)


@pytest.mark.parametrize(
    "texts",
    [
        {"type": ".created"},
        {"type": "com.example.order.created"},
        {"type": "created", "source": "/42"},
        {"n": "3"},
        {"flag": "ue"},
    ],
)
def test_attributes_that_end_with_the_texts_match(texts: dict[str, str]) -> None:
    assert Suffix(texts).matches(EVENT)


@pytest.mark.parametrize(
    "texts",
    [
        {"type": ".CREATED"},
        {"type": "x.com.example.order.created"},
        {"type": "created", "source": "/43"},
        {"type": "com."},
        {"missing": "x"},
    ],
)
def test_other_attributes_do_not_match(texts: dict[str, str]) -> None:
    assert not Suffix(texts).matches(EVENT)


def test_missing_attribute_does_not_match() -> None:
    event = an_event(subject=None)

    assert not Suffix({"subject": "orders/"}).matches(event)


def test_map_of_an_old_event_never_matches() -> None:
    event = an_event(specversion="0.2", ext={"a": 1})

    assert not Suffix({"ext": "}"}).matches(event)


@pytest.mark.parametrize(
    ("value", "path"),
    [
        ("x", "f.suffix"),
        (["x"], "f.suffix"),
        ({}, "f.suffix"),
        ({"": "x"}, "f.suffix."),
        ({"type": ""}, "f.suffix.type"),
        ({"type": 5}, "f.suffix.type"),
        ({"Type": "x"}, "f.suffix.Type"),
    ],
)
def test_wrong_shape_is_refused_at_its_path(value: object, path: str) -> None:
    assert list(refusal({"suffix": value})) == [path]


def test_cover_is_the_longest_suffix() -> None:
    cover = Suffix({"type": "ab", "source": "abcdef"}).cover()

    assert {(one.kind, one.name, one.text) for one in cover or ()} == {
        ("suffix", "source", "abcdef")
    }


def test_same_texts_in_another_dialect_are_another_filter() -> None:
    others: list[object] = [Suffix({"type": "a"}), Exact({"type": "a"})]

    assert [other == Suffix({"type": "a"}) for other in others] == [True, False]
