"""CloudEvents 0.2 and 1.0: what events, the JSON format and the HTTP binding show by themselves."""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from penstock.bindings import Mode, http
from penstock.errors import EventError, UnsupportedError
from penstock.events import CloudEvent
from penstock.formats import load

SUITE = (
    Path(__file__).parents[3] / "shared" / "tck" / "cloudevents" / "http-protocol-binding.feature"
)

EV: dict[str, Any] = {
    "specversion": "0.2",
    "type": "com.github.pull.create",
    "source": "https://github.com/cloudevents/spec/pull/123",
    "id": "A234-1234-1234",
    "time": "2018-04-05T17:31:00Z",
    "comexampleextension1": "value",
    "comexampleextension2": {"othervalue": 5},
    "contenttype": "text/xml",
    "data": '<much wow="xml"/>',
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
    "data": '<much wow="xml"/>',
}
BOTH = pytest.mark.parametrize("example", [EV, EV1], ids=["0.2", "1.0"])


def structured(members: dict[str, Any]) -> CloudEvent:
    return load("json").read(json.dumps(members).encode())


def in_binary(event: CloudEvent) -> tuple[dict[str, str], bytes]:
    message = http.write(event, Mode.BINARY)
    return {name.decode(): value.decode() for name, value in message.headers}, message.body


def in_json(event: CloudEvent) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(http.write(event, Mode.STRUCTURED).body)
    return found


def refused(members: dict[str, Any]) -> list[str]:
    with pytest.raises(EventError) as caught:
        structured(members)
    return [problem.path for problem in caught.value.problems]


@pytest.mark.covers("CE-001", "CE-002", "CE-066", "CE-069", "CE-070", "CE-024", "CE-025")
@BOTH
def test_example_goes_through_unchanged(example: dict[str, Any]) -> None:
    assert in_json(structured(example)) == example


@pytest.mark.covers("CE-014", "CE-037", "CE-064", "CE-065")
def test_conversion_says_the_version() -> None:
    new, old = structured(EV).convert("1.0"), structured(EV1).convert("0.2")

    assert in_json(new)["specversion"] == "1.0"
    assert in_json(new)["datacontenttype"] == "text/xml"
    assert in_json(old)["specversion"] == "0.2"
    assert (in_json(old)["contenttype"], in_json(old)["subject"]) == ("text/xml", "123")


@pytest.mark.covers("CE-003")
@BOTH
@pytest.mark.parametrize("name", ["my-ext", "myExt"])
def test_name_outside_the_alphabet_is_refused(example: dict[str, Any], name: str) -> None:
    assert refused({**example, name: "1"}) == [name]


@pytest.mark.covers("CE-009")
@BOTH
@pytest.mark.parametrize("name", ["type", "specversion", "source", "id"])
def test_required_attribute_is_missed_by_name(example: dict[str, Any], name: str) -> None:
    rest = {
        key: value for key, value in example.items() if key not in {name, "comexampleextension2"}
    }

    assert name in refused(rest)


@pytest.mark.covers("CE-011")
@BOTH
def test_attributes_are_read_without_decoding_data(example: dict[str, Any]) -> None:
    headers, _ = in_binary(structured(example))
    pairs = [(name.encode(), value.encode()) for name, value in headers.items()]

    [event] = http.read(pairs, b"\xff\xfe\x00")

    assert event.text("type") == example["type"]
    assert event.data == b"\xff\xfe\x00"


@pytest.mark.covers("CE-015", "CE-039")
@BOTH
@pytest.mark.parametrize(
    "source",
    [
        "https://github.com/cloudevents/spec/pull/123",
        "/cloudevents/spec/pull/123",
        "urn:event:from:myapi/resourse/123",
        "mailto:cncf-wg-serverless@lists.cncf.io",
        "1-555-123-4567",
    ],
)
def test_source_is_any_uri_reference(example: dict[str, Any], source: str) -> None:
    assert structured({**example, "source": source}).source == source


@pytest.mark.covers("CE-015", "CE-039")
@BOTH
@pytest.mark.parametrize("source", ["http://[x", ""])
def test_source_that_is_no_uri_reference_is_refused(example: dict[str, Any], source: str) -> None:
    assert refused({**example, "source": source}) == ["source"]


@pytest.mark.covers("CE-018", "CE-049")
@BOTH
@pytest.mark.parametrize("time", ["2018-04-05T17:31:00Z", "2018-04-05T17:31:00.5+02:00"])
def test_time_is_never_rewritten(example: dict[str, Any], time: str) -> None:
    assert in_json(structured({**example, "time": time}))["time"] == time


@pytest.mark.covers("CE-018", "CE-049")
@BOTH
@pytest.mark.parametrize("time", ["yesterday", "2018-04-05"])
def test_time_that_is_no_timestamp_is_refused(example: dict[str, Any], time: str) -> None:
    assert refused({**example, "time": time}) == ["time"]


@pytest.mark.covers("CE-031")
def test_white_space_does_not_matter() -> None:
    padded = json.dumps(EV1, indent=40).encode()

    assert load("json").read(padded) == structured(EV1)


@pytest.mark.covers("CE-053", "CE-056")
def test_native_value_and_canonical_string_are_the_same_header() -> None:
    native, _ = in_binary(structured({**EV1, "flag": True, "number": 5}))
    text, _ = in_binary(structured({**EV1, "flag": "true", "number": "5"}))

    assert native == text
    assert (native["ce-flag"], native["ce-number"]) == ("true", "5")


@pytest.mark.covers("CE-067", "CE-103")
def test_map_is_flattened_in_0_2_and_a_text_in_1_0() -> None:
    event = structured(EV)

    old, _ = in_binary(event)
    new, _ = in_binary(event.convert("1.0"))

    assert old["ce-comexampleextension2-othervalue"] == "5"
    assert new["ce-comexampleextension2"] == "{%22othervalue%22:5}"


@dataclass(frozen=True)
class Recoded:
    """An event in JSON, and what its body and content type are in binary mode."""

    members: dict[str, Any]
    body: bytes
    content_type: str | None


# Each case is one of the examples of the JSON format that are shown in both modes.
RECODED = {
    "binary": Recoded(
        {"datacontenttype": "application/vnd.apache.thrift.binary", "data_base64": "AQI="},
        b"\x01\x02",
        "application/vnd.apache.thrift.binary",
    ),
    "xml": Recoded(
        {"datacontenttype": "application/xml", "data": '<much wow="xml"/>', "unset": None},
        b'<much wow="xml"/>',
        "application/xml",
    ),
    "object": Recoded(
        {"datacontenttype": "application/json", "data": {"a": "abc", "b": 123, "c": True}},
        b'{"a": "abc", "b": 123, "c": true}',
        "application/json",
    ),
    "number": Recoded(
        {"datacontenttype": "application/json", "data": 1.5}, b"1.5", "application/json"
    ),
    "string": Recoded({"data": "I'm just a string"}, b'"I\'m just a string"', "application/json"),
    "no type": Recoded({"data_base64": "eyAieHl6IjogMTIzIH0="}, b'{ "xyz": 123 }', None),
    "null": Recoded({"data": None}, b"null", "application/json"),
    "nested": Recoded(
        {"datacontenttype": "application/json", "data": '{"a":1}'},
        b'"{\\"a\\":1}"',
        "application/json",
    ),
}


@pytest.mark.covers("CE-046", "CE-072", "CE-079", "CE-080", "CE-082", "CE-083", "CE-085", "CE-087")
@pytest.mark.parametrize("case", RECODED.values(), ids=RECODED.keys())
def test_json_event_is_recoded_in_binary_mode(case: Recoded) -> None:
    core = {
        "specversion": "1.0",
        "type": "com.example.someevent",
        "source": "/mycontext",
        "id": "1",
    }

    headers, body = in_binary(structured({**core, **case.members}))

    assert body == case.body
    assert headers.pop("content-type", None) == case.content_type
    assert headers == {f"ce-{name}": value for name, value in core.items()}


@pytest.mark.covers("CE-074", "CE-075", "CE-076", "CE-081")
@pytest.mark.parametrize(
    ("version", "content_type", "body", "members"),
    [
        ("0.2", "application/json", b'{"a":1}', {"data": {"a": 1}}),
        ("0.2", "text/json", b'{"a":1}', {"data": {"a": 1}}),
        ("0.2", "application/octet-stream", b"\x01\x02", {"data": "AQI="}),
        ("1.0", "application/vnd.x+json; v=1", b'{"a":1}', {"data": {"a": 1}}),
        ("1.0", "image/png", b"\x01\x02", {"data_base64": "AQI="}),
    ],
)
def test_binary_event_is_recoded_in_json(
    version: str, content_type: str, body: bytes, members: dict[str, Any]
) -> None:
    headers = {"ce-id": "1", "ce-source": "/s", "ce-type": "t", "ce-specversion": version}
    pairs = [(name.encode(), value.encode()) for name, value in headers.items()]

    [event] = http.read([*pairs, (b"content-type", content_type.encode())], body)

    found = in_json(event)
    assert {name: found[name] for name in found.keys() & {"data", "data_base64"}} == members


@pytest.mark.covers("CE-061", "CE-089", "CE-090", "CE-091", "CE-116")
def test_batch_has_events_of_one_version() -> None:
    headers = [(b"content-type", b"application/cloudevents-batch+json")]
    other = {**EV1, "source": "/other", "datacontenttype": "application/json", "data": {}}

    mixed = json.dumps([EV1, EV]).encode()
    good = json.dumps([EV1, other]).encode()

    assert [event.source for event in http.read(headers, good)] == [EV1["source"], "/other"]
    assert http.read(headers, b"[]") == []
    with pytest.raises(EventError, match=re.escape("[1].specversion")):
        http.read(headers, mixed)


def test_format_that_nobody_knows_is_unsupported() -> None:
    with pytest.raises(UnsupportedError):
        http.read([(b"content-type", b"application/cloudevents+avro")], b"")


@dataclass(frozen=True)
class Scenario:
    """One published scenario: a request, and what it means."""

    headers: list[tuple[bytes, bytes]]
    body: bytes
    attributes: dict[str, str]
    data: object


def scenarios(text: str) -> Iterator[Scenario]:
    """Every row of every scenario outline; all outlines have the same steps."""
    for outline in text.split("Scenario Outline:")[1:]:
        steps, _, examples = outline.partition("Examples:")
        for [content_type] in table(examples):
            _, request, means, data, _ = steps.replace("<contentType>", content_type).split('"""')
            head, _, body = textwrap.dedent(request).strip().partition("\n\n")
            lines = [line.partition(":") for line in head.splitlines()[1:]]
            yield Scenario(
                [
                    (name.strip().lower().encode(), value.strip().encode())
                    for name, _, value in lines
                ],
                body.encode(),
                dict(table(means)),
                json.loads(data),
            )


def table(text: str) -> list[list[str]]:
    lines = [line.strip() for line in text.splitlines() if line.strip().startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[1:]]


@pytest.mark.covers("CE-092", "CE-094", "CE-099", "CE-102", "CE-113")
def test_published_scenarios_of_the_http_binding() -> None:
    if not SUITE.is_file():
        pytest.skip(f"the published suite is not at {SUITE}")

    found = list(scenarios(SUITE.read_text(encoding="utf-8")))

    assert len(found) == 4
    for scenario in found:
        [event] = http.read(scenario.headers, scenario.body)
        assert event.attributes() == scenario.attributes
        assert json.loads(event.data or b"") == scenario.data
