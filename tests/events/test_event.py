from __future__ import annotations

import pickle
from typing import Any

import pytest
from hypothesis import given

from penstock.errors import EventError
from penstock.events import CloudEvent, DataForm, from_attributes
from tests.events.strategies import events, old_events

EV: dict[str, Any] = {
    "specversion": "0.2",
    "type": "com.github.pull.create",
    "source": "https://github.com/cloudevents/spec/pull/123",
    "id": "A234-1234-1234",
    "time": "2018-04-05T17:31:00Z",
    "comexampleextension1": "value",
    "comexampleextension2": {"othervalue": 5},
    "contenttype": "text/xml",
}
EV1: dict[str, Any] = {
    "specversion": "1.0",
    "type": "com.github.pull.create",
    "source": "https://github.com/cloudevents/spec/pull/123",
    "subject": "123",
    "id": "A234-1234-1234",
    "time": "2018-04-05T17:31:00Z",
    "comexampleextension1": "value",
    "comexampleothervalue": 5,
    "datacontenttype": "text/xml",
}


def paths(attributes: dict[str, Any]) -> list[str]:
    with pytest.raises(EventError) as caught:
        from_attributes(attributes)
    return [problem.path for problem in caught.value.problems]


@pytest.mark.parametrize("attributes", [EV, EV1], ids=["0.2", "1.0"])
def test_attributes_go_in_and_come_out(attributes: dict[str, Any]) -> None:
    event = from_attributes(attributes, b"<x/>")

    assert event.attributes() == attributes
    assert event.data == b"<x/>"
    assert event.problems() == ()


def test_absent_attributes_may_be_given_as_none() -> None:
    event = from_attributes({**EV1, "subject": None, "extra": None})

    assert "subject" not in event.attributes()
    assert "extra" not in event.attributes()


@pytest.mark.covers("CE-009")
@pytest.mark.parametrize("attributes", [EV, EV1], ids=["0.2", "1.0"])
@pytest.mark.parametrize("name", ["type", "specversion", "source", "id"])
def test_required_attribute_is_missed(attributes: dict[str, Any], name: str) -> None:
    rest = {
        key: value
        for key, value in attributes.items()
        if key in {"type", "specversion", "source", "id"}
    }
    del rest[name]

    assert paths(rest) == [name]


@pytest.mark.covers("CE-010", "CE-028")
@pytest.mark.parametrize("version", ["0.2", "1.0"])
def test_required_attributes_suffice(version: str) -> None:
    event = from_attributes({"type": "t", "source": "/s", "id": "1", "specversion": version})

    assert event.problems() == ()
    assert event.data is None


@pytest.mark.covers("CE-012", "CE-016", "CE-039", "CE-048", "CE-014")
@pytest.mark.parametrize("attributes", [EV, EV1], ids=["0.2", "1.0"])
@pytest.mark.parametrize("name", ["type", "source", "id", "specversion", "time"])
@pytest.mark.parametrize("value", ["", 5, True, {}, [], 1.5, b"x"], ids=repr)
def test_core_attribute_is_a_text(attributes: dict[str, Any], name: str, value: object) -> None:
    extensions = {
        "comexampleextension2",
        "contenttype",
        "subject",
        "datacontenttype",
        "comexampleothervalue",
    }
    plain = {key: text for key, text in attributes.items() if key not in extensions}

    assert paths({**plain, name: value}) == [name]


@pytest.mark.covers("CE-048")
def test_subject_is_not_empty() -> None:
    assert paths({**EV1, "subject": ""}) == ["subject"]
    assert from_attributes({**EV1, "subject": "123"}).subject == "123"


@pytest.mark.covers("CE-047", "CE-019")
def test_schema_is_absolute_in_1_0_and_any_reference_in_0_2() -> None:
    assert paths({**EV1, "dataschema": "/x"}) == ["dataschema"]
    assert paths({**EV1, "dataschema": ""}) == ["dataschema"]
    assert paths({**EV, "schemaurl": "::bad"}) == ["schemaurl"]
    assert from_attributes({**EV, "schemaurl": "/x"}).dataschema == "/x"


def test_type_needs_no_prefix() -> None:
    assert from_attributes({**EV1, "type": "push"}).type == "push"


@pytest.mark.parametrize("version", ["0.1", "0.3", "1.0.2", "2.0", "1"])
def test_unknown_version_is_not_interpreted(version: str) -> None:
    with pytest.raises(EventError, match="unsupported specversion") as caught:
        from_attributes({"specversion": version, "Whatever": []})

    assert [problem.path for problem in caught.value.problems] == ["specversion"]


@pytest.mark.covers("CE-003", "CE-041")
@pytest.mark.parametrize("attributes", [EV, EV1], ids=["0.2", "1.0"])
@pytest.mark.parametrize("name", ["my-ext", "myExt", "my_ext", "é", "", "a b", "data"])
def test_name_has_letters_and_digits_only(attributes: dict[str, Any], name: str) -> None:
    assert paths({**attributes, name: "x"}) == [name]


@pytest.mark.covers("CE-004", "CE-041")
def test_name_starts_with_a_letter_in_0_2_only() -> None:
    assert paths({**EV, "1ext": "x"}) == ["1ext"]
    assert from_attributes({**EV1, "1ext": "x"}).value("1ext") == "x"


@pytest.mark.covers("CE-005", "CE-041")
@pytest.mark.parametrize("attributes", [EV, EV1], ids=["0.2", "1.0"])
def test_long_name_is_accepted(attributes: dict[str, Any]) -> None:
    assert from_attributes({**attributes, "a" * 30: "x"}).problems() == ()


@pytest.mark.covers("CE-052", "CE-057")
@pytest.mark.parametrize("value", [{}, {"a": 1}, [1], 1.5], ids=repr)
def test_extension_is_scalar_in_1_0(value: object) -> None:
    assert paths({**EV1, "ext": value}) == ["ext"]


@pytest.mark.covers("CE-007", "CE-025")
@pytest.mark.parametrize("value", [{}, {"a": [None, 1.5]}, [1], 1.5, True, 2**40, "x"], ids=repr)
def test_extension_is_any_json_value_in_0_2(value: object) -> None:
    assert from_attributes({**EV, "ext": value}).value("ext") == value


@pytest.mark.parametrize(
    "value", [object(), {"a": {1}}, {1: 2}, float("nan"), [float("inf")], "a\n"], ids=repr
)
def test_extension_that_is_no_json_value_is_refused_in_0_2(value: object) -> None:
    assert paths({**EV, "ext": value}) == ["ext"]


def test_bottomless_extension_is_refused_in_0_2() -> None:
    value: list[Any] = []
    for _ in range(5000):
        value = [value]

    assert paths({**EV, "ext": value}) == ["ext"]


@pytest.mark.covers("CE-054")
@pytest.mark.parametrize("value", [2147483648, -2147483649])
def test_integer_extension_keeps_to_32_bits(value: int) -> None:
    assert paths({**EV1, "ext": value}) == ["ext"]


@pytest.mark.covers("CE-055")
@pytest.mark.parametrize("name", ["id", "type", "subject", "ext", "partitionkey"])
@pytest.mark.parametrize("text", ["a\u0007", "\ufffe", "\udead"], ids=ascii)
def test_text_has_no_forbidden_character(name: str, text: str) -> None:
    assert paths({**EV1, name: text}) == [name]


@pytest.mark.covers("CE-055")
def test_pair_of_surrogates_is_one_character() -> None:
    assert from_attributes({**EV1, "subject": "\U000102ad"}).subject == "\U000102ad"


@pytest.mark.covers("CE-153")
def test_documented_extension_keeps_to_its_definition_in_1_0() -> None:
    assert paths({**EV1, "partitionkey": "", "sampledrate": 0}) == ["partitionkey", "sampledrate"]
    assert from_attributes({**EV, "sampledrate": [0]}).problems() == ()


def test_all_problems_are_named_at_once() -> None:
    bad = {"specversion": "1.0", "id": 5, "type": "", "subject": "", "time": "x", "Ext": {}}

    assert paths(bad) == ["id", "source", "type", "subject", "time", "Ext", "Ext"]


def test_core_attribute_is_no_extension() -> None:
    event = CloudEvent("1", "/s", "t", extensions={"id": "2", "datacontenttype": "a/b"})
    old = CloudEvent("1", "/s", "t", "0.2", extensions={"contenttype": "a/b"}, subject="x")

    assert [problem.path for problem in event.problems()] == ["id", "datacontenttype"]
    assert [problem.path for problem in old.problems()] == ["subject", "contenttype"]


@pytest.mark.covers("CE-053")
def test_text_is_the_canonical_string() -> None:
    event = from_attributes({**EV1, "flag": True, "number": -5, "blob": b"\x01\x02"})

    assert event.text("flag") == "true"
    assert event.text("number") == "-5"
    assert event.text("blob") == "AQI="
    assert event.text("source") == EV1["source"]
    assert event.text("nosuch") is None


def test_map_and_list_have_no_text() -> None:
    event = from_attributes({**EV, "list": [1], "fraction": 1.5})

    assert event.text("comexampleextension2") is None
    assert event.text("list") is None
    assert event.text("fraction") == "1.5"
    assert event.value("list") == [1]


@pytest.mark.covers("CE-043")
@pytest.mark.parametrize("attributes", [EV, EV1], ids=["0.2", "1.0"])
def test_renamed_attribute_is_found_by_both_names(attributes: dict[str, Any]) -> None:
    event = from_attributes(attributes)

    assert event.text("contenttype") == event.text("datacontenttype") == "text/xml"
    assert event.text("schemaurl") is event.text("dataschema") is None


def test_own_name_goes_before_the_other_one() -> None:
    new = from_attributes({**EV1, "contenttype": "mine"})
    old = from_attributes({**EV, "datacontenttype": "mine"})

    assert new.text("contenttype") == old.text("datacontenttype") == "mine"
    assert new.text("datacontenttype") == old.text("contenttype") == "text/xml"


def test_subject_is_an_extension_in_0_2() -> None:
    event = from_attributes({**EV, "subject": "s"})

    assert event.subject is None
    assert event.text("subject") == "s"


def test_event_goes_through_pickle() -> None:
    event = from_attributes(EV, b"x", DataForm.TEXT)

    assert pickle.loads(pickle.dumps(event)) == event  # noqa: S301 - our own bytes


@given(events() | old_events())
def test_random_event_is_valid_and_made_of_its_attributes(event: CloudEvent) -> None:
    assert event.problems() == ()
    assert from_attributes(event.attributes(), event.data, event.form) == event
