from __future__ import annotations

import json
import string
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.errors import EventError, FormatError
from penstock.events import CloudEvent, DataForm
from penstock.formats.json import JsonFormat, _read_any
from tests.events.strategies import events, old_events
from tests.events.test_event import EV, EV1

FORMAT = JsonFormat()
CORE = '"specversion":"1.0","id":"1","source":"/s","type":"t"'


def body(*members: str, core: str = CORE) -> bytes:
    return ("{" + ",".join([core, *members]) + "}").encode()


def problems(text: bytes) -> dict[str, str]:
    with pytest.raises(EventError) as caught:
        FORMAT.read(text)
    return {problem.path: problem.message for problem in caught.value.problems}


@pytest.mark.covers("CE-001", "CE-002", "CE-069", "CE-070")
@pytest.mark.parametrize("attributes", [EV, EV1], ids=["0.2", "1.0"])
@pytest.mark.parametrize("spacing", [{}, {"indent": 1}, {"separators": (",", ":")}], ids=repr)
def test_event_is_read_in_any_spacing(attributes: dict[str, Any], spacing: dict[str, Any]) -> None:
    text = json.dumps({**attributes, "data": '<much wow="xml"/>'}, **spacing).encode()

    event = FORMAT.read(text)

    assert event.attributes() == attributes
    assert event.data == b'<much wow="xml"/>'
    assert json.loads(FORMAT.write(event)) == json.loads(text)


@pytest.mark.covers("CE-072")
def test_null_is_absent() -> None:
    event = FORMAT.read(body('"subject":null', '"ext":null', '"time":null'))

    assert event.attributes() == {"specversion": "1.0", "id": "1", "source": "/s", "type": "t"}
    assert b"null" not in FORMAT.write(event)


def test_null_is_absent_in_0_2() -> None:
    event = FORMAT.read(json.dumps({**EV, "schemaurl": None, "ext": None}).encode())

    assert event.attributes() == EV


@pytest.mark.covers("CE-071", "CE-006", "CE-053")
def test_each_type_has_its_json_type() -> None:
    event = CloudEvent(
        "1", "/s", "t", extensions={"flag": True, "number": -5, "text": "x", "binary": b"\x01\x02"}
    )

    members = json.loads(FORMAT.write(event))

    assert members["flag"] is True
    assert (members["number"], members["text"], members["binary"]) == (-5, "x", "AQI=")


@pytest.mark.covers("CE-006", "CE-024", "CE-025", "CE-051", "CE-071")
@pytest.mark.parametrize("value", ["x", 5, {"a": {"b": [1, None]}}, [1], 1.5, True, ""], ids=repr)
def test_extension_of_0_2_survives(value: object) -> None:
    text = json.dumps({**EV, "ext": value}).encode()

    event = FORMAT.read(text)

    assert json.loads(FORMAT.write(event)) == json.loads(text)


@pytest.mark.covers("CE-040")
@pytest.mark.parametrize(
    "text",
    [
        body('"id":"2"'),
        body('"id":"1"'),
        body('"ext":1', '"ext":2'),
        body('"data":{}', '"data":{}'),
        body('"data":"id"', '"id" : "x"'),
        body('"ext":"a\\"b"', '"ext":"c"'),
        body('"subject":null', '"subject":"s"'),
        body('"\\u0069d":"2"'),
    ],
)
def test_member_that_comes_twice_is_refused(text: bytes) -> None:
    assert any("twice" in message for message in problems(text).values())


@pytest.mark.covers("CE-040")
@pytest.mark.parametrize(
    "text",
    [
        body('"data":{"id":1,"id":2}'),
        body('"ext":"id"', '"data":{"id":"\\"id\\":"}'),
        body('"subject":"\\"id\\": \\"1\\""'),
        body('"data":"\\"id\\":"'),
    ],
)
def test_member_that_comes_once_is_not_refused(text: bytes) -> None:
    event = FORMAT.read(text)

    assert event.id == "1"


def test_repeated_member_is_named() -> None:
    assert problems(body('"a":1', '"a":2', '"data":{"b":"a"}')) == {"a": "must not be there twice"}


@pytest.mark.covers("CE-081", "CE-087", "CE-085", "CE-101")
@pytest.mark.parametrize(
    "raw", ['{"a" : 1.50,  "a":1e400}', "1.5", "null", '"{\\"a\\":1}"', "[ ]", '"\\u00e9"', "0.10"]
)
@pytest.mark.parametrize("kind", ['"datacontenttype":"application/vnd.x+json; v=1"', '"ext":1'])
def test_json_data_stays_as_it_was_written(raw: str, kind: str) -> None:
    event = FORMAT.read(body(kind, f'"data": {raw}'))

    assert event.data == raw.encode()
    assert f'"data":{raw}'.encode() in FORMAT.write(event)


@pytest.mark.covers("CE-022", "CE-078")
@pytest.mark.parametrize("raw", ["[1,2]", "1.5", '{"a":1}', "true"])
def test_data_of_0_2_without_type_is_any_json_value(raw: str) -> None:
    event = FORMAT.read(body(f'"data":{raw}', core=CORE.replace("1.0", "0.2")))

    assert (event.data, event.form) == (raw.encode(), DataForm.JSON)
    assert f'"data":{raw}'.encode() in FORMAT.write(event)


@pytest.mark.covers("CE-082")
def test_data_without_type_is_json() -> None:
    event = FORMAT.read(body('"data":"I\'m just a string"'))

    assert (event.data, event.form) == (b'"I\'m just a string"', DataForm.JSON)
    assert event.datacontenttype is None


@pytest.mark.covers("CE-079", "CE-086", "CE-080")
def test_data_base64_is_bytes() -> None:
    event = FORMAT.read(body('"data_base64":"eyAieHl6IjogMTIzIH0="'))

    assert (event.data, event.form) == (b'{ "xyz": 123 }', DataForm.BYTES)
    members = json.loads(FORMAT.write(event))
    assert members["data_base64"] == "eyAieHl6IjogMTIzIH0="
    assert not members.keys() & {"data", "datacontenttype"}


@pytest.mark.covers("CE-086")
@pytest.mark.parametrize("raw", ['"A"', '"AQ="', '"A Q="', "5", "{}", "true"])
def test_bad_base64_is_refused(raw: str) -> None:
    assert problems(body(f'"data_base64":{raw}')).keys() == {"data_base64"}


@pytest.mark.covers("CE-084")
def test_data_and_data_base64_exclude_each_other() -> None:
    assert problems(body('"data":1', '"data_base64":"AQ=="')) == {"data_base64": "excludes data"}


def test_data_base64_is_unknown_to_0_2() -> None:
    text = body('"data_base64":"AQ=="', core=CORE.replace("1.0", "0.2"))

    assert problems(text) == {"data_base64": "is not known to 0.2"}


@pytest.mark.covers("CE-083", "CE-088")
def test_data_of_another_type_is_a_text() -> None:
    event = FORMAT.read(body('"datacontenttype":"application/xml"', '"data":"<é wow=\\"x\\"/>"'))

    assert (event.data, event.form) == ('<é wow="x"/>'.encode(), DataForm.TEXT)
    assert json.loads(FORMAT.write(event))["data"] == '<é wow="x"/>'


@pytest.mark.covers("CE-088")
@pytest.mark.parametrize("raw", ["{}", "5", "true", "[]"])
def test_data_of_another_type_is_nothing_but_text(raw: str) -> None:
    text = body('"datacontenttype":"text/xml"', f'"data":{raw}')

    assert problems(text).keys() == {"data"}


def test_text_is_encoded_as_its_type_says() -> None:
    event = FORMAT.read(body('"datacontenttype":"text/plain; charset=ISO-8859-1"', '"data":"é"'))

    assert event.data == b"\xe9"
    assert json.loads(FORMAT.write(event))["data"] == "é"


def test_text_that_its_charset_lacks_stays_utf8() -> None:
    event = FORMAT.read(body('"datacontenttype":"text/plain; charset=us-ascii"', '"data":"é"'))

    assert (event.data, event.form) == ("é".encode(), DataForm.TEXT)
    assert json.loads(FORMAT.write(event))["data"] == "é"


@pytest.mark.covers("CE-077")
@pytest.mark.parametrize(
    ("content_type", "text", "data", "form"),
    [
        ("text/xml", "AQI=", b"AQI=", DataForm.TEXT),
        ("application/vnd.apache.thrift.binary", "AQI=", b"\x01\x02", DataForm.BYTES),
        ("application/vnd.apache.thrift.binary", "no base64!", b"no base64!", DataForm.TEXT),
        ("application/javascript", "AQI=", b"AQI=", DataForm.TEXT),
        ("application/json", "AQI=", b'"AQI="', DataForm.BYTES),
        (None, "AQI=", b"AQI=", DataForm.TEXT),
    ],
)
def test_string_of_0_2_is_text_or_base64(
    content_type: str | None, text: str, data: bytes, form: DataForm
) -> None:
    members = {**EV, "contenttype": content_type, "data": text}

    event = FORMAT.read(json.dumps(members).encode())

    assert (event.data, event.form) == (data, form)
    assert json.loads(FORMAT.write(event))["data"] == text


@pytest.mark.covers("CE-074", "CE-075", "CE-076")
@pytest.mark.parametrize(
    ("content_type", "data", "written"),
    [
        ("application/json", b'{"a":1}', {"a": 1}),
        ("application/x+json; v=1", b"[1]", [1]),
        ("text/json", b'{"a":1}', {"a": 1}),
        ("application/json-seq", b'{"a":1}', {"a": 1}),
        ("application/geo+json-seq", b"\x1e{}\n\x1e{}\n", "\x1e{}\n\x1e{}\n"),
        ("application/octet-stream", b"\x01\x02", "AQI="),
        ("application/octet-stream", b"text", "dGV4dA=="),
        ("text/plain", "é".encode(), "é"),
        ("application/json", b"{broken", "{broken"),
    ],
)
def test_bytes_are_written_in_0_2_as_their_type_asks(
    content_type: str, data: bytes, written: object
) -> None:
    event = CloudEvent("1", "/s", "t", "0.2", datacontenttype=content_type, data=data)

    assert json.loads(FORMAT.write(event))["data"] == written


def test_object_under_another_type_stays_an_object_in_0_2() -> None:
    text = json.dumps({**EV, "data": {"a": 1}}, separators=(",", ":")).encode()

    event = FORMAT.read(text)

    assert (event.data, event.form) == (b'{"a":1}', DataForm.JSON)
    assert json.loads(FORMAT.write(event)) == json.loads(text)


def test_bytes_without_type_say_so_in_0_2() -> None:
    event = CloudEvent("1", "/s", "t", "0.2", data=b"\xff")

    back = FORMAT.read(FORMAT.write(event))

    assert (back.data, back.datacontenttype) == (b"\xff", "application/octet-stream")


@pytest.mark.covers("CE-079", "CE-081", "CE-083")
@pytest.mark.parametrize(
    ("content_type", "data", "member", "written"),
    [
        ("image/png", b"\x01\x02", "data_base64", "AQI="),
        ("image/png", b"text", "data_base64", "dGV4dA=="),
        (None, b"{}", "data_base64", "e30="),
        ("application/vnd.x+json; v=1", b'{"a":1}', "data", {"a": 1}),
        ("application/json", b"{broken", "data_base64", "e2Jyb2tlbg=="),
        ("application/json", b'"\xff"', "data_base64", "Iv8i"),
        ("application/json", b"", "data_base64", ""),
        ("text/xml", "<é/>".encode(), "data", "<é/>"),
        ("text/plain", b"\xff", "data_base64", "/w=="),
        ("text/plain; charset=iso-8859-1", b"\xe9", "data", "é"),
        ("text/plain; charset=klingon", b"x", "data_base64", "eA=="),
    ],
)
def test_bytes_are_written_in_1_0_as_their_type_asks(
    content_type: str | None, data: bytes, member: str, written: object
) -> None:
    event = CloudEvent("1", "/s", "t", datacontenttype=content_type, data=data)

    members = json.loads(FORMAT.write(event))

    assert members[member] == written
    assert members.keys() & {"data", "data_base64"} == {member}
    assert members.get("datacontenttype") == content_type


def test_null_under_a_type_of_text_is_no_data() -> None:
    event = FORMAT.read(body('"datacontenttype":"text/xml"', '"data":null'))

    assert event.data is None


@pytest.mark.parametrize(
    "text",
    [
        *(b"", b"{", b"[]", b'"x"', b"null", b"5", b"\xef\xbb\xbf{}", b"{}{}", b"\x00", b"\xff"),
        body('"data":NaN'),
        body('"data":"\xff"').replace("\xff".encode(), b"\xff"),
        body('"ext":"\xff"').replace("\xff".encode(), b"\xff"),
        body('"subject":"\\uDEAD"'),
        body('"data":"\\uDEAD"'),
        body('"data":' + "[" * 100_000 + "]" * 100_000),
        body('"data":01'),
    ],
    ids=lambda text: ascii(text[-40:]),
)
def test_bytes_that_are_no_json_object_are_a_format_error(text: bytes) -> None:
    with pytest.raises(FormatError) as caught:
        FORMAT.read(text)

    assert caught.value.format == "json"


def test_format_error_says_where() -> None:
    with pytest.raises(FormatError) as caught:
        FORMAT.read(b'{"id":"1",,}')

    assert caught.value.offset == 10


@pytest.mark.covers("CE-052", "CE-054", "CE-057")
@pytest.mark.parametrize("raw", ["1e999", "9" * 5000, "1.5", "5.0", "2147483648", "{}", "[]"])
def test_extension_beyond_the_types_is_named(raw: str) -> None:
    assert problems(body(f'"ext":{raw}')).keys() == {"ext"}


@pytest.mark.covers("CE-003", "CE-009", "CE-012", "CE-041")
def test_all_problems_come_at_once() -> None:
    text = (
        b'{"specversion":"1.0","id":5,"type":"","my-ext":1,"datacontenttype":"text/xml","data":{}}'
    )

    assert problems(text).keys() == {"id", "source", "type", "my-ext", "data"}


@pytest.mark.covers("CE-055")
@pytest.mark.parametrize("escape", ["a\\u0007", "\\uFFFE", "a\\nb"])
def test_forbidden_character_is_refused(escape: str) -> None:
    assert problems(body(f'"subject":"{escape}"')).keys() == {"subject"}


@pytest.mark.covers("CE-055", "CE-107")
def test_pair_of_surrogates_is_accepted() -> None:
    assert FORMAT.read(body('"subject":"\\uD800\\uDEAD"')).subject == "\U000102ad"


@pytest.mark.covers("CE-089", "CE-091")
def test_batch_holds_independent_events() -> None:
    batch = (
        b"["
        + body('"data_base64":"AQ=="')
        + b" ,\n"
        + body('"source":"/other"', core='"specversion":"1.0","id":"2","type":"u"')
        + b"]"
    )

    first, second = FORMAT.read_batch(batch)

    assert (first.data, first.source) == (b"\x01", "/s")
    assert (second.data, second.source, second.type) == (None, "/other", "u")


@pytest.mark.covers("CE-090")
def test_batch_may_be_empty() -> None:
    assert FORMAT.read_batch(b" [ ] ") == []
    assert FORMAT.write_batch([]) == b"[]"


@pytest.mark.covers("CE-061")
def test_batch_has_one_version() -> None:
    batch = b"[" + body() + b"," + body(core=CORE.replace("1.0", "0.2")) + b"]"

    with pytest.raises(EventError) as caught:
        FORMAT.read_batch(batch)

    assert [problem.path for problem in caught.value.problems] == ["[1].specversion"]


def test_bad_events_of_a_batch_are_named_by_index() -> None:
    batch = b"[" + body() + b",5," + body('"id":""', core='"specversion":"1.0"') + b"]"

    with pytest.raises(EventError) as caught:
        FORMAT.read_batch(batch)

    assert [problem.path for problem in caught.value.problems] == [
        "[1]",
        "[2].id",
        "[2].source",
        "[2].type",
    ]


def test_batch_of_nothing_but_faults_is_not_read_to_its_end() -> None:
    with pytest.raises(EventError) as caught:
        FORMAT.read_batch(b"[" + b"5," * 100_000 + b"5]")

    assert len(caught.value.problems) == 102
    assert caught.value.problems[-1].message == "not read further than event 100"


def test_many_members_are_compared_in_linear_time() -> None:
    members = [f'"k{number}":"v"' for number in range(20_000)]

    assert problems(body(*members, '"k7":"w"')) == {"k7": "must not be there twice"}


@pytest.mark.parametrize("text", [b"{}", b"", b"[", b"[1,]", b"5", b"[" * 100_000])
def test_batch_is_a_json_array(text: bytes) -> None:
    with pytest.raises(FormatError):
        FORMAT.read_batch(text)


@given(events())
def test_new_event_comes_back(event: CloudEvent) -> None:
    back = FORMAT.read(FORMAT.write(event))

    assert same(back, event)


@given(old_events())
def test_old_event_comes_back(event: CloudEvent) -> None:
    back = FORMAT.read(FORMAT.write(event))

    assert same(back, event)


@given(events(), st.sampled_from([(",", ":"), (", ", ": "), (" ,", "\t:\n")]))
def test_quick_way_and_careful_way_agree(event: CloudEvent, separators: tuple[str, str]) -> None:
    members = json.loads(FORMAT.write(event))
    text = json.dumps(members, separators=separators).encode()

    assert FORMAT.read(text) == _read_any(text)


@given(st.lists(events(), max_size=4))
def test_batch_comes_back(batch: list[CloudEvent]) -> None:
    back = FORMAT.read_batch(FORMAT.write_batch(batch))

    assert len(back) == len(batch)
    assert all(map(same, back, batch))


def same(back: CloudEvent, event: CloudEvent) -> bool:
    """Whether the event came back but for what JSON cannot tell apart."""
    binary = {name for name, value in event.extensions.items() if isinstance(value, bytes)}
    texts = {
        name: event.text(name) if name in binary else event.value(name)
        for name in event.attributes()
    }
    found = {name: back.value(name) for name in back.attributes()}
    if event.specversion == "0.2" and event.datacontenttype is None:
        found.pop("contenttype", None)
    return found == texts and back.data == event.data


JUNK: st.SearchStrategy[dict[str, Any]] = st.dictionaries(
    st.sampled_from(["specversion", "id", "source", "type", "data", "data_base64", "time", "x"]),
    st.sampled_from(["1.0", "0.2", "/s", "", "text/xml", "AQ==", 5, 1.5, None, [], {}, True]),
)


@given(st.binary() | st.builds(lambda members: json.dumps(members).encode(), JUNK))
def test_junk_is_refused_with_our_errors_only(text: bytes) -> None:
    for read in (FORMAT.read, FORMAT.read_batch):
        try:
            read(text)
        except (EventError, FormatError):
            continue


@given(events(), st.integers(0, 400), st.sampled_from(string.printable.encode()))
def test_damaged_event_is_refused_with_our_errors_only(
    event: CloudEvent, at: int, byte: int
) -> None:
    text = bytearray(FORMAT.write(event))
    text[at % len(text)] = byte

    try:
        found = FORMAT.read(bytes(text))
    except (EventError, FormatError):
        return
    assert found.problems() == ()
