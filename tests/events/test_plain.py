from __future__ import annotations

import msgspec
import pytest
from hypothesis import given

from penstock.events import CloudEvent, checks
from penstock.events.plain import Passed, is_plain
from penstock.events.values import is_string
from tests.events.strategies import events, old_events

BROKEN: dict[str, list[object]] = {
    "id": ["", "a\n", 5, None],
    "source": ["", "::bad", None, []],
    "type": ["", "a\n", None],
    "specversion": ["", "0.3", None],
    "subject": ["", "\x7f", 5],
    "time": ["", "2018-02-30T00:00:00Z", 5],
    "datacontenttype": ["", "xml", 5],
    "dataschema": ["", "/x", 5],
    "extensions": [
        *({name: "x"} for name in ("A", "id", "data", "datacontenttype", "", "sampledrate")),
        *({"x": "\n"}, {"x": 2**31}, {"x": {}}, {"x": 1.5}, {"x": None}),
        *({"partitionkey": ""}, {"partitionkey": 5}, {"partitionkey": True}),
    ],
}
EVENT = CloudEvent("1", "/s", "t", subject="s", time="2018-04-05T17:31:00Z", datacontenttype="a/b")


@given(events() | old_events())
def test_quick_yes_never_contradicts_the_full_check(event: CloudEvent) -> None:
    assert not list(checks.faults(event))


@pytest.mark.parametrize(
    ("field", "value"),
    [(field, value) for field, values in BROKEN.items() for value in values],
    ids=repr,
)
def test_broken_event_is_never_plain(field: str, value: object) -> None:
    broken = msgspec.structs.replace(EVENT, **{field: value})

    assert is_plain(EVENT)
    assert not is_plain(broken)
    assert broken.problems()


@pytest.mark.parametrize("name", ["1x", "contenttype", "schemaurl", "data", "id"])
def test_name_against_0_2_is_not_plain(name: str) -> None:
    old = CloudEvent("1", "/s", "t", "0.2", extensions={"subject": "x"})

    assert is_plain(old)
    assert not is_plain(msgspec.structs.replace(old, extensions={name: "x"}))


def test_memory_of_passed_texts_is_bounded() -> None:
    passed = Passed(is_string)

    for number in range(3 * Passed.size):
        assert passed.admits(str(number))
    assert passed.admits("x" * (Passed.length + 1))

    assert 0 < len(passed) <= Passed.size
    assert max(map(len, passed)) <= Passed.length


def test_text_that_fails_is_not_remembered() -> None:
    passed = Passed(is_string)

    assert not passed.admits("\n")
    assert not passed.admits("")
    assert passed == set()
