from __future__ import annotations

import pytest

from penstock.filters.all import All
from penstock.filters.exact import Exact
from penstock.filters.prefix import Prefix
from tests.filters.support import an_event, refusal

TYPE, SUBJECT = Exact({"type": "a"}), Prefix({"subject": "s"})
BOTH = All((TYPE, SUBJECT))


def test_event_that_passes_every_filter_matches() -> None:
    assert BOTH.matches(an_event(type="a", subject="s1"))


@pytest.mark.parametrize(
    "event", [an_event(type="a"), an_event(type="b", subject="s1"), an_event(type="b")]
)
def test_event_that_fails_one_filter_does_not_match(event: object) -> None:
    assert not BOTH.matches(event)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("value", "paths"),
    [
        ([], ["f.all"]),
        ({"exact": {"type": "a"}}, ["f.all"]),
        ("x", ["f.all"]),
        ([{"exact": {}}, {"exact": {"type": "a"}}, 5], ["f.all[0].exact", "f.all[2]"]),
    ],
)
def test_wrong_shape_is_refused_at_its_path(value: object, paths: list[str]) -> None:
    assert list(refusal({"all": value})) == paths


def test_cover_is_that_of_the_most_selective_filter() -> None:
    assert BOTH.cover() == TYPE.cover()


def test_names_are_those_of_all_filters() -> None:
    assert BOTH.names() == {"type", "subject"}
