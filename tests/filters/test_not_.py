from __future__ import annotations

import pytest

from penstock.filters.all import All
from penstock.filters.any import Any
from penstock.filters.base import Everything
from penstock.filters.exact import Exact
from penstock.filters.not_ import Not
from penstock.filters.prefix import Prefix
from tests.filters.support import an_event, refusal

TYPE, SUBJECT = Exact({"type": "a"}), Prefix({"subject": "s"})


def test_answer_is_inverted() -> None:
    assert Not(TYPE).matches(an_event(type="b"))
    assert not Not(TYPE).matches(an_event(type="a"))


def test_filter_on_a_missing_attribute_is_true() -> None:
    assert Not(SUBJECT).matches(an_event(subject=None))


@pytest.mark.parametrize(
    ("value", "path"),
    [
        ([{"exact": {"type": "a"}}], "f.not"),
        ({}, "f.not"),
        ("x", "f.not"),
        ({"exact": {"type": ""}}, "f.not.exact.type"),
        ({"not": {"nosuch": {}}}, "f.not.not.nosuch"),
    ],
)
def test_wrong_shape_is_refused_at_its_path(value: object, path: str) -> None:
    assert list(refusal({"not": value})) == [path]


def test_what_is_only_excluded_has_no_cover() -> None:
    assert Not(TYPE).cover() is None


def test_twice_not_has_the_cover_of_the_filter() -> None:
    assert Not(Not(TYPE)).cover() == TYPE.cover()


def test_not_any_is_covered_like_all_of_the_opposites() -> None:
    assert Not(Any((Not(TYPE), SUBJECT))).cover() == TYPE.cover()


def test_not_all_is_covered_like_any_of_the_opposites() -> None:
    cover = Not(All((Not(TYPE), Not(SUBJECT)))).cover()

    assert cover == Any((TYPE, SUBJECT)).cover()
    assert Not(All((Not(TYPE), SUBJECT))).cover() is None


def test_not_everything_is_never() -> None:
    assert Not(Everything()).cover() == frozenset()
    assert not Not(Everything()).matches(an_event())
