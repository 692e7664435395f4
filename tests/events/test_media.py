from __future__ import annotations

import pytest

from penstock.events.media import codec, essence, is_json, is_json_sequence, is_text, is_utf8


@pytest.mark.covers("CE-045")
def test_media_type_is_compared_without_case_and_parameters() -> None:
    assert essence("TEXT/Plain; CharSet=utf-8") == essence("text/plain; charset=utf-8")
    assert codec("TEXT/Plain; CharSet=UTF-8") == codec("text/plain; charset=utf-8") == "utf-8"
    assert is_text("TEXT/Plain; CharSet=utf-8")


@pytest.mark.covers("CE-081")
@pytest.mark.parametrize(
    "media_type", ["application/json", "text/json", "application/vnd.x+json; v=1", "A/B+JSON"]
)
def test_json_is_told_by_the_subtype(media_type: str) -> None:
    assert is_json(media_type)


@pytest.mark.covers("CE-081")
@pytest.mark.parametrize(
    "media_type", ["application/jsonx", "application/json-seq", "json/x", "text/plain; a=/json"]
)
def test_other_subtypes_are_not_json(media_type: str) -> None:
    assert not is_json(media_type)


@pytest.mark.covers("CE-075")
@pytest.mark.parametrize("media_type", ["application/json-seq", "application/geo+json-seq; x=1"])
def test_json_sequences_are_known(media_type: str) -> None:
    assert is_json_sequence(media_type)


@pytest.mark.parametrize(
    "media_type",
    [
        *("text/plain", "application/xml", "image/svg+xml", "application/json"),
        *("application/javascript", "application/x-www-form-urlencoded", "application/json-seq"),
    ],
)
def test_type_is_known_to_be_text(media_type: str) -> None:
    assert is_text(media_type)


@pytest.mark.parametrize(
    "media_type", ["image/png", "application/octet-stream", "application/avro"]
)
def test_type_is_not_known_to_be_text(media_type: str) -> None:
    assert not is_text(media_type)


@pytest.mark.parametrize(
    ("media_type", "name"),
    [
        ("text/plain", "utf-8"),
        ('text/plain; charset="ISO-8859-1"', "latin-1"),
        ("text/plain;charset=us-ascii;x=y", "ascii"),
        ("text/plain; charset=klingon", None),
    ],
)
def test_charset_names_the_codec(media_type: str, name: str | None) -> None:
    assert codec(media_type) == name


def test_bytes_are_utf8_or_not() -> None:
    assert is_utf8("é".encode())
    assert not is_utf8(b"\xff")
