from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from unittest.mock import Mock

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from penstock.events import CloudEvent
from penstock.events.entry import Entry
from penstock.filters.not_ import Not
from penstock.formats import arrow
from penstock.routing import Route, answers, classes
from penstock.routing.index import Index
from tests.cesql.strategies import TEXTS
from tests.events import strategies as valid
from tests.filters.support import an_event, document, shapes
from tests.routing.routes import a_route

STREAMS = ("brokers/a/a", "brokers/a/b")
# Few texts, so that filters match now and then; some differ only in their type or place.
texts = st.sampled_from(
    [*(text for text in TEXTS if text), "a", "ab", "b", "5", "true", "1.5", "é"]
)
values: st.SearchStrategy[Any] = texts | st.sampled_from([5, True, False, 1.5, {"a": 1}, ["a"]])
names = st.sampled_from(["x", "y", "subject", "contenttype", "datacontenttype", "schemaurl"])


@st.composite
def events(draw: st.DrawFn) -> CloudEvent:
    """Events of both versions, on purpose not all valid: odd ones must not be lost either."""
    maybe = st.none() | texts
    return CloudEvent(
        draw(texts),
        draw(texts),
        draw(texts),
        draw(st.sampled_from(["1.0", "0.2"])),
        draw(maybe),
        draw(maybe),
        draw(maybe),
        draw(maybe),
        draw(st.dictionaries(names, values, max_size=3)),
    )


@st.composite
def routes(draw: st.DrawFn) -> list[Route]:
    documents = draw(st.lists(st.lists(shapes.map(document), max_size=2), max_size=8))
    return [
        a_route(
            f"r{number}",
            stream=draw(st.sampled_from(STREAMS)),
            filters=found,
            source=draw(st.none() | texts),
            types=tuple(draw(st.lists(texts, max_size=2))),
        )
        for number, found in enumerate(documents)
    ]


entries = st.builds(Entry, st.sampled_from(STREAMS), events() | valid.events(), st.just(0))
batches = st.lists(entries, min_size=1, max_size=12)


def by_force(table: Sequence[Route], entry: Entry) -> set[str]:
    return {
        route.id
        for route in table
        if route.stream == entry.stream and route.condition().matches(entry.event)
    }


def found(index: Index, some: Sequence[Entry]) -> list[set[str]]:
    by_row = dict(index.match(arrow.pack(some)).each())
    listed = [[route.id for route in by_row.get(row, ())] for row in range(len(some))]
    assert all(len(mine) == len(set(mine)) for mine in listed), "a route is found once"
    return [set(mine) for mine in listed]


def an_entry(stream: str = STREAMS[0], **attributes: Any) -> Entry:  # noqa: ANN401
    return Entry(stream, an_event(**attributes), 0)


def old(**extensions: Any) -> Entry:  # noqa: ANN401
    event = CloudEvent("1", "/a", "t", "0.2", extensions=extensions)
    return Entry(STREAMS[0], event, 0)


@settings(max_examples=120)
@given(routes(), batches)
@example(
    [a_route(stream=STREAMS[0], filters=[{"exact": {"x": "1.5"}}])],
    [old(x={"a": 1}), old(x=1.5)],
)
def test_batch_is_matched_as_every_filter_alone_would(
    table: list[Route], some: list[Entry]
) -> None:
    index = Index(table)

    assert found(index, some) == [by_force(table, entry) for entry in some]


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(routes(), batches)
def test_values_that_are_looked_up_together_are_matched_as_each_alone(
    monkeypatch: pytest.MonkeyPatch, table: list[Route], some: list[Entry]
) -> None:
    monkeypatch.setattr(classes, "MANY", 0)

    assert found(Index(table), some) == [by_force(table, entry) for entry in some]


@given(routes(), entries)
def test_one_event_is_matched_as_every_filter_alone_would(table: list[Route], entry: Entry) -> None:
    matched = Index(table).matches(entry.stream, entry.event)

    assert {route.id for route in matched} == by_force(table, entry)


@settings(max_examples=60)
@given(routes(), routes(), st.sets(st.integers(0, 7)), batches)
def test_changed_index_is_like_a_new_one(
    first: list[Route], second: list[Route], dropped: set[int], some: list[Entry]
) -> None:
    index = Index(first)
    index.match(arrow.pack(some))
    for number in dropped:
        index.drop(f"r{number}")
    left = {route.id: route for route in first if int(route.id[1:]) not in dropped}
    for route in second:
        index.put(route)
    expected = [*(left | {route.id: route for route in second}).values()]

    assert len(index) == len(expected)
    assert found(index, some) == [by_force(expected, entry) for entry in some]


def test_route_that_is_put_again_takes_the_place_of_the_old_one() -> None:
    index = Index([a_route(stream=STREAMS[0], types=("a",))])

    index.put(a_route(stream=STREAMS[1], types=("b",)))

    some = [an_entry(stream, type=kind) for stream in STREAMS for kind in "ab"]
    assert found(index, some) == [set(), set(), set(), {"r"}]


def test_stopped_route_is_not_matched() -> None:
    index = Index([a_route("a", stream=STREAMS[0]), a_route("b", stream=STREAMS[0])])

    index.put(a_route("b", stream=STREAMS[0], stopped=True))

    assert found(index, [an_entry()]) == [{"a"}]
    assert len(index) == 1


def test_empty_index_matches_nothing() -> None:
    assert found(Index(), [an_entry(), old()]) == [set(), set()]


def test_empty_batch_goes_nowhere() -> None:
    matches = Index([a_route()]).match(arrow.pack([]))

    assert list(matches.each()) == []


def test_sliced_batch_is_matched_by_its_own_rows() -> None:
    index = Index([a_route(key, stream=STREAMS[0], types=(key,)) for key in "ab"])
    batch = arrow.pack([an_entry(type=kind) for kind in "aabb"]).slice(1, 2)

    matches = index.match(batch)

    assert [(row, route.id) for row, (route,) in matches.each()] == [(0, "a"), (1, "b")]


@pytest.mark.parametrize("count", [1, 50])
def test_rows_that_no_filter_tells_apart_are_judged_once(
    count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = Mock(return_value=True)
    monkeypatch.setattr(Not, "matches", asked)
    never = {"not": {"prefix": {"type": "order."}}}
    index = Index([a_route(stream=STREAMS[0], filters=[never])])
    some = [an_entry(type=f"order.{number}", subject=str(number)) for number in range(count)]

    assert found(index, some) == [{"r"}] * count
    assert asked.call_count == 1


@pytest.mark.parametrize(
    "filters",
    [
        [{"all": [{"exact": {"type": "a"}}, {"prefix": {"subject": "b"}}]}],
        [{"sql": "type = 'a' AND subject LIKE 'b%' AND EXISTS x"}],
        [{"any": [{"exact": {"type": "a"}}, {"exact": {"type": "b"}}]}, {"suffix": {"x": "b"}}],
        [{"attributes": {"type": "a", "x": ""}}],
    ],
)
def test_conjunction_of_lookups_is_judged_without_an_event(
    filters: list[dict[str, object]], monkeypatch: pytest.MonkeyPatch
) -> None:
    index = Index([a_route(stream=STREAMS[0], filters=filters)])
    some = [
        an_entry(type=type_, subject=subject, **extensions)
        for type_ in "ab"
        for subject in (None, "b", "ab")
        for extensions in ({}, {"x": "ab"}, {"x": 5})
    ]
    expected = [by_force([a_route(stream=STREAMS[0], filters=filters)], entry) for entry in some]
    monkeypatch.setattr(answers.Heads, "events", None)

    assert found(index, some) == expected
    assert {"r"} in expected


def test_many_columns_of_many_values_do_not_overflow() -> None:
    conditions = ["id", "source", "type", "subject", "time", "datacontenttype", "x", "y"]
    sql = " OR ".join(f"{name} = '777'" for name in conditions)
    index = Index([a_route(stream=STREAMS[0], filters=[{"sql": sql}])])
    some = [
        an_entry(**{name: str(number * 7 + place) for place, name in enumerate(conditions)})
        for number in range(1_000)
    ]

    hits = [number for number, mine in enumerate(found(index, some)) if mine]

    assert hits == [110, 111]
