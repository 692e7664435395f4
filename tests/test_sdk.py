from __future__ import annotations

import json
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from cloudevents.core.bindings import http as sdk_http
from cloudevents.core.v1.event import CloudEvent as SdkEvent
from hypothesis import given

from penstock import sdk
from penstock.bindings import Mode, http
from penstock.errors import EventError, UnsupportedError
from penstock.events import CloudEvent, DataForm, event, from_attributes
from tests.events.strategies import events

ATTRIBUTES: dict[str, Any] = {
    "specversion": "1.0",
    "id": "1",
    "source": "/s",
    "type": "t",
    "subject": "é",
    "time": "2018-04-05T17:31:00.5Z",
    "dataschema": "https://example.com/",
    "flag": True,
}


@pytest.mark.parametrize(
    ("content_type", "data", "form", "value"),
    [
        ("application/json", b'{"a":1}', DataForm.BYTES, {"a": 1}),
        ("application/json", b"{broken", DataForm.BYTES, b"{broken"),
        (None, b'"x"', DataForm.JSON, "x"),
        (None, b"x", DataForm.BYTES, b"x"),
        ("text/plain", "é".encode(), DataForm.BYTES, "é"),
        ("text/plain", b"\xff", DataForm.BYTES, b"\xff"),
        ("image/png", b"\x01", DataForm.BYTES, b"\x01"),
        ("application/x", b"text", DataForm.TEXT, "text"),
        (None, None, DataForm.BYTES, None),
    ],
)
def test_event_becomes_one_of_the_sdk(
    content_type: str | None, data: bytes | None, form: DataForm, value: object
) -> None:
    ours = from_attributes({**ATTRIBUTES, "datacontenttype": content_type}, data, form)

    theirs = sdk.to_sdk(ours)

    assert isinstance(theirs, SdkEvent)
    assert theirs.get_data() == value
    assert theirs.get_time() == datetime(2018, 4, 5, 17, 31, 0, 500000, tzinfo=UTC)
    assert theirs.get_subject() == "é"
    assert theirs.get_extension("flag") is True


def test_event_without_time_gets_none() -> None:
    theirs = sdk.to_sdk(CloudEvent("1", "/s", "t"))

    assert theirs.get_time() is None
    assert sdk.from_sdk(theirs) == CloudEvent("1", "/s", "t")


def test_old_event_is_converted() -> None:
    theirs = sdk.to_sdk(CloudEvent("1", "/s", "t", "0.2", extensions={"map": {"a": 1}}))

    assert theirs.get_specversion() == "1.0"
    assert theirs.get_extension("map") == '{"a":1}'


def test_time_that_the_sdk_cannot_hold_is_unsupported() -> None:
    with pytest.raises(UnsupportedError):
        sdk.to_sdk(CloudEvent("1", "/s", "t", time="0000-01-01T00:00:00Z"))


@pytest.mark.parametrize(
    ("content_type", "value", "data", "form"),
    [
        ("application/json", {"a": 1}, b'{"a":1}', DataForm.BYTES),
        ("application/json", "x", b'"x"', DataForm.BYTES),
        (None, {"a": 1}, b'{"a":1}', DataForm.JSON),
        ("text/plain", "é", "é".encode(), DataForm.TEXT),
        (None, b"\x01", b"\x01", DataForm.BYTES),
        (None, None, None, DataForm.BYTES),
    ],
)
def test_event_of_the_sdk_becomes_ours(
    content_type: str | None,
    value: dict[str, Any] | str | bytes | None,
    data: bytes | None,
    form: DataForm,
) -> None:
    attributes = {"id": "1", "source": "/s", "type": "t", "time": datetime(2018, 4, 5, tzinfo=UTC)}
    if content_type is not None:
        attributes["datacontenttype"] = content_type

    ours = sdk.from_sdk(SdkEvent(attributes, value))

    assert (ours.data, ours.form) == (data, form)
    assert ours.time == "2018-04-05T00:00:00Z"
    assert ours.datacontenttype == content_type


def test_event_of_the_sdk_that_breaks_the_specification_is_refused() -> None:
    theirs = SdkEvent({"source": "::bad", "type": "t", "ext": {}})

    with pytest.raises(EventError) as caught:
        sdk.from_sdk(theirs)

    assert {problem.path for problem in caught.value.problems} == {"source", "ext"}


def test_data_of_the_sdk_that_is_no_json_is_refused() -> None:
    theirs = SdkEvent({"source": "/s", "type": "t"}, {"a": object()})

    with pytest.raises(EventError, match="data"):
        sdk.from_sdk(theirs)


@pytest.mark.covers("CE-002", "CE-092")
@pytest.mark.parametrize("mode", [Mode.BINARY, Mode.STRUCTURED])
def test_sdk_reads_what_we_write(mode: Mode) -> None:
    ours = event(type="t", source="/s", subject="Euro € 😀", data={"a": [1, "é"]})

    message = http.write(ours, mode)
    theirs = sdk_http.from_http_event(
        sdk_http.HTTPMessage({n.decode(): v.decode() for n, v in message.headers}, message.body)
    )

    assert theirs.get_subject() == "Euro € 😀"
    assert theirs.get_data() == {"a": [1, "é"]}
    assert sdk.from_sdk(theirs).attributes() == ours.attributes()


@pytest.mark.covers("CE-002", "CE-092", "CE-109")
@pytest.mark.parametrize("write", [sdk_http.to_binary_event, sdk_http.to_structured_event])
def test_we_read_what_the_sdk_writes(
    write: Callable[[SdkEvent], sdk_http.HTTPMessage],
) -> None:
    attributes = {
        "source": "https://example.com/a?b=%20",
        "type": "t",
        "subject": 'a "b" €',
        "ext": "x",
    }
    theirs = SdkEvent({**attributes, "datacontenttype": "application/json"}, {"a": [1, "é"]})

    message = write(theirs)
    headers = [(name.lower().encode(), value.encode()) for name, value in message.headers.items()]
    [ours] = http.read(headers, message.body)

    assert {name: ours.text(name) for name in attributes} == attributes
    assert json.loads(ours.data or b"") == {"a": [1, "é"]}


@given(events())
def test_attributes_come_back_from_the_sdk(ours: CloudEvent) -> None:
    back = sdk.from_sdk(sdk.to_sdk(ours))

    without_time = {name: value for name, value in ours.attributes().items() if name != "time"}
    assert {
        name: value for name, value in back.attributes().items() if name != "time"
    } == without_time


def test_missing_sdk_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cloudevents.core.v1.event", None)

    with pytest.raises(UnsupportedError, match="not installed"):
        sdk.to_sdk(CloudEvent("1", "/s", "t"))
