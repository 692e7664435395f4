from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.bindings import binary_reader, http
from penstock.bindings.base import Mode
from penstock.bindings.binary_reader import _plain, _read_any, _read_usual, _Texts
from penstock.events import CloudEvent
from penstock.events.values import is_uri_reference
from tests.events.strategies import events

EXTRAS = st.sampled_from(
    [(b"host", b"h"), (b"ce-data", b"x"), (b"trace-id", b"y"), (b"ce-x", b"1"), (b"accept", b"*/*")]
)


@given(events(), st.lists(EXTRAS, unique=True))
def test_quick_way_and_careful_way_agree(
    event: CloudEvent, extras: list[tuple[bytes, bytes]]
) -> None:
    message = http.write(event, Mode.BINARY)
    headers = [*extras, *message.headers]

    quick = _read_usual(headers, message.body)

    assert quick is None or quick == _read_any(headers, message.body)


def test_usual_message_goes_the_quick_way() -> None:
    headers = [
        (b"host", b"h"),
        (b"ce-specversion", b"1.0"),
        (b"ce-id", b"1"),
        (b"ce-source", b"/s"),
        (b"ce-type", b"t"),
        (b"ce-time", b"2018-04-05T17:31:00.5Z"),
        (b"ce-subject", b"s"),
        (b"ce-dataschema", b"x:y"),
        (b"ce-partitionkey", b"k"),
        (b"content-type", b"application/json; charset=utf-8"),
    ]

    assert _read_usual(headers, b"{}") == _read_any(headers, b"{}")


def test_memory_of_header_values_is_bounded() -> None:
    texts = _Texts(_plain, is_uri_reference)

    for number in range(3 * _Texts.size):
        assert texts[f"/{number}".encode()] == f"/{number}"
    assert texts[b"/" + b"x" * _Texts.length] == "/" + "x" * _Texts.length

    assert 0 < len(texts) <= _Texts.size
    assert max(map(len, texts)) <= _Texts.length


@pytest.mark.parametrize("raw", [b"", b"a b", b"%41", b'"a"', b"\xc3\xa9", b"\x07", b"::bad"])
def test_odd_header_value_is_not_remembered(raw: bytes) -> None:
    texts = _Texts(_plain, is_uri_reference)

    with pytest.raises(KeyError):
        texts[raw]
    assert texts == {}


def test_message_is_meant_as_event_if_all_required_headers_are_there() -> None:
    headers = [(b"CE-Id", b""), (b"ce-source", b""), (b"ce-type", b""), (b"ce-specversion", b"")]

    assert binary_reader.is_event(headers)
    assert not binary_reader.is_event(headers[1:])
