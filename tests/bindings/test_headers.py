from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.bindings.headers import decode, decode_json, encode, encode_json
from penstock.errors import EventError
from tests.events.strategies import JSON_VALUES, TEXTS


@pytest.mark.covers("CE-105", "CE-106", "CE-107")
def test_example_of_the_specification_is_encoded() -> None:
    assert encode("Euro € 😀") == "Euro%20%E2%82%AC%20%F0%9F%98%80"


@pytest.mark.covers("CE-105", "CE-106")
def test_space_quote_and_percent_are_encoded() -> None:
    assert encode('a b"c%') == "a%20b%22c%25"


@pytest.mark.covers("CE-105", "CE-106")
def test_all_other_printable_ascii_is_left_alone() -> None:
    text = "".join(map(chr, range(0x21, 0x7F))).replace('"', "").replace("%", "")

    assert encode(text) == text


@pytest.mark.covers("CE-108")
@pytest.mark.parametrize(
    ("value", "text"),
    [
        (b'"a \\"b\\""', 'a "b"'),
        (b'"a b"', "a b"),
        (b'say "a b" now', "say a b now"),
        (b'"a\\\\b"', "a\\b"),
        (b'""', ""),
        (b"%2525", "%25"),
        (b'"%41"', "A"),
        (b"a b", "a b"),
        (b" a ", "a"),
        (b"a\\b", "a\\b"),
    ],
)
def test_value_is_unquoted_and_then_decoded_once(value: bytes, text: str) -> None:
    assert decode("subject", value) == text


@pytest.mark.covers("CE-109")
def test_lower_case_and_needless_encoding_are_accepted() -> None:
    assert decode("subject", b"%61%c3%a9") == "aé"


@pytest.mark.covers("CE-110")
@pytest.mark.parametrize(
    "value", [b"%C0%A0", b"%FF", b"%ED%A0%80", b"%", b"%4", b"%zz", b'"open', b'a"', b"\xc3\xa9"]
)
def test_value_that_means_no_text_is_refused(value: bytes) -> None:
    with pytest.raises(EventError) as caught:
        decode("subject", value)

    assert [problem.path for problem in caught.value.problems] == ["subject"]


def test_long_hostile_value_is_refused_in_linear_time() -> None:
    with pytest.raises(EventError, match="not closed"):
        decode("subject", b'"\\' * 300_000)


@given(TEXTS)
def test_encoded_text_comes_back(text: str) -> None:
    encoded = encode(text)

    assert encoded.isascii()
    assert not set(encoded) & set(' "')
    assert decode("subject", encoded.encode()) == text


@pytest.mark.covers("CE-104")
@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("1234-1234", '"1234-1234"'),
        ("é %", '"%C3%A9 %25"'),
        (5, "5"),
        ({"a": [1, "x y"]}, '{"a":[1,"x y"]}'),
        (True, "true"),
    ],
)
def test_value_of_0_2_is_json(value: object, text: str) -> None:
    assert encode_json(value) == text
    assert decode_json("ext", text.encode()) == value


@pytest.mark.parametrize(
    ("value", "text"), [(b"plain", "plain"), (b"a%20b", "a b"), (b"01", "01"), (b"", "")]
)
def test_value_that_is_no_json_is_a_text_in_0_2(value: bytes, text: str) -> None:
    assert decode_json("ext", value) == text


@given(JSON_VALUES)
def test_encoded_json_comes_back(value: object) -> None:
    encoded = encode_json(value)

    assert encoded.isascii()
    assert encoded.isprintable()
    assert decode_json("ext", encoded.encode()) == value


@given(st.binary())
def test_junk_is_refused_with_our_error_only(value: bytes) -> None:
    for read in (decode, decode_json):
        with contextlib.suppress(EventError):
            read("x", value)
