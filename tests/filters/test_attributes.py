from __future__ import annotations

import pytest

from penstock import filters
from penstock.filters.attributes import AttributeMap
from penstock.filters.base import Everything
from tests.filters.support import an_event, problems, refusal

EVENT = an_event(type="a", n=5)


@pytest.mark.parametrize(
    "texts", [{"type": "a"}, {"type": "a", "n": "5"}, {"n": ""}, {"id": "", "type": ""}]
)
def test_map_matches(texts: dict[str, str]) -> None:
    assert AttributeMap(texts).matches(EVENT)


@pytest.mark.parametrize(
    "texts", [{"type": "A"}, {"type": "a", "n": "6"}, {"subject": ""}, {"type": "a", "subject": ""}]
)
def test_map_does_not_match(texts: dict[str, str]) -> None:
    assert not AttributeMap(texts).matches(EVENT)


def test_map_of_an_old_event_is_present_but_equals_no_text() -> None:
    event = an_event(specversion="0.2", ext={"a": 1})

    assert AttributeMap({"ext": ""}).matches(event)
    assert not AttributeMap({"ext": '{"a":1}'}).matches(event)


def test_cover_comes_from_the_texts_that_are_given() -> None:
    cover = AttributeMap({"subject": "", "type": "a"}).cover()

    assert {(one.kind, one.name, one.text) for one in cover or ()} == {("exact", "type", "a")}
    assert AttributeMap({"subject": ""}).cover() is None


@pytest.mark.parametrize("absent", [None, {}])
def test_trigger_without_attributes_takes_everything(absent: object) -> None:
    assert filters.trigger_attributes(absent) == Everything()


def test_trigger_attributes_are_refused_at_their_paths() -> None:
    found = problems(lambda: filters.trigger_attributes({"Type": "", "n": 5, "": "x"}))

    assert list(found) == [f"spec.filter.attributes.{name}" for name in ("Type", "n", "")]


def test_trigger_attributes_of_another_shape_are_refused() -> None:
    found = problems(lambda: filters.trigger_attributes(["type"], "a.b"))

    assert list(found) == ["a.b"]


def test_document_is_read_back() -> None:
    filter_ = filters.trigger_attributes({"type": "a", "subject": ""})

    assert filters.parse(filter_.document()) == filter_


def test_dialect_is_checked_like_the_others() -> None:
    assert list(refusal({"attributes": {"my-ext": "x"}})) == ["f.attributes.my-ext"]
