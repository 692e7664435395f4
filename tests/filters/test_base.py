from __future__ import annotations

from penstock import filters
from penstock.filters.base import Everything, Filter, Place
from tests.filters.support import an_event


def test_everything_matches_everything() -> None:
    everything = Everything()

    assert everything.matches(an_event())
    assert everything.names() == frozenset()
    assert everything.cover() is None


def test_everything_has_a_document_that_means_the_same() -> None:
    filter_ = filters.parse(Everything().document())

    assert filter_.matches(an_event())
    assert filter_.cover() is None


def test_place_of_a_member_is_below_its_whole() -> None:
    place = Place("filters", 1, lambda _, at: at.step(".x").parse(None, at))

    below = place.step("[0]").step(".exact")

    assert below.path == "filters[0].exact"
    assert below.refuse("no").problems[0].path == "filters[0].exact"


def test_nested_filter_is_one_level_deeper() -> None:
    depths: list[int] = []

    def parse(_: object, at: Place) -> Filter:
        depths.append(at.depth)
        return Everything()

    Place("f", 3, parse).nested({})

    assert depths == [4]
