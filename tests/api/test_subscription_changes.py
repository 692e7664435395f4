"""Subscriptions that many change at once, over the real API."""

from __future__ import annotations

import asyncio
import re
import threading
from collections import Counter
from pathlib import Path
from typing import Any

import msgspec
import pytest

from penstock.client import AsyncClient, Subscription
from penstock.errors import ConflictError, NotFoundError, PreconditionError
from penstock.routing import DEFAULT, ROUTE, Route
from penstock.subscriptions import SUBSCRIPTION
from penstock.subscriptions import Subscription as Kept
from penstock.subscriptions.listing import INDEX
from tests.api.served import Served, serving

LEAST: dict[str, Any] = {"protocol": "HTTP", "sink": "http://127.0.0.1:9/"}
PATCH = {"content-type": "application/merge-patch+json"}
CLIENTS = 100


def created(served: Served, **more: object) -> tuple[str, str]:
    """The path of a new subscription, and its tag."""
    reply = served.post("/subscriptions", {**LEAST, **more})
    return f"/subscriptions/{reply.document['id']}", reply.headers["etag"]


def route(served: Served, path: str) -> Route:
    found = served.control.store.get(ROUTE, path.rpartition("/")[2])
    assert found is not None
    return msgspec.json.decode(found.body, type=Route)


def kept(served: Served, path: str) -> Kept:
    return served.control.subscriptions.retrieve(DEFAULT.key, path.rpartition("/")[2])


def sealed(found: Kept) -> object:
    headers = found.protocolsettings["headers"]
    assert isinstance(headers, dict)
    return headers["Authorization"]


def test_every_answer_with_one_object_has_its_tag(served: Served) -> None:
    path, first = created(served)

    read = served.get(path)
    put = served.request("PUT", path, LEAST)
    patched = served.request("PATCH", path, {"source": "/s"}, PATCH)

    assert read.headers["etag"] == first
    assert re.fullmatch(r'"\d+"', first)
    assert len({first, put.headers["etag"], patched.headers["etag"]}) == 3
    assert served.get(path).headers["etag"] == patched.headers["etag"]


def test_known_object_is_not_sent_again(served: Served) -> None:
    path, tag = created(served)

    reply = served.request("GET", path, headers={"if-none-match": tag})

    assert (reply.status, reply.body, reply.headers["etag"]) == (304, b"", tag)
    assert served.request("GET", path, headers={"if-none-match": '"1"'}).status == 200


@pytest.mark.parametrize(
    ("method", "body", "more"),
    [("PUT", LEAST, {}), ("PATCH", {"types": ["x"]}, PATCH), ("DELETE", None, {})],
)
def test_change_of_an_older_version_is_refused(
    served: Served, method: str, body: dict[str, Any] | None, more: dict[str, str]
) -> None:
    path, old = created(served, types=["a"])
    served.request("PATCH", path, {"types": ["b"]}, PATCH)

    reply = served.request(method, path, body, {"if-match": old, **more})

    assert reply.status == 412
    assert reply.document["error"] == "conflict"
    assert served.get(path).document["types"] == ["b"]


@pytest.mark.parametrize("condition", [{"if-match": "*"}, {"if-none-match": '"1"'}, {}])
def test_change_of_the_newest_version_is_made(served: Served, condition: dict[str, str]) -> None:
    path, tag = created(served)

    reply = served.request("PUT", path, LEAST, condition or {"if-match": tag})

    assert reply.status == 200


def test_put_that_must_not_replace_anything_is_refused(served: Served) -> None:
    path, _ = created(served)

    assert served.request("PUT", path, LEAST, {"if-none-match": "*"}).status == 412


def test_condition_on_what_is_not_there_is_not_found(served: Served) -> None:
    reply = served.request("PUT", "/subscriptions/nosuch", LEAST, {"if-match": '"1"'})

    assert reply.status == 404


def test_condition_that_is_none_is_refused(served: Served) -> None:
    path, _ = created(served)

    reply = served.request("DELETE", path, headers={"if-match": "17"})

    assert (reply.status, reply.paths) == (400, ["if-match"])


def test_patch_changes_the_object_and_its_route(served: Served) -> None:
    path, _ = created(served, types=["a"], source="/s", config={"x": 1})

    reply = served.request("PATCH", path, {"types": ["b"], "source": None}, PATCH)

    assert reply.status == 200
    assert (reply.document["types"], "source" in reply.document) == (["b"], False)
    assert reply.document["config"] == {"x": 1}
    assert (route(served, path).types, route(served, path).source) == (("b",), None)


@pytest.mark.parametrize(
    ("body", "media_type", "status"),
    [
        (b'{"types": ["b"]}', "application/json", 200),
        (b'{"types": ["b"]}', "application/merge-patch+json; charset=utf-8", 200),
        (b'{"types": ["b"]}', "application/json-patch+json", 415),
        (b"[]", "application/merge-patch+json", 400),
        (b"{", "application/merge-patch+json", 400),
        (b"", "application/merge-patch+json", 400),
        (b'{"sink": null}', "application/merge-patch+json", 400),
        (b'{"id": "other"}', "application/merge-patch+json", 400),
        (b'{"protocolsettings": {"nosuch": 1}}', "application/merge-patch+json", 400),
    ],
)
def test_patch_is_checked_like_any_proposal(
    served: Served, body: bytes, media_type: str, status: int
) -> None:
    path, _ = created(served, types=["a"])

    reply = served.request("PATCH", path, body, {"content-type": media_type})

    assert reply.status == status
    assert served.get(path).document["types"] == (["b"] if status == 200 else ["a"])


def test_patch_keeps_the_secrets_that_nobody_can_read_back(served: Served) -> None:
    secret = {"credentialType": "PLAIN", "identifier": "u", "secret": "p4ss"}
    headers = {"Authorization": "Bearer t0ken", "X-A": "1"}
    path, _ = created(served, sinkCredential=secret, protocolsettings={"headers": headers})
    before = kept(served, path)

    patch = {"types": ["b"], "protocolsettings": {"headers": {"X-B": "2"}}}
    reply = served.request("PATCH", path, patch, PATCH)

    after = kept(served, path)
    assert reply.document["protocolsettings"]["headers"] == {"X-A": "1", "X-B": "2"}
    assert b"t0ken" not in reply.body
    assert b"p4ss" not in reply.body
    assert after.credential == before.credential
    assert sealed(after) == sealed(before)


def test_patch_can_change_one_secret_and_remove_all(served: Served) -> None:
    secret = {"credentialType": "PLAIN", "identifier": "u", "secret": "p4ss"}
    path, _ = created(served, sinkCredential=secret)
    before = kept(served, path)

    served.request("PATCH", path, {"sinkcredential": {"SECRET": "other"}}, PATCH)
    changed = kept(served, path)
    served.request("PATCH", path, {"sinkCredential": None}, PATCH)

    assert changed.credential is not None
    assert changed.credential != before.credential
    assert kept(served, path).credential is None


@pytest.mark.covers("SUB-008")
def test_one_more_than_allowed_is_refused_and_says_so(tmp_path: Path) -> None:
    with serving(tmp_path, subscriptions=2) as served:
        paths = [created(served)[0] for _ in range(2)]

        refused = served.post("/subscriptions", LEAST)

        assert (refused.status, refused.document["error"]) == (409, "conflict")
        assert "2 are allowed" in refused.document["detail"]
        assert [served.get(path).status for path in paths] == [200, 200]
        served.request("DELETE", paths[0])
        assert served.post("/subscriptions", LEAST).status == 201


@pytest.mark.parametrize(("depth", "status"), [(100, 200), (300, 400), (990, 400), (5_000, 400)])
@pytest.mark.parametrize("method", ["PUT", "PATCH"])
def test_document_must_not_be_nested_too_deeply(
    served: Served, method: str, depth: int, status: int
) -> None:
    path, _ = created(served)
    deep = '{"a":' * depth + "1" + "}" * depth
    body = f'{{"protocol":"HTTP","sink":"http://h/","config":{deep}}}'

    reply = served.request(method, path, body)

    assert reply.status == status
    assert served.get(path).status == 200


def test_list_can_be_narrowed_and_paged(served: Served) -> None:
    sink = "http://narrow/?a=b&c"
    made = [created(served, sink=sink, types=["x", "y"])[0] for _ in range(5)]
    created(served, sink=sink, types=["z"])
    query = "/subscriptions?sink=http%3A%2F%2Fnarrow%2F%3Fa%3Db%26c&type=x&protocol=HTTP&limit=2"
    found: list[str] = []

    while query:
        reply = served.get(query)
        found += [f"/subscriptions/{each['id']}" for each in reply.document]
        link = re.search(r"<http://[^/]+(.+)>", reply.headers.get("link", ""))
        query = link[1] if link else ""

    assert sorted(found) == sorted(made)


def test_list_follows_changes(served: Served) -> None:
    path, _ = created(served, types=["before"])

    served.request("PATCH", path, {"types": ["after"]}, PATCH)
    moved = [
        len(served.get(f"/subscriptions?type={name}").document) for name in ("before", "after")
    ]
    served.request("DELETE", path)

    assert moved == [0, 1]
    assert served.get("/subscriptions?type=after").document == []


def test_update_is_never_half_visible_to_routing(served: Served) -> None:
    """Source and types change together; whoever looks sees both old or both new."""
    path, _ = created(served, source="/0", types=["0"])
    over = threading.Event()
    seen: set[tuple[str | None, tuple[str, ...]]] = set()

    def look() -> None:
        while not over.is_set():
            found = route(served, path)
            seen.add((found.source, found.types))

    looking = threading.Thread(target=look)
    looking.start()
    for number in range(1, 30):
        change = {"source": f"/{number}", "types": [f"{number}"]}
        served.request("PUT", path, {**LEAST, **change})
    over.set()
    looking.join()

    assert all(source == f"/{types[0]}" for source, types in seen)
    assert route(served, path).source == "/29"


@pytest.mark.network
def test_many_clients_lose_no_update(served: Served) -> None:
    """Each client adds one header by reading and writing back until it succeeds."""
    url = f"http://127.0.0.1:{served.port}"

    async def add(client: AsyncClient, key: str, number: int) -> int:
        for attempt in range(1_000):
            found = await client.subscription(key)
            headers = {**found.protocolsettings.get("headers", {}), f"X-{number}": "1"}
            settings = {**found.protocolsettings, "headers": headers}
            try:
                await client.update_subscription(
                    msgspec.structs.replace(found, protocolsettings=settings)
                )
            except (PreconditionError, ConflictError):
                continue
            return attempt
        raise AssertionError("never succeeded")

    async def run() -> Subscription:
        async with AsyncClient(url) as client:
            made = await client.create_subscription(LEAST)
            await asyncio.gather(*(add(client, made.id, number) for number in range(20)))
            return await client.subscription(made.id)

    found = asyncio.run(run())

    assert found.protocolsettings["headers"] == {f"X-{number}": "1" for number in range(20)}


@pytest.mark.network
def test_many_clients_patch_and_delete_at_once(served: Served) -> None:
    """Patches that were acknowledged are all there, and what was deleted stays deleted."""
    url = f"http://127.0.0.1:{served.port}"
    answers: Counter[str] = Counter()

    async def patch(client: AsyncClient, key: str, number: int) -> None:
        try:
            await client.patch_subscription(key, {"config": {f"k{number}": number}})
            answers[f"{key} patched"] += 1
        except NotFoundError:
            answers[f"{key} gone"] += 1

    async def delete(client: AsyncClient, key: str) -> None:
        try:
            await client.delete_subscription(key)
            answers[f"{key} deleted"] += 1
        except NotFoundError:
            answers[f"{key} gone"] += 1

    async def run() -> tuple[str, str]:
        async with AsyncClient(url) as client:
            kept, doomed = [(await client.create_subscription(LEAST)).id for _ in range(2)]
            work = [
                patch(client, kept if number % 2 else doomed, number) for number in range(CLIENTS)
            ]
            await asyncio.gather(*work, *(delete(client, doomed) for _ in range(5)))
            return kept, doomed

    kept, doomed = asyncio.run(run())

    config = served.get(f"/subscriptions/{kept}").document["config"]
    assert config == {f"k{number}": number for number in range(1, CLIENTS, 2)}
    assert answers[f"{kept} patched"] == CLIENTS // 2
    assert answers[f"{doomed} deleted"] == 1
    assert served.get(f"/subscriptions/{doomed}").status == 404
    assert served.control.store.get(ROUTE, doomed) is None


def test_index_has_no_entries_of_what_is_gone(served: Served) -> None:
    path, _ = created(served, types=["once", "twice"])
    served.request("PATCH", path, {"types": ["twice", "more"], "sink": "http://moved/"}, PATCH)
    key = path.rpartition("/")[2]

    served.request("DELETE", path)

    left = served.control.store.page(INDEX, limit=100_000)
    assert not [entry for entry in left if entry.key.endswith(key)]
    assert not [
        each
        for each in served.control.store.page(SUBSCRIPTION, limit=100_000)
        if each.key.endswith(key)
    ]
