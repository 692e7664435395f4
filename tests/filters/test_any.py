from __future__ import annotations

import pytest

from penstock.filters.any import Any
from penstock.filters.exact import Exact
from penstock.filters.not_ import Not
from penstock.filters.prefix import Prefix
from tests.filters.support import an_event, refusal

TYPE, SUBJECT = Exact({"type": "a"}), Prefix({"subject": "s"})
EITHER = Any((TYPE, SUBJECT))


@pytest.mark.parametrize(
    "event",
    [an_event(type="a"), an_event(type="b", subject="s1"), an_event(type="a", subject="s")],
)
def test_event_that_passes_one_filter_matches(event: object) -> None:
    assert EITHER.matches(event)  # type: ignore[arg-type]


def test_event_that_passes_none_does_not_match() -> None:
    assert not EITHER.matches(an_event(type="b", subject="t"))


@pytest.mark.parametrize(
    ("value", "paths"),
    [
        ([], ["f.any"]),
        ("x", ["f.any"]),
        ({"exact": {"type": "a"}}, ["f.any"]),
        ([{"nosuch": {}}], ["f.any[0].nosuch"]),
    ],
)
def test_wrong_shape_is_refused_at_its_path(value: object, paths: list[str]) -> None:
    assert list(refusal({"any": value})) == paths


def test_cover_is_that_of_all_filters_together() -> None:
    assert EITHER.cover() == (TYPE.cover() or frozenset()) | (SUBJECT.cover() or frozenset())


def test_one_filter_without_a_cover_leaves_none() -> None:
    assert Any((TYPE, Not(SUBJECT))).cover() is None


def test_names_are_those_of_all_filters() -> None:
    assert EITHER.names() == {"type", "subject"}
