from __future__ import annotations

import pickle
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from penstock import filters
from penstock.errors import ConflictError
from penstock.events import CloudEvent
from penstock.filters import DIALECTS, Attributes, Everything, Filter, Place, dialects
from penstock.filters.all import All
from penstock.filters.exact import Exact
from penstock.filters.prefix import Prefix
from tests.cesql.strategies import events, examples
from tests.filters.support import (
    Shape,
    an_event,
    document,
    maps,
    meetings,
    meetings_of,
    passes,
    problems,
    refusal,
    shapes,
)

A = {"exact": {"type": "a"}}


@pytest.mark.parametrize("nothing", [None, [], ()])
def test_no_filters_let_everything_pass(nothing: object) -> None:
    assert filters.parse_all(nothing) == Everything()


def test_several_filters_must_all_match() -> None:
    filter_ = filters.parse_all([A, {"prefix": {"subject": "s"}}])

    assert filter_ == All((Exact({"type": "a"}), Prefix({"subject": "s"})))


def test_one_filter_stands_for_itself() -> None:
    assert filters.parse_all([A]) == Exact({"type": "a"})


@pytest.mark.parametrize("wrong", ["x", {}, A, 5])
def test_filters_must_be_an_array(wrong: object) -> None:
    assert list(problems(lambda: filters.parse_all(wrong))) == ["filters"]


def test_every_problem_is_reported_with_its_path() -> None:
    wrong = [{"exact": {"Type": "x"}}, {"all": [A, {"exact": {"data": ""}}, {"sql": "x ="}]}, 5, {}]

    found = problems(lambda: filters.parse_all(wrong, "spec.filters"))

    assert list(found) == [
        "spec.filters[0].exact.Type",
        "spec.filters[1].all[1].exact.data",
        "spec.filters[1].all[2].sql",
        "spec.filters[2]",
        "spec.filters[3]",
    ]


@pytest.mark.parametrize(
    "expression", [{}, {"exact": {"a": "1"}, "prefix": {"a": "1"}}, [], "x", None]
)
def test_expression_has_exactly_one_dialect(expression: object) -> None:
    assert list(refusal(expression)) == ["f"]


def test_unknown_dialect_is_refused_and_the_known_ones_named() -> None:
    (message,) = refusal({"nosuch": {}}).values()

    assert all(name in message for name in DIALECTS)


def nested(levels: int) -> dict[str, Any]:
    expression: dict[str, Any] = A
    for level in range(levels - 1):
        expression = {"not": expression} if level % 2 else {"all": [expression]}
    return expression


def test_nesting_up_to_the_limit_is_read() -> None:
    filter_ = filters.parse(nested(filters.DEEPEST))

    assert filters.parse(filter_.document()) == filter_


@pytest.mark.parametrize("levels", [filters.DEEPEST + 1, 20_000])
def test_deeper_nesting_is_refused(levels: int) -> None:
    (message,) = refusal(nested(levels)).values()

    assert "nested deeper than 32" in message


def test_list_counts_like_the_filters_in_it() -> None:
    assert not problems(lambda: filters.parse_all([nested(filters.DEEPEST)]))
    assert problems(lambda: filters.parse_all([nested(filters.DEEPEST + 1)]))


@pytest.mark.parametrize(
    "large",
    [
        {"exact": {"type": "x" * 300_000}},
        {"exact": {"x" * 300_000: "x"}},
        {"any": [A] * 100_000},
        {"sql": "x" * 300_000},
    ],
    ids=["text", "name", "list", "sql"],
)
def test_large_filter_is_refused_quickly(large: object) -> None:
    started = time.process_time()

    (message,) = refusal(large).values()

    assert "larger than 262144" in message
    assert time.process_time() - started < 1


def test_ten_thousand_alternatives_are_read() -> None:
    many = {"any": [{"exact": {"id": str(number)}} for number in range(10_000)]}

    cover = filters.parse(many).cover()

    assert cover is not None
    assert len(cover) == 10_000


@dataclass(frozen=True, slots=True)
class Even:
    """A dialect of strangers: matches events whose attribute is an even number."""

    name: str

    @classmethod
    def read(cls, value: object, at: Place) -> Self:
        if not isinstance(value, str):
            raise at.refuse("must be an attribute name")
        return cls(value)

    def matches(self, event: Attributes) -> bool:
        value = event.value(self.name)
        return isinstance(value, int) and value % 2 == 0

    def names(self) -> frozenset[str]:
        return frozenset({self.name})

    def cover(self) -> None:
        return None

    def document(self) -> dict[str, object]:
        return {"https://example.com/even": self.name}


@dataclass(frozen=True)
class Entry:
    name: str
    value: str


Install = Callable[..., None]


@pytest.fixture
def install(monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    def entries(*found: Entry) -> None:
        monkeypatch.setattr(filters, "entry_points", lambda group: found if group else ())
        dialects.cache_clear()

    yield entries
    dialects.cache_clear()


def test_strangers_join_by_entry_point(install: Install) -> None:
    install(Entry("https://example.com/even", "tests.filters.test_filters:Even"))

    filter_ = filters.parse({"not": {"https://example.com/even": "n"}})

    assert not filter_.matches(an_event(n=4))
    assert filter_.matches(an_event(n=5))
    assert filters.parse(filter_.document()) == filter_
    assert list(refusal({"https://example.com/even": 5})) == ["f.https://example.com/even"]


EXAMPLE = """
class Never:
    @classmethod
    def read(cls, value, at):
        return cls()

    def matches(self, event):
        return False
"""


@pytest.mark.usefixtures("install")
def test_installed_package_brings_a_dialect(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "example_never.py").write_text(EXAMPLE)
    folder = tmp_path / "example_never-1.0.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: example-never\nVersion: 1.0\n")
    (folder / "entry_points.txt").write_text("[penstock.filters]\nnever = example_never:Never\n")
    monkeypatch.syspath_prepend(tmp_path)
    dialects.cache_clear()

    filter_ = filters.parse({"any": [{"never": {}}, {"exact": {"id": "7"}}]})

    assert [filter_.matches(an_event(id=id_)) for id_ in ("7", "8")] == [True, False]


@pytest.mark.parametrize(
    "entries",
    [[Entry("exact", "other:Exact")], [Entry("x", "one:X"), Entry("x", "two:X")]],
    ids=["built in", "two strangers"],
)
def test_second_implementation_of_a_name_fails(install: Install, entries: list[Entry]) -> None:
    install(*entries)

    with pytest.raises(ConflictError, match="two implementations") as caught:
        filters.parse(A)

    assert caught.value.address == entries[0].name


@pytest.mark.parametrize("name", DIALECTS)
def test_table_leads_to_a_dialect(name: str) -> None:
    assert refusal({name: 5})


@settings(max_examples=examples(250), suppress_health_check=[HealthCheck.too_slow])
@given(meetings)
def test_filter_says_what_the_plain_reading_says(meeting: tuple[Shape, CloudEvent]) -> None:
    shape, event = meeting
    filter_ = filters.parse(document(shape))

    assert filter_.matches(event) is passes(shape, event)


@settings(max_examples=examples(250), suppress_health_check=[HealthCheck.too_slow])
@given(meetings)
def test_some_lookup_holds_wherever_the_filter_matches(meeting: tuple[Shape, CloudEvent]) -> None:
    shape, event = meeting
    filter_ = filters.parse(document(shape))
    cover = filter_.cover()

    covered = cover is None or any(lookup.holds(event) for lookup in cover)

    assert covered or not filter_.matches(event)


@settings(max_examples=examples(100), suppress_health_check=[HealthCheck.too_slow])
@given(shapes, events())
def test_no_other_attribute_changes_the_answer(shape: Shape, event: CloudEvent) -> None:
    filter_ = filters.parse(document(shape))
    names = filter_.names()

    class Narrow:
        def text(self, name: str) -> str | None:
            return event.text(name) if name in names else None

        def value(self, name: str) -> object | None:
            return event.value(name) if name in names else None

    assert filter_.matches(Narrow()) is filter_.matches(event)


@settings(max_examples=examples(100), suppress_health_check=[HealthCheck.too_slow])
@given(shapes)
def test_filter_survives_its_document_and_pickling(shape: Shape) -> None:
    filter_ = filters.parse(document(shape))

    assert filters.parse(filter_.document()) == filter_
    assert filters.parse_all(filters.documents(filter_)) == filter_
    assert pickle.loads(pickle.dumps(filter_)) == filter_  # noqa: S301
    assert hash(filters.parse(document(shape))) == hash(filter_)


@pytest.mark.parametrize(
    ("method", "planted"),
    [
        ("matches", lambda self, event: event.text(next(iter(self.texts))) is not None),
        ("cover", lambda self: Exact(self.texts).cover()),
    ],
    ids=["matches", "cover"],
)
def test_a_planted_bug_is_found(
    monkeypatch: pytest.MonkeyPatch, method: str, planted: Callable[..., object]
) -> None:
    monkeypatch.setattr(Prefix, method, planted)

    @settings(
        max_examples=3000,
        database=None,
        derandomize=True,
        phases=[Phase.generate],
        suppress_health_check=[HealthCheck.too_slow],
    )
    @given(meetings_of(maps))
    def search(meeting: tuple[Shape, CloudEvent]) -> None:
        shape, event = meeting
        filter_ = filters.parse(document(shape))
        cover = filter_.cover()
        matched = filter_.matches(event)
        assert matched is passes(shape, event)
        assert not matched or cover is None or any(lookup.holds(event) for lookup in cover)

    with pytest.raises(AssertionError):
        search()


def test_everything_has_an_empty_list_of_documents() -> None:
    assert filters.documents(Everything()) == []


def test_filters_are_what_the_protocol_says() -> None:
    assert isinstance(filters.parse(A), Filter)
