from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.events.values import (
    Kind,
    canonical,
    fault,
    is_media_type,
    is_string,
    is_timestamp,
    is_uri,
    is_uri_reference,
    parse_binary,
    parse_boolean,
    parse_integer,
    parse_timestamp,
)


@pytest.mark.covers("CE-055")
@pytest.mark.parametrize(
    "text", ["", "a b", "é", "Euro € 😀", "\U000102ad", "\u200d", "\ue000", "\ufffd"]
)
def test_string_takes_any_other_character(text: str) -> None:
    assert is_string(text)


@pytest.mark.covers("CE-055")
@pytest.mark.parametrize(
    "character",
    [
        *("\x00", "\x07", "\n", "\x1f", "\x7f", "\x85", "\x9f"),
        *("\ud800", "\udead", "\udfff"),
        *("\ufdd0", "\ufdef", "\ufffe", "\uffff", "\U0001fffe", "\U0010ffff"),
    ],
)
def test_string_takes_no_control_surrogate_or_noncharacter(character: str) -> None:
    assert not is_string(f"a{character}é")


@given(st.text())
def test_printable_text_is_always_a_string(text: str) -> None:
    # The quick check of events relies on this.
    assert is_string(text) or not text.isprintable()


URIS = [
    "https://github.com/cloudevents/spec/pull/123",
    "urn:event:from:myapi/resourse/123",
    "mailto:cncf-wg-serverless@lists.cncf.io",
    "http://user:pw@example.com:80/a/b;c=1?q=/?#f?",
    "http://[::1]:8080/",
    "http://[v1.fe:80]/",
    "http://example.com",
    "http://example.com?x",
    "file:///etc/hosts",
    "a+b-c.d:",
    "x:%41%7e",
]
RELATIVE = [
    "/cloudevents/spec/pull/123",
    "1-555-123-4567",
    "//example.com/x",
    "a/b:c",
    "?q",
    "#f",
    "./a:b",
]
BAD_URIS = [
    "http://[x",
    "http://[::g]/",
    "http://[1.2.3.4]/",
    "http://[::1]x/",
    "::bad",
    ":x",
    "a b",
    "é",
    "/%zz",
    "/%4",
    "http://a:8x/",
    "a\nb",
    "<x>",
    "a\\b",
    "/a#b#c",
    "http://a[b]/",
]


@pytest.mark.covers("CE-015")
@pytest.mark.parametrize("text", URIS + RELATIVE)
def test_uri_reference_is_a_uri_or_relative(text: str) -> None:
    assert is_uri_reference(text)


@pytest.mark.covers("CE-015", "CE-019")
@pytest.mark.parametrize("text", BAD_URIS)
def test_text_against_rfc_3986_is_no_uri_reference(text: str) -> None:
    assert not is_uri_reference(text)


@pytest.mark.parametrize("text", URIS)
def test_uri_has_a_scheme(text: str) -> None:
    assert is_uri(text)


@pytest.mark.covers("CE-047")
@pytest.mark.parametrize("text", [*RELATIVE, *BAD_URIS, ""])
def test_uri_without_scheme_is_none(text: str) -> None:
    assert not is_uri(text)


@pytest.mark.covers("CE-018", "CE-049")
@pytest.mark.parametrize(
    "text",
    [
        "2018-04-05T17:31:00Z",
        "2018-04-05t17:31:00z",
        "2018-04-05T17:31:00+02:00",
        "2018-04-05T17:31:00.123456789-23:59",
        "2016-02-29T00:00:00Z",
        "2000-02-29T00:00:00Z",
        "2016-12-31T23:59:60Z",
        "2018-01-31T23:59:59Z",
        "0000-01-01T00:00:00Z",
    ],
)
def test_timestamp_follows_rfc_3339(text: str) -> None:
    assert is_timestamp(text)


@pytest.mark.covers("CE-018", "CE-049")
@pytest.mark.parametrize(
    "text",
    [
        "",
        "yesterday",
        "2018-04-05",
        "2018-04-05T17:31:00",
        "2018-04-05 17:31:00Z",
        "2018-04-05T17:31Z",
        "2018-04-05T17:31:00+0200",
        "2018-04-05T17:31:00+24:00",
        "2018-04-05T24:00:00Z",
        "2018-04-05T17:60:00Z",
        "2018-04-05T17:31:61Z",
        "2018-04-05T17:31:00.Z",
        "2018-04-31T00:00:00Z",
        "2018-13-01T00:00:00Z",
        "2018-00-01T00:00:00Z",
        "2018-01-00T00:00:00Z",
        "2018-02-29T00:00:00Z",
        "1900-02-29T00:00:00Z",
        "2018-04-05T17:31:00Z\n",
        "٢٠١٨-04-05T17:31:00Z",
    ],
)
def test_timestamp_that_does_not_exist_is_none(text: str) -> None:
    assert not is_timestamp(text)
    assert parse_timestamp(text) is None


@given(st.datetimes(timezones=st.just(UTC) | st.just(timezone(timedelta(hours=-7)))))
def test_timestamp_is_parsed_to_its_moment(moment: datetime) -> None:
    text = moment.isoformat()

    assert is_timestamp(text)
    assert parse_timestamp(text) == moment


def test_leap_second_is_the_next_second() -> None:
    moment = parse_timestamp("2016-12-31T23:59:60.5Z")

    assert moment == datetime(2017, 1, 1, 0, 0, 0, 500000, tzinfo=UTC)


@pytest.mark.covers("CE-021", "CE-044")
@pytest.mark.parametrize(
    "text",
    [
        "text/xml",
        "application/json; charset=utf-8",
        "application/vnd.x+json;v=1;w=2",
        'multipart/form-data; boundary="a b\\"c"',
        "TEXT/Plain; CharSet=utf-8",
        "text/plain;",
    ],
)
def test_media_type_follows_rfc_2046(text: str) -> None:
    assert is_media_type(text)


@pytest.mark.covers("CE-021", "CE-044")
@pytest.mark.parametrize(
    "text",
    ["", "xml", "text/", "/xml", "text/xml/y", "te xt/xml", "text/plain; charset", "a/b; c=é"],
)
def test_media_type_needs_type_and_subtype(text: str) -> None:
    assert not is_media_type(text)


@pytest.mark.covers("CE-053")
@pytest.mark.parametrize(
    ("value", "text"),
    [(True, "true"), (False, "false"), (5, "5"), (-7, "-7"), (b"\x01\x02", "AQI="), ("x", "x")],
)
def test_canonical_string_of_each_type(value: int | bytes | str, text: str) -> None:
    assert canonical(value) == text


@pytest.mark.covers("CE-053")
def test_canonical_strings_are_parsed_back() -> None:
    assert parse_boolean("true") is True
    assert parse_boolean("false") is False
    assert parse_integer("-2147483648") == -2147483648
    assert parse_binary("AQI=") == b"\x01\x02"


@pytest.mark.parametrize(
    "text", ["", "+1", "01", "1.0", "1e0", " 1", "2147483648", "-2147483649", "٣"]
)
def test_text_that_is_no_integer_has_no_number(text: str) -> None:
    assert parse_integer(text) is None


@pytest.mark.parametrize("text", ["A", "AQ", "AQ=", "A!==", "AQI=\n", "A_-=", "é"])
def test_text_that_is_no_base64_has_no_bytes(text: str) -> None:
    assert parse_binary(text) is None


@pytest.mark.parametrize("text", ["", "True", "1", "yes"])
def test_other_words_are_no_truth_values(text: str) -> None:
    assert parse_boolean(text) is None


@pytest.mark.covers("CE-056")
@pytest.mark.parametrize(
    ("kind", "value"),
    [
        (Kind.BOOLEAN, True),
        (Kind.BOOLEAN, "true"),
        (Kind.INTEGER, 5),
        (Kind.INTEGER, "5"),
        (Kind.BINARY, b"\x01"),
        (Kind.BINARY, "AQ=="),
        (Kind.STRING, "x"),
    ],
)
def test_value_is_native_or_canonical_string(kind: Kind, value: object) -> None:
    assert fault(kind, value) is None


@pytest.mark.covers("CE-054")
@pytest.mark.parametrize("value", [2147483648, -2147483649, "2147483648"])
def test_integer_beyond_32_bits_is_a_fault(value: object) -> None:
    assert "from -2147483648 to 2147483647" in (fault(Kind.INTEGER, value) or "")


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        (Kind.STRING, 5),
        (Kind.STRING, True),
        (Kind.STRING, b"x"),
        (Kind.STRING, None),
        (Kind.INTEGER, True),
        (Kind.INTEGER, 1.5),
        (Kind.BOOLEAN, 1),
        (Kind.BOOLEAN, "yes"),
        (Kind.URI, {}),
        (Kind.TIMESTAMP, []),
    ],
)
def test_value_of_another_type_is_a_fault(kind: Kind, value: object) -> None:
    assert str(kind) in (fault(kind, value) or "")
