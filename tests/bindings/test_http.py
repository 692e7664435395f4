from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from penstock.bindings import Message, Mode, http
from penstock.errors import EventError, FormatError, PenstockError, UnsupportedError
from penstock.events import CloudEvent, DataForm, from_attributes
from penstock.formats.json import JsonFormat
from tests.events.strategies import events, old_events
from tests.events.test_event import EV, EV1
from tests.formats.test_json import same

REQUIRED = {"ce-specversion": "1.0", "ce-id": "1", "ce-source": "/s", "ce-type": "t"}
REQUIRED_0_2 = {**REQUIRED, "ce-specversion": '"0.2"'}
STRUCTURED = {"content-type": "application/cloudevents+json"}
BATCHED = {"content-type": "application/cloudevents-batch+json"}


def pairs(headers: dict[str, str]) -> list[tuple[bytes, bytes]]:
    return [(name.encode(), value.encode()) for name, value in headers.items()]


def read(headers: dict[str, str], body: bytes = b"") -> CloudEvent:
    [event] = http.read(pairs(headers), body)
    return event


def problems(headers: dict[str, str], body: bytes = b"") -> dict[str, str]:
    with pytest.raises(EventError) as caught:
        read(headers, body)
    return {problem.path: problem.message for problem in caught.value.problems}


def written(event: CloudEvent, mode: Mode = Mode.BINARY) -> dict[str, str]:
    message = http.write(event, mode)
    assert len({name for name, _ in message.headers}) == len(message.headers)
    return {name.decode(): value.decode() for name, value in message.headers}


@pytest.mark.covers("CE-094")
@pytest.mark.parametrize(
    ("content_type", "mode"),
    [
        (None, Mode.BINARY),
        (b"", Mode.BINARY),
        ("application/json", Mode.BINARY),
        (b"application/cloud", Mode.BINARY),
        ("Application/CloudEvents+JSON; charset=UTF-8", Mode.STRUCTURED),
        (b"application/cloudevents", Mode.STRUCTURED),
        ("application/cloudevents+avro", Mode.STRUCTURED),
        (b"APPLICATION/CLOUDEVENTS-BATCH+json", Mode.BATCHED),
        ("application/cloudevents-batch", Mode.BATCHED),
    ],
)
def test_mode_is_told_by_the_content_type(content_type: bytes | str | None, mode: Mode) -> None:
    assert http.mode(content_type) is mode


@pytest.mark.covers("CE-092", "CE-093", "CE-113")
@pytest.mark.parametrize("attributes", [EV, EV1], ids=["0.2", "1.0"])
def test_structured_message_is_read(attributes: dict[str, Any]) -> None:
    body = json.dumps({**attributes, "data": "<x/>"}).encode()

    event = read({"content-type": "Application/CloudEvents+JSON; charset=UTF-8"}, body)

    assert event.attributes() == attributes


@pytest.mark.covers("CE-114")
def test_body_is_trusted_where_headers_say_otherwise() -> None:
    body = json.dumps(EV1).encode()

    assert read({**STRUCTURED, "ce-id": "other", "ce-x": "y"}, body).attributes() == EV1


@pytest.mark.covers("CE-092", "CE-116")
def test_batch_is_read() -> None:
    body = json.dumps([{**EV1, "id": str(number)} for number in range(3)]).encode()

    found = http.read(pairs(BATCHED), body)

    assert [event.id for event in found] == ["0", "1", "2"]


@pytest.mark.parametrize(
    "content_type",
    [
        "application/cloudevents+avro",
        "application/cloudevents-batch+avro",
        "application/cloudeventsx",
        "application/cloudevents+json-x",
    ],
)
def test_unknown_format_is_unsupported(content_type: str) -> None:
    with pytest.raises(UnsupportedError):
        read({"content-type": content_type}, json.dumps(EV1).encode())


def test_format_that_is_not_named_may_be_json() -> None:
    assert (
        read({"content-type": "application/cloudevents"}, json.dumps(EV1).encode()).id == EV1["id"]
    )
    with pytest.raises(UnsupportedError):
        read({"content-type": "application/cloudevents"}, b"\x00Obj")


def test_body_that_is_not_in_the_named_format_is_a_format_error() -> None:
    with pytest.raises(FormatError):
        read(STRUCTURED, b"\x00Obj")


@pytest.mark.covers("CE-092", "CE-099", "CE-101", "CE-023")
def test_binary_message_is_read() -> None:
    body = b' {"a": 1.0}\n'
    headers = {**REQUIRED, "ce-subject": "s", "content-type": "application/json; charset=utf-8"}

    event = read(headers | {"host": "h", "accept": "*/*"}, body)

    assert event == CloudEvent(
        "1", "/s", "t", subject="s", datacontenttype="application/json; charset=utf-8", data=body
    )


@pytest.mark.covers("CE-102")
def test_names_of_headers_have_no_case() -> None:
    headers = {name.upper(): value for name, value in REQUIRED.items()}

    event = read({**headers, "Ce-Ext": "x", "Content-TYPE": "text/plain"}, b"x")

    assert event.attributes() == {
        "specversion": "1.0",
        "id": "1",
        "source": "/s",
        "type": "t",
        "ext": "x",
        "datacontenttype": "text/plain",
    }
    assert read({**REQUIRED, "CE-Ext": "x"}).extensions == {"ext": "x"}


@pytest.mark.covers("CE-050")
def test_other_headers_are_no_attributes() -> None:
    event = read({**REQUIRED, "x-ce-ext": "x", "trace-id": "y", "authorization": "z"})

    assert event.extensions == {}


@pytest.mark.covers("CE-108", "CE-109", "CE-110")
def test_values_are_decoded() -> None:
    headers = {"ce-subject": '"a \\"b\\""', "ce-a": "%2525", "ce-b": "%61%c3%a9"}

    event = read(REQUIRED | headers)

    assert (event.subject, event.text("a"), event.text("b")) == ('a "b"', "%25", "aé")
    assert problems({**REQUIRED, "ce-subject": "%C0%A0"}).keys() == {"subject"}


@pytest.mark.covers("CE-009", "CE-098")
@pytest.mark.parametrize("name", REQUIRED)
def test_required_header_is_missed(name: str) -> None:
    headers = {key: value for key, value in REQUIRED.items() if key != name}

    assert problems(headers) == {name.removeprefix("ce-"): "is required"}


@pytest.mark.covers("CE-098")
def test_message_without_headers_is_no_event() -> None:
    found = problems({"content-type": "application/json"}, b'{"a":1}')

    assert found.keys() == {"specversion", "id", "source", "type"}


@pytest.mark.parametrize(
    ("body", "media_type"),
    [
        (json.dumps(EV1), "application/cloudevents+json"),
        (json.dumps([EV1]), "application/cloudevents-batch+json"),
    ],
)
def test_whole_event_under_another_type_gives_a_hint(body: str, media_type: str) -> None:
    found = problems({"content-type": "application/json"}, body.encode())

    assert found["content-type"].endswith(f"send {media_type}")


@pytest.mark.covers("CE-040")
@pytest.mark.parametrize("name", ["ce-id", "ce-ext", "CE-Id"])
@pytest.mark.parametrize("value", ["1", "2"])
def test_header_that_comes_twice_is_refused(name: str, value: str) -> None:
    headers = [*pairs({**REQUIRED, "ce-ext": "1"}), (name.encode(), value.encode())]

    with pytest.raises(EventError, match="two headers"):
        http.read(headers, b"")


def test_content_type_may_come_twice_if_equal() -> None:
    headers = [*pairs(REQUIRED), (b"content-type", b"a/b"), (b"content-type", b"a/b")]

    [event] = http.read(headers, b"x")

    assert event.datacontenttype == "a/b"
    with pytest.raises(EventError, match="two headers"):
        http.read([*headers, (b"content-type", b"c/d")], b"x")


def test_other_header_may_come_twice() -> None:
    headers = [*pairs(REQUIRED), (b"via", b"a"), (b"via", b"b")]

    assert http.read(headers, b"")[0].id == "1"


@pytest.mark.covers("CE-100")
def test_second_content_type_is_ignored_if_equal_and_else_refused() -> None:
    headers = {**REQUIRED, "content-type": "text/xml"}

    assert read({**headers, "ce-datacontenttype": "text/xml"}).datacontenttype == "text/xml"
    assert read({**REQUIRED, "ce-datacontenttype": "text/xml"}).datacontenttype == "text/xml"
    assert problems({**headers, "ce-datacontenttype": "a/b"}).keys() == {"datacontenttype"}


@pytest.mark.covers("CE-042")
@pytest.mark.parametrize("headers", [REQUIRED, REQUIRED_0_2], ids=["1.0", "0.2"])
def test_header_of_data_is_no_attribute(headers: dict[str, str]) -> None:
    event = read({**headers, "ce-data": "x"}, b"y")

    assert event.extensions == {}
    assert event.data == b"y"


def test_body_without_content_type_is_accepted() -> None:
    event = read(REQUIRED, b"\x00\xff")

    assert (event.data, event.datacontenttype) == (b"\x00\xff", None)


def test_empty_body_is_no_data() -> None:
    assert read({**REQUIRED, "content-type": "text/plain"}).data is None


@pytest.mark.covers("CE-003", "CE-041")
@pytest.mark.parametrize("name", ["my-ext", "my_ext", "a.b", ""])
def test_name_against_the_rule_is_refused(name: str) -> None:
    assert problems({**REQUIRED, f"ce-{name}": "x"}).keys() == {name}


@pytest.mark.covers("CE-012", "CE-015", "CE-018", "CE-021", "CE-048")
def test_all_problems_come_at_once() -> None:
    headers = {
        "ce-specversion": "1.0",
        "ce-id": "%zz",
        "ce-source": "http://[x",
        "ce-type": "",
        "ce-subject": "",
        "ce-time": "yesterday",
        "ce-my-ext": "1",
        "ce-sampledrate": "0",
        "content-type": "xml",
    }

    assert problems(headers).keys() == {
        *("id", "source", "type", "subject", "time", "my-ext", "sampledrate", "datacontenttype")
    }


@pytest.mark.covers("CE-018", "CE-049")
@pytest.mark.parametrize("headers", [REQUIRED, REQUIRED_0_2], ids=["1.0", "0.2"])
def test_time_that_is_no_timestamp_is_refused(headers: dict[str, str]) -> None:
    assert problems({**headers, "ce-time": "yesterday"}).keys() == {"time"}


@pytest.mark.parametrize("value", ["0.3", "1.0.2", '"2.0"'])
def test_unknown_version_is_refused(value: str) -> None:
    found = problems({**REQUIRED, "ce-specversion": value})

    assert "unsupported specversion" in found["specversion"]


@pytest.mark.covers("CE-104")
def test_example_of_0_2_is_read() -> None:
    headers = {
        "ce-specversion": '"0.2"',
        "ce-type": '"com.example.someevent"',
        "ce-time": '"2018-04-05T03:56:24Z"',
        "ce-id": '"1234-1234-1234"',
        "ce-source": '"/mycontext/subcontext"',
        "content-type": "application/json; charset=utf-8",
    }

    event = read(headers, b"{}")

    assert event.attributes() == {
        "specversion": "0.2",
        "type": "com.example.someevent",
        "time": "2018-04-05T03:56:24Z",
        "id": "1234-1234-1234",
        "source": "/mycontext/subcontext",
        "contenttype": "application/json; charset=utf-8",
    }
    assert written(event) == headers


def test_plain_values_are_read_in_0_2() -> None:
    headers = {**REQUIRED, "ce-specversion": "0.2", "ce-id": "1234", "ce-ext": "x y", "ce-n": "5"}

    event = read(headers)

    assert (event.id, event.value("ext"), event.value("n")) == ("1234", "x y", 5)


def test_quoted_values_are_read_in_1_0() -> None:
    headers = {name: f'"{value}"' for name, value in REQUIRED.items()}

    assert read({**headers, "ce-time": '"2018-04-05T17:31:00Z"'}).time == "2018-04-05T17:31:00Z"


@pytest.mark.covers("CE-103")
def test_map_of_0_2_has_one_header_for_each_entry() -> None:
    event = from_attributes(
        {**EV, "comexampleextension2": {"othervalue": 5, "x-y": {"z": [1]}}}, b"<x/>"
    )

    headers = written(event)

    assert headers["ce-comexampleextension2-othervalue"] == "5"
    assert headers["ce-comexampleextension2-x-y"] == '{"z":[1]}'
    assert headers["content-type"] == "text/xml"
    assert read(headers, b"<x/>") == event


@pytest.mark.covers("CE-103")
def test_map_of_0_2_has_no_header_besides_its_entries() -> None:
    assert problems({**REQUIRED_0_2, "ce-a": '{"b":1}', "ce-a-c": "2"}).keys() == {"a"}
    assert problems({**REQUIRED_0_2, "ce-a-c": "2", "ce-a": "5"}).keys() == {"a"}


@pytest.mark.parametrize("value", [{}, {"otherValue": 5}, {"a b": 1}, {"": 1}, {"é": 1}], ids=repr)
def test_map_that_does_not_fit_headers_needs_another_mode(value: dict[str, Any]) -> None:
    event = from_attributes({**EV, "ext": value})

    assert not http.can_write_binary(event)
    with pytest.raises(UnsupportedError, match="structured"):
        http.write(event, Mode.BINARY)
    assert read(STRUCTURED, http.write(event, Mode.STRUCTURED).body) == event


@pytest.mark.covers("CE-099", "CE-100", "CE-101", "CE-102", "CE-105", "CE-053")
def test_event_is_written_in_binary_mode() -> None:
    event = from_attributes(
        {**EV1, "subject": "Euro € 😀", "flag": True, "blob": b"\x01\x02"}, b"\x00 <x/>"
    )

    message = http.write(event, Mode.BINARY)

    assert message.body == b"\x00 <x/>"
    assert written(event) == {
        "content-type": "text/xml",
        "ce-specversion": "1.0",
        "ce-type": EV1["type"],
        "ce-source": EV1["source"],
        "ce-subject": "Euro%20%E2%82%AC%20%F0%9F%98%80",
        "ce-id": EV1["id"],
        "ce-time": EV1["time"],
        "ce-comexampleextension1": "value",
        "ce-comexampleothervalue": "5",
        "ce-flag": "true",
        "ce-blob": "AQI=",
    }


@pytest.mark.covers("CE-046", "CE-082", "CE-085")
@pytest.mark.parametrize("raw", ['"I\'m just a string"', "null", '{"a":1}'])
def test_implied_json_is_said_in_binary_mode(raw: str) -> None:
    event = JsonFormat().read(
        f'{{"specversion":"1.0","id":"1","source":"/s","type":"t","data":{raw}}}'.encode()
    )

    message = http.write(event, Mode.BINARY)

    assert message.header(b"content-type") == b"application/json"
    assert message.body == raw.encode()


@pytest.mark.covers("CE-080")
def test_unknown_bytes_get_no_content_type() -> None:
    event = CloudEvent("1", "/s", "t", data=b'{ "xyz": 123 }')

    message = http.write(event, Mode.BINARY)

    assert message.header(b"content-type") is None
    assert message.body == b'{ "xyz": 123 }'


@pytest.mark.covers("CE-111")
def test_documented_extension_has_its_header() -> None:
    event = CloudEvent("1", "/s", "t", extensions={"traceparent": "00-a-b-01"})

    assert written(event)["ce-traceparent"] == "00-a-b-01"


@pytest.mark.covers("CE-068", "CE-112", "CE-113", "CE-115")
def test_event_is_written_in_structured_mode() -> None:
    event = from_attributes(EV1, b"<x/>")

    message = http.write(event, Mode.STRUCTURED)

    assert message.headers == ((b"content-type", b"application/cloudevents+json; charset=utf-8"),)
    assert json.loads(message.body) == {**EV1, "data": "<x/>"}


@pytest.mark.covers("CE-089", "CE-116")
def test_events_are_written_in_batched_mode() -> None:
    event = from_attributes(EV1)

    message = http.write_batch([event, event])

    assert message.header(b"content-type") == b"application/cloudevents-batch+json; charset=utf-8"
    assert json.loads(message.body) == [EV1, EV1]
    assert http.write(event, Mode.BATCHED) == http.write_batch([event])


@pytest.mark.parametrize(
    "event",
    [
        CloudEvent("1", "/s", "t", subject="a\r\nx-evil: 1"),
        CloudEvent("1", "/s", "t", extensions={"a": "b\nc"}),
    ],
)
def test_event_that_nobody_checked_writes_no_line_break(event: CloudEvent) -> None:
    message = http.write(event, Mode.BINARY)

    assert not any(b"\n" in name + value for name, value in message.headers)


@pytest.mark.parametrize(
    "event",
    [
        CloudEvent("1", "/s", "t", extensions={"a\r\nb": "x"}),
        CloudEvent("1", "/s", "t", extensions={"a": {}}),
        CloudEvent("1", "/s", "t", datacontenttype="a/b\r\nx: y"),
    ],
)
def test_event_that_nobody_checked_is_refused_where_no_header_can_hold_it(
    event: CloudEvent,
) -> None:
    with pytest.raises(EventError):
        http.write(event, Mode.BINARY)


def test_reply_is_read_in_both_modes() -> None:
    event = from_attributes(EV1, b"<x/>")

    for mode in (Mode.BINARY, Mode.STRUCTURED, Mode.BATCHED):
        message = http.write(event, mode)
        back = http.read_reply(
            [(name.title(), value) for name, value in message.headers], message.body
        )
        assert back is not None
        assert back.text("comexampleothervalue") == "5"


@pytest.mark.covers("CE-098")
@pytest.mark.parametrize(
    ("headers", "body"),
    [
        ({}, b""),
        ({"content-type": "text/html"}, b"<html/>"),
        ({"content-type": "application/json"}, json.dumps(EV1).encode()),
        ({"ce-id": "1", "ce-type": "t", "ce-source": "/s"}, b""),
        (BATCHED, b"[]"),
    ],
)
def test_response_without_event_is_no_reply(headers: dict[str, str], body: bytes) -> None:
    assert http.read_reply(pairs(headers), body) is None


@pytest.mark.parametrize(
    ("headers", "body", "error"),
    [
        ({**REQUIRED, "ce-source": "::bad"}, b"", EventError),
        (STRUCTURED, b"{}", EventError),
        (STRUCTURED, b"", FormatError),
        (BATCHED, json.dumps([EV1, EV1]).encode(), EventError),
        ({"content-type": "application/cloudevents+avro"}, b"", UnsupportedError),
    ],
)
def test_reply_that_is_meant_as_event_but_is_none_is_refused(
    headers: dict[str, str], body: bytes, error: type[PenstockError]
) -> None:
    with pytest.raises(error):
        http.read_reply(pairs(headers), body)


def as_texts(event: CloudEvent) -> CloudEvent:
    """The event as binary mode of 1.0 tells it: all values are texts, all data is bytes."""
    return msgspec.structs.replace(
        event,
        extensions={name: event.text(name) for name in event.extensions},
        datacontenttype=sent_type(event),
        data=event.data or None,
        form=DataForm.BYTES,
    )


def sent_type(event: CloudEvent) -> str | None:
    implied = event.form is DataForm.JSON and event.data is not None
    return event.datacontenttype or ("application/json" if implied else None)


@given(events())
def test_new_event_comes_back_from_binary_mode(event: CloudEvent) -> None:
    message = http.write(event, Mode.BINARY)

    assert http.can_write_binary(event)
    assert http.read(message.headers, message.body) == [as_texts(event)]


@given(old_events())
def test_old_event_comes_back_from_binary_mode(event: CloudEvent) -> None:
    assume(http.can_write_binary(event))

    message = http.write(event, Mode.BINARY)

    expected = msgspec.structs.replace(event, form=DataForm.BYTES, datacontenttype=sent_type(event))
    assert http.read(message.headers, message.body) == [expected]


@given(events() | old_events())
def test_event_comes_back_from_structured_mode(event: CloudEvent) -> None:
    message = http.write(event, Mode.STRUCTURED)

    [back] = http.read(message.headers, message.body)

    assert same(back, event)


NAMES = st.sampled_from(
    [
        *REQUIRED,
        "ce-time",
        "ce-subject",
        "ce-a",
        "ce-a-b",
        "ce-",
        "ce-data",
        "content-type",
        "CE-ID",
        "x",
    ]
)
VALUES = st.sampled_from(
    [
        *(*REQUIRED.values(), "0.2", '"0.2"', '"', "%", "%C0", "{}", "[", "null", ""),
        *("application/json", "application/cloudevents+json", "application/cloudevents"),
        "application/cloudevents-batch+json",
    ]
)


@given(
    st.lists(st.tuples(NAMES.map(str.encode), VALUES.map(str.encode) | st.binary(max_size=9))),
    st.binary()
    | st.sampled_from([b"{}", b"[{}]", json.dumps(EV1).encode(), json.dumps([EV]).encode()]),
)
def test_junk_is_refused_with_our_errors_only(
    headers: list[tuple[bytes, bytes]], body: bytes
) -> None:
    try:
        found = http.read(headers, body)
    except (EventError, FormatError, UnsupportedError):
        return
    assert not any(event.problems() for event in found)


def test_message_finds_its_first_header() -> None:
    message = Message(((b"a", b"1"), (b"a", b"2")), b"")

    assert message.header(b"a") == b"1"
    assert message.header(b"b") is None
