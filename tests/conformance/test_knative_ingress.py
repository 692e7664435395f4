"""Knative Eventing, data plane: Brokers and Channels as receivers of events."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.api.served import BATCHED, BINARY, EVENT, STRUCTURED, Served, serving
from tests.knative.cluster import Cluster, Json, a_cluster, broker, channel

pytestmark = pytest.mark.network

REQUIRED = {name: value for name, value in BINARY.items() if name != "content-type"}
EVENTS = [
    (REQUIRED, b""),
    (BINARY, b'{"a": 1}'),
    ({**BINARY, "content-type": "application/octet-stream"}, b"\x00\xff"),
    (
        {
            **BINARY,
            "ce-time": "2026-11-16T00:00:00Z",
            "ce-subject": "a/b",
            "ce-dataschema": "http://example.com/schema",
            "ce-extension": "x",
        },
        b"1",
    ),
    (STRUCTURED, json.dumps(EVENT).encode()),
    (STRUCTURED, json.dumps({**EVENT, "data": {"a": 1}, "ext": 5, "flag": True}).encode()),
    (STRUCTURED, json.dumps({**EVENT, "data_base64": "AP8="}).encode()),
    (BATCHED, json.dumps([EVENT, EVENT]).encode()),
]


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serving(tmp_path_factory.mktemp("data")) as running:
        yield running


@pytest.fixture(params=[broker(), channel()], ids=["broker", "channel"])
def path(request: pytest.FixtureRequest, served: Served) -> str:
    """The path of the address of a new Broker or Channel."""
    url: str = a_cluster(served).made(request.param)["status"]["address"]["url"]
    return "/" + url.split("/", 3)[3]


@pytest.mark.covers("KN-004", "KN-023", "KN-060", "KN-080", "KN-112")
@pytest.mark.parametrize(("headers", "body"), EVENTS, ids=range(len(EVENTS)))
def test_every_valid_event_is_accepted(
    served: Served, path: str, headers: dict[str, str], body: bytes
) -> None:
    head = served.head()

    reply = served.post(path, body, headers)

    assert (reply.status, reply.body) == (202, b"")
    assert {entry.stream for entry in served.stored(head)} == {path.removeprefix("/")}


@pytest.mark.covers("KN-060", "KN-080", "KN-136")
@pytest.mark.parametrize(
    ("headers", "body"),
    [(STRUCTURED, b"{"), ({**BINARY, "ce-id": ""}, b""), (BATCHED, b'[{"specversion": "1.0"}]')],
    ids=["broken", "no id", "bad in batch"],
)
def test_event_that_cannot_be_read_is_refused(
    served: Served, path: str, headers: dict[str, str], body: bytes
) -> None:
    head = served.head()

    assert served.post(path, body, headers).status == 400
    assert served.head() == head


@pytest.mark.covers("KN-060", "KN-080", "KN-116")
def test_address_offers_post(served: Served, path: str) -> None:
    reply = served.request("OPTIONS", path)

    assert reply.status == 204
    assert "POST" in reply.headers["allow"]
    assert served.get(path).status == 405


@pytest.mark.covers("KN-060", "KN-080", "KN-118")
def test_the_same_event_is_accepted_twice(served: Served, path: str) -> None:
    replies = [served.post(path, b"{}", BINARY).status for _ in range(2)]

    assert replies == [202, 202]


@pytest.mark.covers("KN-060", "KN-080", "KN-137")
def test_address_of_another_name_is_unknown(served: Served, path: str) -> None:
    assert served.post(f"{path}x", b"{}", BINARY).status == 404


@pytest.mark.parametrize("document", [broker(), channel()], ids=["broker", "channel"])
def test_everything_is_there_after_a_restart(tmp_path: Path, document: Json) -> None:
    with serving(tmp_path) as first:
        cluster = Cluster(first, "shop")
        made = cluster.made(document)
        cluster.publish(made["status"]["address"]["url"])
    with serving(tmp_path) as second:
        cluster = Cluster(second, "shop")
        found = cluster.get(document)
        stored = second.stored()

    assert found["metadata"]["uid"] == made["metadata"]["uid"]
    # The second server listens elsewhere, and so does the address.
    port = f":{second.port}/"
    assert port in found["status"]["address"]["url"]
    assert [entry.stream for entry in stored] == [
        f"{document['kind'].lower()}s/shop/{document['metadata']['name']}"
    ]
