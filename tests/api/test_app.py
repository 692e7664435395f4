from __future__ import annotations

from pathlib import Path

import pytest

from tests.api.served import Served, serving


def test_index_links_to_what_there_is(served: Served) -> None:
    links = served.get("/").document["links"]

    paths = [address.partition(str(served.port))[2] for address in links.values()]
    statuses = {path: served.get(path).status for path in paths}
    assert statuses.pop("/events") == 405
    assert statuses.pop("/validate") == 405
    assert statuses.pop("/readyz") == 503
    assert set(statuses.values()) == {200}


@pytest.mark.parametrize("path", ["/nosuch", "/subscriptions/", "/subscriptions/a/b/c", "/%ff"])
def test_unknown_path_is_a_problem(served: Served, path: str) -> None:
    reply = served.get(path)

    assert reply.status == 404
    assert reply.headers["content-type"] == "application/problem+json"
    assert reply.document["status"] == 404


@pytest.mark.parametrize(
    ("path", "allow"),
    [
        ("/healthz", "GET,OPTIONS"),
        ("/dead", "GET,OPTIONS"),
        ("/dead/1", "GET,DELETE,OPTIONS"),
        ("/dead/1/retry", "POST,OPTIONS"),
    ],
)
def test_wrong_method_is_refused_with_those_allowed(served: Served, path: str, allow: str) -> None:
    reply = served.request("PATCH", path)

    assert reply.status == 405
    assert reply.headers["allow"] == allow
    assert reply.document["title"] == "Method Not Allowed"


def test_head_is_get_without_a_body(served: Served) -> None:
    reply = served.request("HEAD", "/healthz")

    assert (reply.status, reply.body) == (200, b"")


def test_large_document_is_refused(served: Served) -> None:
    reply = served.post("/subscriptions", b" " * (2 << 20))

    assert reply.status == 413


def test_addresses_follow_the_public_one(tmp_path: Path) -> None:
    with serving(tmp_path, url="https://events.example.com/") as served:
        links = served.get("/").document["links"]

        assert links["publish"] == "https://events.example.com/events"


@pytest.mark.parametrize("host", ["[", "a b", "%", "\xff", "evil.example.com/x?", ""])
def test_senseless_host_is_not_repeated(served: Served, host: str) -> None:
    reply = served.request("GET", "/", headers={"host": host})

    assert reply.status == 200
    assert reply.document["links"]["publish"] == f"http://127.0.0.1:{served.port}/events"


@pytest.mark.parametrize("path", ["/", "/nosuch", "/subscriptions", "/dead/x", "/metrics"])
@pytest.mark.parametrize("host", ["[", "\xff"])
def test_senseless_host_does_no_harm(served: Served, path: str, host: str) -> None:
    assert served.request("GET", path, headers={"host": host}).status in {200, 404}
