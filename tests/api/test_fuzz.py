"""Arbitrary requests to every ingest address: PENSTOCK_FUZZ=100000 asks for more of them."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from penstock.bindings import Mode, http
from penstock.routing import StreamKind
from tests.api.served import Served, serving

COUNT = int(os.environ.get("PENSTOCK_FUZZ", "1500"))
PATHS = ["/events", "/brokers/default/default", "/channels/default/fuzz"]
NAMES = [
    *("specversion", "id", "source", "type", "time", "subject", "dataschema", "datacontenttype"),
    *("data", "data_base64", "contenttype", "schemaurl", "partitionkey", "expirytime", "a-b"),
]
GOOD = {
    "specversion": "1.0",
    "id": "1",
    "source": "/s",
    "type": "t",
    "time": "2026-01-01T00:00:00Z",
}
MEDIA_TYPES = [
    *("application/json", "text/plain; charset=latin-1", "x/y", "", ";", "application/xml"),
    *("application/cloudevents+json", "application/cloudevents-batch+json"),
    *(
        "application/cloudevents",
        "application/cloudevents+avro",
        "application/CloudEvents+JSON;a=b",
    ),
]

texts = st.text(st.characters(codec="latin-1", exclude_characters="\r\n\0"), max_size=30)
names = st.sampled_from(NAMES) | st.from_regex("[!-9;-~]{1,12}", fullmatch=True)
versions = st.sampled_from(["1.0", "0.2", '"0.2"', "0.3"])
headers = st.dictionaries(names.map(lambda name: f"ce-{name}"), texts, max_size=5)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=8,
)
events = st.builds(
    lambda good, rest: {**good, **rest},
    st.sampled_from([GOOD, {**GOOD, "specversion": "0.2"}, {}]),
    st.dictionaries(names, values, max_size=4),
)
documents = (events | st.lists(events, max_size=4) | values).map(msgspec.json.encode)
# Escapes that JSON allows in the text but not every decoder in the value, and broken ones.
odd = st.sampled_from([b'{"id":"\\ud800"}', b"[" * 2000, b"\xff", b'{"a":1e999}', b"[[]]", b"{}[]"])
bodies = documents | odd | st.binary(max_size=200)


@pytest.fixture(scope="module")
def fuzzed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serving(tmp_path_factory.mktemp("data")) as running:
        running.create_stream(StreamKind.CHANNEL, "default", "fuzz")
        yield running


def status_of(port: int, request: bytes) -> int:
    with socket.create_connection(("127.0.0.1", port), timeout=20) as connection:
        connection.sendall(request)
        answer = connection.recv(65_536)
    return int(answer.split(b" ", 2)[1])


@pytest.mark.covers("KN-133")
@pytest.mark.parametrize("path", PATHS)
def test_no_request_makes_the_server_fail_and_all_that_is_accepted_can_be_read(
    fuzzed: Served, path: str
) -> None:
    since = fuzzed.head()

    @settings(max_examples=COUNT // 3, suppress_health_check=list(HealthCheck))
    @given(given_=st.data())
    def send(given_: Any) -> None:  # noqa: ANN401 - hypothesis does not export its type
        before = fuzzed.head()
        core = (
            {f"ce-{name}": value for name, value in GOOD.items()}
            if given_.draw(st.booleans())
            else {}
        )
        lines = {**core, **given_.draw(headers)}
        lines["content-type"] = given_.draw(st.sampled_from(MEDIA_TYPES) | texts)
        body = given_.draw(bodies)
        # A connection that is kept goes the short way, one that is closed the usual one.
        ending = given_.draw(st.sampled_from(["keep-alive", "close"]))
        head = f"POST {path} HTTP/1.1\r\nhost: x\r\nconnection: {ending}\r\n".encode()
        head += b"".join(f"{name}: {text}\r\n".encode("latin-1") for name, text in lines.items())

        status = status_of(fuzzed.port, head + b"content-length: %d\r\n\r\n" % len(body) + body)

        assert status in {202, 400, 413, 415}
        assert status == 202 or fuzzed.head() == before

    send()

    stored = fuzzed.stored(since)
    assert stored
    for entry in stored:
        assert entry.event.problems() == ()
        again = http.write(entry.event, Mode.STRUCTURED)
        assert http.read(again.headers, again.body)[0].attributes() == entry.event.attributes()


@settings(max_examples=COUNT // 5, suppress_health_check=list(HealthCheck))
@given(
    method=st.sampled_from(["POST", "GET", "PUT", "OPTIONS", "DELETE", "PATCH", "HEAD", "TRACE"]),
    path=st.from_regex(r"/[!-~]{0,30}", fullmatch=True)
    | st.from_regex(
        r"/(brokers|channels|subscriptions|dead|events)(/[!-~]{0,12}){0,4}", fullmatch=True
    ),
    body=bodies,
)
def test_no_path_makes_the_server_fail(fuzzed: Served, method: str, path: str, body: bytes) -> None:
    head = f"{method} {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n".encode("latin-1")

    status = status_of(fuzzed.port, head + b"content-length: %d\r\n\r\n" % len(body) + body)

    assert status < 500
