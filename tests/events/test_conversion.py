from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given

from penstock.errors import EventError
from penstock.events import CloudEvent, DataForm, from_attributes
from tests.events.strategies import events
from tests.events.test_event import EV, EV1

OLD = {"specversion": "0.2", "id": "1", "source": "/s", "type": "t"}
NEW = {**OLD, "specversion": "1.0"}


def refused(attributes: dict[str, Any], specversion: str) -> list[str]:
    with pytest.raises(EventError) as caught:
        from_attributes(attributes).convert(specversion)
    return [problem.path for problem in caught.value.problems]


@pytest.mark.covers("CE-064", "CE-043", "CE-067")
def test_old_event_gets_the_new_names() -> None:
    new = from_attributes({**EV, "schemaurl": "https://example.com/s"}, b"<x/>").convert("1.0")

    assert new.attributes() == {
        "specversion": "1.0",
        "type": EV["type"],
        "source": EV["source"],
        "id": EV["id"],
        "time": EV["time"],
        "datacontenttype": "text/xml",
        "dataschema": "https://example.com/s",
        "comexampleextension1": "value",
        "comexampleextension2": '{"othervalue":5}',
    }
    assert new.data == b"<x/>"


@pytest.mark.covers("CE-065", "CE-043")
def test_new_event_gets_the_old_names() -> None:
    old = from_attributes({**EV1, "dataschema": "https://example.com/s"}).convert("0.2")

    assert old.attributes() == {
        "specversion": "0.2",
        "type": EV1["type"],
        "source": EV1["source"],
        "id": EV1["id"],
        "time": EV1["time"],
        "contenttype": "text/xml",
        "schemaurl": "https://example.com/s",
        "subject": "123",
        "comexampleextension1": "value",
        "comexampleothervalue": 5,
    }


@pytest.mark.covers("CE-067")
@pytest.mark.parametrize(
    ("value", "converted"),
    [
        ({"a": [1, None]}, '{"a":[1,null]}'),
        ([1, "x"], '[1,"x"]'),
        (1.5, "1.5"),
        (2**31, "2147483648"),
        (True, True),
        (5, 5),
        ("x", "x"),
        (b"\x01", b"\x01"),
    ],
    ids=repr,
)
def test_value_without_type_in_1_0_becomes_json_text(value: object, converted: object) -> None:
    new = from_attributes({**OLD, "ext": value}).convert("1.0")

    assert new.value("ext") == converted


def test_json_text_is_not_turned_back() -> None:
    old = from_attributes(EV).convert("1.0").convert("0.2")

    assert old.value("comexampleextension2") == '{"othervalue":5}'


def test_boolean_becomes_a_text_in_0_2() -> None:
    old = from_attributes({**NEW, "yes": True, "no": False}).convert("0.2")

    assert (old.value("yes"), old.value("no")) == ("true", "false")


def test_name_with_leading_digit_has_no_place_in_0_2() -> None:
    assert refused({**NEW, "1a": "x", "2b": "y"}, "0.2") == ["1a", "2b"]


def test_relative_schema_is_kept_as_extension() -> None:
    old = from_attributes({**OLD, "schemaurl": "/rel"})

    new = old.convert("1.0")

    assert new.dataschema is None
    assert new.value("schemaurl") == "/rel"
    assert new.convert("0.2") == old


@pytest.mark.parametrize(
    ("name", "value"),
    [("subject", "s"), ("datacontenttype", "a/b"), ("dataschema", "https://example.com/")],
)
def test_extension_named_like_a_new_attribute_becomes_it(name: str, value: str) -> None:
    new = from_attributes({**OLD, name: value}).convert("1.0")

    assert getattr(new, name) == value
    assert new.extensions == {}


@pytest.mark.parametrize(
    ("attributes", "path"),
    [
        ({"datacontenttype": "a/b", "contenttype": "c/d"}, "datacontenttype"),
        ({"dataschema": "x:y", "schemaurl": "x:z"}, "dataschema"),
        ({"subject": ""}, "subject"),
        ({"datacontenttype": "xml"}, "datacontenttype"),
        ({"dataschema": "/rel"}, "dataschema"),
    ],
)
def test_extension_that_cannot_become_the_new_attribute_fails(
    attributes: dict[str, Any], path: str
) -> None:
    assert refused({**OLD, **attributes}, "1.0") == [path]


def test_extension_named_like_an_old_attribute_clashes() -> None:
    assert refused({**NEW, "contenttype": "a/b", "datacontenttype": "c/d"}, "0.2") == [
        "contenttype"
    ]
    assert from_attributes({**NEW, "contenttype": "a/b"}).convert("0.2").datacontenttype == "a/b"


def test_json_value_under_another_type_becomes_text() -> None:
    old = from_attributes({**OLD, "contenttype": "text/xml"}, b'{"a":1}', DataForm.JSON)

    new = old.convert("1.0")

    assert (new.data, new.form) == (b'{"a":1}', DataForm.TEXT)


def test_text_without_type_is_a_json_string_in_1_0() -> None:
    old = from_attributes(OLD, 'say "é"'.encode(), DataForm.TEXT)

    new = old.convert("1.0")

    assert (new.data, new.form) == ('"say \\"é\\""'.encode(), DataForm.JSON)
    assert new.convert("0.2") == old


def test_json_data_is_untouched() -> None:
    old = from_attributes(OLD, b'{"a": 1.0}', DataForm.JSON)

    new = old.convert("1.0")

    assert (new.data, new.form) == (b'{"a": 1.0}', DataForm.JSON)


@pytest.mark.covers("CE-066")
def test_same_version_is_the_same_event() -> None:
    event = from_attributes(EV)

    assert event.convert("0.2") is event


def test_unknown_version_is_no_goal() -> None:
    assert refused(EV, "0.3") == ["specversion"]


@given(events().filter(lambda event: all(not name[0].isdigit() for name in event.extensions)))
def test_new_event_comes_back_but_for_booleans(event: CloudEvent) -> None:
    back = event.convert("0.2").convert("1.0")

    texts = {name: event.text(name) for name in event.attributes()}
    assert {name: back.text(name) for name in back.attributes()} == texts
    assert (back.data, back.form) == (event.data, event.form) or event.form is DataForm.JSON


def test_broken_json_string_stays_as_bytes() -> None:
    new = from_attributes(NEW, b'"open', DataForm.JSON)

    old = new.convert("0.2")

    assert (old.data, old.form) == (b'"open', DataForm.BYTES)
