from __future__ import annotations

from pathlib import Path

import pytest
import typer

from penstock.cli.draft import Draft, media_type
from penstock.errors import EventError


def test_event_has_all_that_is_given() -> None:
    made = Draft(
        type="t", source="/s", subject="x", id="7", data="{}", content_type="a/b", ext=["e=1"]
    ).event()

    assert (made.type, made.source, made.subject, made.id) == ("t", "/s", "x", "7")
    assert (made.data, made.datacontenttype, made.extensions) == (b"{}", "a/b", {"e": "1"})


def test_the_rest_is_filled_in() -> None:
    one, other = Draft(type="t").event(), Draft(type="t").event()

    assert one.source == "/penstock/cli"
    assert one.time is not None
    assert one.id != other.id
    assert (one.data, one.datacontenttype) == (None, None)


def test_data_comes_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "photo"
    file.write_bytes(b"\xff\xd8")

    made = Draft(type="t", data=f"@{file}").event()

    assert (made.data, made.datacontenttype) == (b"\xff\xd8", "application/octet-stream")


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (None, None),
        (b'{"a": 1}', "application/json"),
        (b"5", "application/json"),
        (b"hello", "text/plain; charset=utf-8"),
        (b"", "text/plain; charset=utf-8"),
        (b"\xff", "application/octet-stream"),
    ],
)
def test_media_type_is_what_the_data_seems_to_be(data: bytes | None, expected: str | None) -> None:
    assert media_type(data) == expected


def test_event_without_a_type_is_wrong_usage() -> None:
    with pytest.raises(typer.BadParameter, match="type of the event"):
        Draft().event()


def test_attribute_with_its_own_option_is_no_extension() -> None:
    with pytest.raises(typer.BadParameter, match="use --content-type"):
        Draft(type="t", ext=["datacontenttype=a/b"]).event()


def test_wrong_event_is_an_event_error() -> None:
    with pytest.raises(EventError):
        Draft(type="t", ext=["UPPER=x"]).event()


def test_given_options_are_named() -> None:
    assert Draft(type="t", content_type="a/b", ext=["a=b"]).given() == [
        "--type",
        "--content-type",
        "--ext",
    ]
