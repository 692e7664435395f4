"""The filters of the Subscriptions API 0.1-wip and of Knative triggers, by requirement."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import pytest

from penstock import filters
from penstock.errors import ConflictError, ResourceError
from penstock.events import CloudEvent
from penstock.filters import dialects
from tests.filters.support import an_event

SPEC = "https://github.com/cloudevents/spec"
PUSH_TYPE = {"exact": {"type": "com.github.push"}}
OTHER_SUBJECT = {"exact": {"subject": "x"}}
NESTED = {
    "any": [
        {"all": [{"prefix": {"type": "a."}}, {"not": {"suffix": {"type": ".b"}}}]},
        {"exact": {"id": "7"}},
    ]
}
PUSH = an_event(
    type="com.github.push",
    subject=SPEC,
    seq=5,
    flag=True,
    myext="v",
)


def covers(*ids: str) -> pytest.MarkDecorator:
    return pytest.mark.covers(*ids)


def row(ids: str, document: object, **attributes: Any) -> Any:  # noqa: ANN401
    event = an_event(**attributes) if attributes else PUSH
    return pytest.param(document, event, marks=covers(*ids.split()), id=f"{ids} {document}")


@pytest.mark.parametrize(
    ("document", "event"),
    [
        row("SUB-040 SUB-041", {"exact": {"type": "com.github.push", "subject": SPEC}}),
        row("SUB-040 SUB-043", {"prefix": {"type": "com.github."}}),
        row("SUB-040 SUB-045", {"suffix": {"type": ".push", "subject": "/cloudevents/spec"}}),
        row("SUB-040 SUB-052", {"all": [PUSH_TYPE, {"prefix": {"subject": "https"}}]}),
        row("SUB-040 SUB-054", {"any": [PUSH_TYPE, OTHER_SUBJECT]}),
        row("SUB-040 SUB-056", {"not": {"exact": {"type": "com.github.pull"}}}),
        row("SUB-047", {"prefix": {"type": "com.github.push"}}),
        row("SUB-047", {"suffix": {"type": "com.github.push"}}),
        row("SUB-048", {"exact": {"myext": "v"}}),
        row("SUB-051", {"exact": {"seq": "5"}}),
        row("SUB-051", {"exact": {"flag": "true"}}),
        row("SUB-057", {"not": {"exact": {"subject": "x"}}}, type="a"),
        row("SUB-059", NESTED, type="a.c"),
        row("SUB-059", NESTED, type="a.b", id="7"),
        row("SUB-060 SUB-061", {"sql": "subject LIKE '%cloudevents%'"}),
        row("SUB-062", {"sql": "TRUE"}),
        row("SUB-065", {"not": {"sql": "missing = 1"}}),
        row("SUB-065", {"any": [{"sql": "missing = 1"}, {"sql": "seq = 5"}]}),
    ],
)
def test_filter_is_true(document: object, event: CloudEvent) -> None:
    assert filters.parse_all([document]).matches(event)


@pytest.mark.parametrize(
    ("document", "event"),
    [
        row("SUB-041", {"exact": {"type": "com.github.push", "subject": "x"}}),
        row("SUB-041", {"exact": {"type": "COM.GITHUB.PUSH"}}),
        row("SUB-043", {"prefix": {"type": "com.github."}}, type="Com.github.push"),
        row("SUB-043", {"prefix": {"type": "com.github."}}, type="com.githu"),
        row("SUB-045", {"suffix": {"type": ".PUSH"}}),
        row("SUB-045", {"suffix": {"type": ".push", "subject": "/other"}}),
        row("SUB-050", {"exact": {"subject": "x"}}, type="a"),
        row("SUB-050", {"prefix": {"missing": "x"}}),
        row("SUB-050", {"suffix": {"missing": "x"}}),
        row("SUB-052", {"all": [PUSH_TYPE, OTHER_SUBJECT]}),
        row("SUB-054", {"any": [{"exact": {"type": "x"}}, {"exact": {"subject": "x"}}]}),
        row("SUB-056", {"not": {"exact": {"type": "com.github.push"}}}),
        row("SUB-059", NESTED, type="a.b"),
        row("SUB-063", {"sql": "missing = 1"}),
        row("SUB-063", {"sql": "FALSE"}),
        row("SUB-063", {"sql": "1"}),
        row("SUB-063", {"sql": "'true'"}),
        row("SUB-065", {"all": [{"sql": "missing = 1"}, {"sql": "TRUE"}]}),
    ],
)
def test_filter_is_false(document: object, event: CloudEvent) -> None:
    assert not filters.parse_all([document]).matches(event)


def wrong(ids: str, document: object, path: str) -> Any:  # noqa: ANN401
    return pytest.param(document, path, marks=covers(*ids.split()), id=f"{ids} {document}")


@pytest.mark.parametrize(
    ("document", "path"),
    [
        wrong("SUB-035", {"nosuch": {}}, "filters[0].nosuch"),
        wrong("SUB-036", {"all": [{"not": {"nosuch": {}}}]}, "filters[0].all[0].not.nosuch"),
        wrong(
            "SUB-037", {"https://example.com/dialect": {}}, "filters[0].https://example.com/dialect"
        ),
        wrong("SUB-038", {}, "filters[0]"),
        wrong("SUB-038", {"exact": {"a": "1"}, "prefix": {"a": "1"}}, "filters[0]"),
        wrong("SUB-042", {"exact": {"": "x"}}, "filters[0].exact."),
        wrong("SUB-042", {"exact": {"type": ""}}, "filters[0].exact.type"),
        wrong("SUB-044", {"prefix": {"type": ""}}, "filters[0].prefix.type"),
        wrong("SUB-044", {"prefix": {"": "x"}}, "filters[0].prefix."),
        wrong("SUB-046", {"suffix": {"": "x"}}, "filters[0].suffix."),
        wrong("SUB-046", {"suffix": {"type": ""}}, "filters[0].suffix.type"),
        wrong("SUB-049", {"exact": "x"}, "filters[0].exact"),
        wrong("SUB-049", {"prefix": ["x"]}, "filters[0].prefix"),
        wrong("SUB-049", {"exact": {"type": 5}}, "filters[0].exact.type"),
        wrong("SUB-049", {"exact": {}}, "filters[0].exact"),
        wrong("SUB-049", {"exact": {"Type": "x"}}, "filters[0].exact.Type"),
        wrong("SUB-049", {"exact": {"data": "x"}}, "filters[0].exact.data"),
        wrong("SUB-049", {"exact": {"my-ext": "x"}}, "filters[0].exact.my-ext"),
        wrong("SUB-053", {"all": []}, "filters[0].all"),
        wrong("SUB-055", {"any": []}, "filters[0].any"),
        wrong("SUB-058", {"all": {"exact": {}}}, "filters[0].all"),
        wrong("SUB-058", {"any": "x"}, "filters[0].any"),
        wrong("SUB-056 SUB-058", {"not": [{"exact": {"type": "a"}}]}, "filters[0].not"),
        wrong("SUB-058", {"not": {}}, "filters[0].not"),
        wrong("SUB-061", {"sql": 5}, "filters[0].sql"),
        wrong("SUB-061", {"sql": {}}, "filters[0].sql"),
        wrong("SUB-064", {"sql": "ABC("}, "filters[0].sql"),
        wrong("SUB-064", {"sql": "NOSUCH(1)"}, "filters[0].sql"),
    ],
)
def test_wrong_filter_is_refused_at_its_path(document: object, path: str) -> None:
    with pytest.raises(ResourceError) as caught:
        filters.parse_all([document])

    assert [problem.path for problem in caught.value.problems] == [path]


@covers("SUB-064")
def test_wrong_expression_is_refused_with_the_position_of_the_fault() -> None:
    with pytest.raises(ResourceError, match=r"character 5\)\n  ABC\(\n      \^"):
        filters.parse_all([{"sql": "ABC("}])


@covers("SUB-031", "SUB-032")
def test_all_entries_must_be_true() -> None:
    filter_ = filters.parse_all([{"exact": {"type": "a"}}, {"exact": {"subject": "s"}}])

    assert not filter_.matches(an_event(type="a"))
    assert filter_.matches(an_event(type="a", subject="s"))


@covers("SUB-030", "SUB-033")
@pytest.mark.parametrize("absent", [None, []])
def test_absent_filters_are_true(absent: object) -> None:
    assert filters.parse_all(absent).matches(PUSH)


@covers("SUB-034")
def test_dialect_names_are_unique(monkeypatch: pytest.MonkeyPatch) -> None:
    class Second:
        name = "exact"
        value = "elsewhere:Exact"

    def found(group: str) -> list[type[Second]]:
        return [Second] if group == "penstock.filters" else []

    monkeypatch.setattr(filters, "entry_points", found)
    dialects.cache_clear()

    with pytest.raises(ConflictError, match="'exact'"):
        dialects()


@covers("SUB-039")
def test_order_of_filters_does_not_change_the_answer() -> None:
    entries = [{"exact": {"type": "a"}}, {"sql": "n > 4"}, {"not": {"prefix": {"id": "x"}}}]
    events = [an_event(type=type_, n=n) for type_ in ("a", "b") for n in (4, 5)]

    answers = {
        tuple(filters.parse_all(order).matches(event) for event in events)
        for order in permutations(entries)
    }

    assert answers == {(False, True, False, False)}


TRIGGERS: list[tuple[str, dict[str, str], dict[str, Any], bool]] = [
    ("KN-071", {"type": "a"}, {"type": "a"}, True),
    ("KN-071", {"type": "a"}, {"type": "b"}, False),
    ("KN-072", {"type": "a", "source": "s"}, {"type": "a"}, False),
    ("KN-072", {"type": "a", "source": "s"}, {"type": "a", "source": "s"}, True),
    ("KN-073", {"subject": ""}, {"type": "a"}, False),
    ("KN-074", {"type": "Abc"}, {"type": "abc"}, False),
    ("KN-074", {"type": "ab"}, {"type": "abc"}, False),
    ("KN-075", {"myext": ""}, {"myext": "anything"}, True),
    ("KN-076", {"myext": "v"}, {"myext": "v"}, True),
    ("KN-077", {}, {"type": "a"}, True),
    ("KN-078", {"n": "5", "flag": "true"}, {"n": 5, "flag": True}, True),
    ("KN-078", {"n": "05"}, {"n": 5}, False),
]


@pytest.mark.parametrize(
    ("attributes", "event", "passes"),
    [pytest.param(*rest, marks=covers(id_), id=f"{id_} {rest[0]}") for id_, *rest in TRIGGERS],
)
def test_trigger_takes_events_by_attributes(
    attributes: dict[str, str],
    event: dict[str, Any],
    passes: bool,  # noqa: FBT001
) -> None:
    filter_ = filters.trigger_attributes(attributes)

    assert filter_.matches(an_event(**event)) is passes


@covers("KN-077")
def test_trigger_without_a_filter_takes_every_event() -> None:
    assert filters.trigger_attributes(None).matches(PUSH)


@pytest.fixture(autouse=True)
def _fresh_dialects() -> Any:  # noqa: ANN401
    yield
    dialects.cache_clear()
