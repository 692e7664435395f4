from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest

from penstock.ports import Put
from penstock.registry.entities import CONTENT, GROUP, RESOURCE, VERSION
from penstock.store import SqlResourceStore
from tests.api.registry import RECORD, Client, clearing, registry

S = "/schemaGroups/g1/schemas/s1"
GROUPS = 400
DELETING = """
import sys, time
from penstock.registry import Registry
from penstock.store import SqlResourceStore
class Clock:
    now = staticmethod(time.time)
registry = Registry(SqlResourceStore(sys.argv[1]), Clock, str)
type_ = registry.model().group("schemaGroups")
print("ready", flush=True)
registry.delete_groups(type_, [(f"g{n}", None) for n in range(int(sys.argv[2]))])
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    with registry(tmp_path_factory.mktemp("data")) as running:
        yield running


@pytest.fixture
def client(server: Client) -> Client:
    return clearing(server)


@pytest.mark.parametrize(
    "path", [S, "/schemagroups/g1/SCHEMAS/s1", "/schemaGroups/g1/schemas/s%31"]
)
def test_short_way_and_long_way_give_the_same_answer(client: Client, path: str) -> None:
    client.make_schema("s1", description="ü", acme="1")

    short, long = client.get(path), client.get(f"{path}?")
    odd = client.get(f"{path}?x")

    assert short.status == long.status == odd.status == 200
    assert short.body == long.body == odd.body == RECORD.encode()
    for other in (long, odd):
        assert {**short.headers, "date": ""} == {**other.headers, "date": ""}


@pytest.mark.parametrize("path", ["/schemaGroups/g1/schemas/S1", "/schemaGroups/G1/schemas/s1"])
def test_ids_are_found_in_their_own_spelling_only(client: Client, path: str) -> None:
    client.make_schema("s1")

    assert client.get(path).status == 404


def test_head_is_answered_like_get_without_a_body(client: Client) -> None:
    client.make_schema("s1")

    reply = client.send("HEAD", S)

    assert (reply.status, reply.body) == (200, b"")
    assert reply.headers["content-length"] == str(len(RECORD))


@pytest.mark.parametrize("path", ["//", "/endpoints/", "/endpoints//definitions", "/a/b/c/d/e/f/g"])
def test_path_with_an_empty_or_superfluous_name_is_unknown(client: Client, path: str) -> None:
    assert client.get(path).status == 404


@pytest.mark.parametrize(
    ("path", "allow"),
    [
        ("/", "GET,POST,OPTIONS"),
        ("/endpoints", "GET,POST,DELETE,OPTIONS"),
        ("/endpoints/x", "GET,PUT,DELETE,OPTIONS"),
        (S, "GET,PUT,POST,DELETE,OPTIONS"),
        (f"{S}/versions", "GET,DELETE,OPTIONS"),
    ],
)
def test_method_that_is_not_offered_names_those_that_are(
    client: Client, path: str, allow: str
) -> None:
    reply = client.send("PATCH", path)

    assert (reply.status, reply.headers["allow"]) == (405, allow)


def test_of_two_writers_with_the_same_epoch_exactly_one_wins(client: Client) -> None:
    client.make_schema("s1")

    def write(number: int) -> int:
        headers = {"registry-name": f"n{number}"}
        return client.put(f"{S}?epoch={number // 4 + 1}", RECORD, headers).status

    for round_ in range(5):
        with ThreadPoolExecutor(4) as pool:
            statuses = list(pool.map(write, range(round_ * 4, round_ * 4 + 4)))
        assert sorted(statuses) == [200, 409, 409, 409]
    assert client.get(f"{S}?meta").document["epoch"] == 6


def test_writers_without_an_epoch_all_get_their_turn(client: Client) -> None:
    client.make_schema("s1")

    with ThreadPoolExecutor(8) as pool:
        replies = list(pool.map(lambda _: client.post(S, RECORD), range(24)))

    assert {reply.status for reply in replies} == {201}
    numbers = {reply.headers["registry-version"] for reply in replies}
    assert numbers == {str(number) for number in range(2, 26)}
    assert client.get(f"{S}?meta").document["versionsCount"] == 25


def test_resource_never_stays_behind_in_a_deleted_group(client: Client) -> None:
    def work(number: int) -> None:
        if number % 2:
            client.delete("/schemaGroups/g1")
        else:
            client.post("/schemaGroups", {"id": "g1"})
            client.add_schema(f"s{number}")

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(work, range(60)))
    client.delete("/schemaGroups")

    store = client.served.control.store
    assert [store.count(kind) for kind in (GROUP, RESOURCE, VERSION, CONTENT)] == [0, 0, 0, 0]


@pytest.mark.network
@pytest.mark.parametrize("moment", [0.0, 0.01, 0.03, 0.06, 0.1])
def test_crash_in_the_middle_of_a_bulk_delete_leaves_all_or_nothing(
    tmp_path: Path, moment: float
) -> None:
    url = f"sqlite:///{tmp_path / 'store.db'}"
    store = SqlResourceStore(url)
    body = '{"id":"g%d","attributes":{},"epoch":1,"created":"","modified":""}'
    store.write([Put(GROUP, f"schemagroups/g{n}", (body % n).encode()) for n in range(GROUPS)])
    command = [sys.executable, "-c", DELETING, url, str(GROUPS)]

    with subprocess.Popen(command, stdout=subprocess.PIPE) as running:
        assert running.stdout
        running.stdout.readline()
        with suppress(subprocess.TimeoutExpired):
            running.wait(moment)
        running.send_signal(signal.SIGKILL)

    assert store.count(GROUP) in (0, GROUPS)
    store.close()


def test_document_that_is_too_large_is_refused(client: Client) -> None:
    client.make_schema("s1")

    reply = client.put(S, b"x" * ((4 << 20) + 1))

    assert reply.status == 413
