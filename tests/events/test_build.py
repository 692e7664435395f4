from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from penstock.errors import EventError
from penstock.events import event
from penstock.events.values import parse_timestamp


@pytest.mark.covers("CE-017", "CE-037")
def test_event_is_filled_with_fresh_id_time_and_version() -> None:
    first, second = (event(type="com.example.made", source="/here") for _ in range(2))

    assert first.specversion == "1.0"
    assert first.id != second.id
    moment = parse_timestamp(first.time or "")
    assert moment is not None
    assert abs(moment - datetime.now(UTC)) < timedelta(minutes=1)


@pytest.mark.parametrize(
    ("data", "body", "content_type"),
    [
        ({"a": 1}, {"a": 1}, "application/json"),
        ([1, "é"], [1, "é"], "application/json"),
    ],
)
def test_structures_become_json(
    data: dict[str, Any] | list[Any], body: object, content_type: str
) -> None:
    made = event(type="t", source="/s", data=data)

    assert json.loads(made.data or b"") == body
    assert made.datacontenttype == content_type


def test_text_becomes_plain_text() -> None:
    made = event(type="t", source="/s", data="é")

    assert made.data == "é".encode()
    assert made.datacontenttype == "text/plain; charset=utf-8"


def test_bytes_stay_without_content_type() -> None:
    made = event(type="t", source="/s", data=b"\x00")

    assert made.data == b"\x00"
    assert made.datacontenttype is None


def test_given_attributes_win() -> None:
    made = event(
        type="t",
        source="/s",
        id="7",
        time=None,
        data={},
        datacontenttype="application/x+json",
        flag=True,
    )

    assert made.attributes() == {
        "specversion": "1.0",
        "id": "7",
        "source": "/s",
        "type": "t",
        "datacontenttype": "application/x+json",
        "flag": True,
    }


@pytest.mark.covers("CE-014")
def test_event_of_the_old_version_has_its_names() -> None:
    made = event(type="t", source="/s", specversion="0.2", data={"a": 1}, nested={"b": 2})

    assert made.attributes()["contenttype"] == "application/json"
    assert made.attributes()["nested"] == {"b": 2}


def test_every_problem_is_named() -> None:
    with pytest.raises(EventError) as caught:
        event(type="", source="http://[x", Bad=1, subject="")

    assert {problem.path for problem in caught.value.problems} == {
        "type",
        "source",
        "Bad",
        "subject",
    }


def test_data_that_is_no_json_is_named() -> None:
    with pytest.raises(EventError, match="data"):
        event(type="t", source="/s", data={"when": object()})
