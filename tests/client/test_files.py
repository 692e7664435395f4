from __future__ import annotations

import json

import pytest

from penstock.client import batches, check_events, document, event, read_events
from penstock.errors import EventError


def an_event(number: int, **more: object) -> dict[str, object]:
    core = {"specversion": "1.0", "id": str(number), "source": "/s", "type": "t"}
    return core | more


def ids(body: bytes) -> list[str]:
    return [one.id for one in read_events(body)]


@pytest.mark.parametrize(
    "body",
    [
        json.dumps([an_event(1), an_event(2)]),
        json.dumps([an_event(1), an_event(2)], indent=2),
        f"{json.dumps(an_event(1))}\n{json.dumps(an_event(2))}\n",
        f"\n{json.dumps(an_event(1))}\r\n\r\n{json.dumps(an_event(2))}",
    ],
    ids=["array", "indented array", "lines", "empty lines"],
)
def test_events_are_read_from_every_form(body: str) -> None:
    assert ids(body.encode()) == ["1", "2"]
    assert check_events(body.encode()) == 2


@pytest.mark.parametrize("indent", [None, 2], ids=["one line", "indented"])
def test_one_event_is_a_file_too(indent: int | None) -> None:
    body = json.dumps(an_event(1), indent=indent).encode()

    assert ids(body) == ["1"]


@pytest.mark.parametrize("body", [b"", b" \n ", b"[]"])
def test_empty_file_has_no_events(body: bytes) -> None:
    assert check_events(body) == 0
    assert ids(body) == []


def test_all_that_is_wrong_is_said_with_its_line() -> None:
    lines = [json.dumps(an_event(1)), "{", json.dumps(an_event(3, type="", source=""))]

    with pytest.raises(EventError) as caught:
        check_events("\n".join(lines).encode())

    assert [problem.path for problem in caught.value.problems] == [
        "line 2",
        "line 3 source",
        "line 3 type",
    ]


def test_all_that_is_wrong_is_said_with_its_index() -> None:
    body = json.dumps([an_event(1, Bad="x"), an_event(2), {"id": 3}]).encode()

    with pytest.raises(EventError) as caught:
        check_events(body)

    places = {problem.path.split()[0] for problem in caught.value.problems}
    assert places == {"[0]", "[2]"}


@pytest.mark.parametrize("body", [b"[", b"hello", b"\xff\xfe", b'"text"', b"[1]"])
def test_what_is_no_event_is_an_event_error(body: bytes) -> None:
    with pytest.raises(EventError):
        check_events(body)


def test_batches_have_a_largest_number() -> None:
    events = [event(type="t", source="/s") for _ in range(5)]

    assert [len(batch) for batch in batches(events, 2)] == [2, 2, 1]


def test_batches_have_a_largest_size() -> None:
    events = [event(type="t", source="/s", data=bytes(1 << 20)) for _ in range(5)]

    assert [len(batch) for batch in batches(events)] == [3, 2]


def test_batches_do_not_mix_versions() -> None:
    events = [event(type="t", source="/s", specversion=one) for one in ("1.0", "0.2", "0.2")]

    assert [len(batch) for batch in batches(events)] == [1, 2]


def test_document_is_read_back_as_the_same_event() -> None:
    made = event(type="t", source="/s", subject="ä", data={"a": [1]}, myext="x")

    assert list(read_events(document(made))) == [made]
