"""Filters, events and three ways to ask: row by row, the match index, a Spark column."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from penstock import filters
from penstock.cesql.tree import Not
from penstock.errors import ResourceError
from penstock.events import CloudEvent, Value
from penstock.filters import Filter
from penstock.filters.prefix import Prefix
from penstock.filters.suffix import Suffix
from penstock.pipeline import columns, columns_sql
from penstock.pipeline.columns_sql import Logic
from penstock.routing import classes, slots
from penstock.routing.index import Index
from penstock.routing.reads import Reads, reads
from tests.cesql.strategies import events, examples, is_writable, texts, trees
from tests.events import strategies as valid
from tests.filters.support import Document, Shape, document, meeting, shapes
from tests.pipeline.table import Answers, compiled, packed
from tests.pipeline.table import answers as by_column
from tests.routing.routes import a_route

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

MOST_ROUTES = 500
IN_ONE_JOB = 60
# The attributes that have two names, or that one version has among its extensions.
OTHER_NAMES = {
    "num": "datacontenttype",
    "flag": "schemaurl",
    "x1": "dataschema",
    "id": "time",
    "type": "1a",
}


class World(NamedTuple):
    """Filters, and events of which some match them."""

    filters: list[Filter]
    events: list[CloudEvent]


def renamed(part: Any) -> Any:  # noqa: ANN401
    """The same filter on other attributes."""
    match part:
        case ("attr" | "exists" as kind, name):
            return kind, OTHER_NAMES.get(name, name)
        case ("lit", _):
            return part
        case dict():
            return {OTHER_NAMES.get(name, name): text for name, text in part.items()}
        case tuple() | list():
            return type(part)(map(renamed, part))
    return part


@st.composite
def odd_events(draw: st.DrawFn) -> CloudEvent:
    """Events that have attributes under the names of the other version as well."""
    old = draw(st.booleans())
    values = texts | st.integers(-9, 9) | st.booleans()
    if old:
        values |= st.sampled_from([1.5, 1e22, -0.0, {"a": {"1a": "x"}}, ["a", {}], 2**40])
    names = ["contenttype", "schemaurl", "1a"] + ["datacontenttype", "dataschema", "subject"] * old
    core = st.none() | texts
    return CloudEvent(
        draw(texts),
        draw(texts),
        draw(texts),
        "0.2" if old else "1.0",
        None if old else draw(core),
        draw(core),
        draw(core),
        draw(core),
        draw(st.dictionaries(st.sampled_from(names), values, max_size=4)),
    )


all_shapes: st.SearchStrategy[Shape] = st.one_of(
    shapes,
    shapes.map(renamed),
    st.tuples(st.just("sql"), trees.filter(is_writable)),
)
all_events = st.one_of(events(), events(), odd_events(), valid.events())


def world(count: int, *, always_the_same: bool = False) -> World:
    """So many filters, each made for one of so many events.

    They are gathered first, and then compared all with all: a job of Spark takes seconds.
    """
    found = World([], [])

    @settings(
        max_examples=count,
        derandomize=always_the_same,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(all_shapes, all_events, st.integers(0, 2**16))
    def gather(shape: Shape, event: CloudEvent, seed: int) -> None:
        adapted, _ = meeting(shape, event, seed)
        found.events.append(event)
        if is_writable(adapted):
            found.filters.extend(parsed(document(adapted)))

    gather()
    return found


@pytest.fixture(scope="module")
def fixed() -> World:
    return world(300, always_the_same=True)


def parsed(one: Document) -> list[Filter]:
    """The filter, unless it is refused: some call functions that do not exist."""
    try:
        return [filters.parse(one)]
    except ResourceError:
        return []


Differences = list[tuple[Mapping[str, object], CloudEvent]]


def differing(some: Iterable[Filter], several: Sequence[CloudEvent], said: Answers) -> Differences:
    """The pairs of which a filter says other than was said."""
    return [
        (one.document(), event)
        for one, answers_ in zip(some, said, strict=True)
        for event, answer in zip(several, answers_, strict=True)
        if one.matches(event) is not answer
    ]


def by_index(some: Sequence[Filter], several: Sequence[CloudEvent]) -> Answers:
    """What an index says that has a route for each filter, asked about all events at once."""
    index = Index(a_route(str(number), filters=[one.document()]) for number, one in enumerate(some))
    index.match(packed(several))
    # By now it remembers.
    by_row = dict(index.match(packed(several)).each())
    found = [{route.id for route in by_row.get(row, ())} for row in range(len(several))]
    return [[str(number) in mine for mine in found] for number in range(len(some))]


def wrong_in_index(found: World, routes: int) -> Differences:
    """Where indexes of so many routes say other than the filters."""
    return [
        difference
        for first in range(0, len(found.filters), routes)
        for some in [found.filters[first : first + routes]]
        for difference in differing(some, found.events, by_index(some, found.events))
    ]


def test_index_says_what_every_filter_says() -> None:
    found = world(examples(MOST_ROUTES))

    for routes in (MOST_ROUTES, 20, 2):
        assert wrong_in_index(found, routes) == []


@pytest.mark.parametrize("compile_", [False, True])
def test_column_says_what_every_filter_says(compile_: bool, spark: SparkSession) -> None:  # noqa: FBT001
    found = world(examples(IN_ONE_JOB))

    for first in range(0, len(found.filters), IN_ONE_JOB):
        some = found.filters[first : first + IN_ONE_JOB]
        with compiled(spark, wanted=compile_):
            said = by_column(spark, some, found.events)
        assert differing(some, found.events, said) == []


@pytest.mark.parametrize(
    ("text", "yes", "no"),
    [
        ("'05' = x", 5, "5"),
        ("x IN ('+1')", 1, True),
        ("x", True, "true"),
        ("EXISTS x", {"a": 1}, None),
        ("x = '{}'", {}, "[]"),
    ],
)
def test_values_that_only_a_filter_tells_apart_are_in_groups_of_their_own(
    text: str, yes: Value, no: Value | None
) -> None:
    values: list[dict[str, Value]] = [{"x": yes}, {} if no is None else {"x": no}]
    both = [CloudEvent("1", "/a", "t", "0.2", extensions=one) for one in values]

    assert by_index([filters.parse({"sql": text})], both) == [[True, False]]


def without_presence(condition: Filter) -> Reads:
    return reads(condition)._replace(presence=frozenset())


INDEX_BUGS: list[tuple[ModuleType, str, Callable[..., object]]] = [
    (slots, "reads", without_presence),
    (slots, "decided", lambda _: True),
    (classes, "_text", lambda value: value if isinstance(value, str) else None),
]


@pytest.mark.parametrize(("module", "name", "wrong"), INDEX_BUGS)
def test_bug_in_the_index_is_found(
    fixed: World,
    module: ModuleType,
    name: str,
    wrong: Callable[..., object],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, name, wrong)

    assert wrong_in_index(fixed, 2)


def or_without_errors(left: Logic, right: Logic) -> Logic:
    return Logic(left.true | right.true, left.false & right.false)


def not_without_errors(_: object, __: object, part: Logic) -> Logic:
    return Logic(~part.true, part.true)


# A table of rules, the rule to be replaced, by what, and which filters use it.
COLUMN_BUGS: list[tuple[Any, object, Callable[..., object], str]] = [
    (columns_sql.LOGIC_RULES, "OR", or_without_errors, " OR "),
    (columns_sql.RULES, Not, not_without_errors, "NOT "),
    (columns.RULES, Prefix, columns.RULES[Suffix], "'prefix'"),
]


@pytest.mark.parametrize(("rules", "key", "wrong", "users"), COLUMN_BUGS)
def test_bug_in_a_column_rule_is_found(  # noqa: PLR0913, PLR0917
    fixed: World,
    rules: Any,  # noqa: ANN401
    key: object,
    wrong: Callable[..., object],
    users: str,
    monkeypatch: pytest.MonkeyPatch,
    spark: SparkSession,
) -> None:
    some = [one for one in fixed.filters if users in str(one.document())][:IN_ONE_JOB]
    monkeypatch.setitem(rules, key, wrong)

    assert differing(some, fixed.events, by_column(spark, some, fixed.events))
