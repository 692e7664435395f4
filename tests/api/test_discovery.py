from __future__ import annotations

import pytest

from tests.api.served import Reply, Served

SERVICE = {
    "name": "widgets",
    "specversions": ["1.0"],
    "subscriptionurl": "https://events.example.com/subscriptions",
    "protocols": ["HTTP"],
}


def own(served: Served, host: str | None = None) -> Reply:
    headers = {"host": host} if host else {}
    return served.request("GET", "/services?name=penstock", headers=headers)


def test_server_lists_itself(served: Served) -> None:
    found = own(served).document

    assert found in served.get("/services").document
    assert served.get(f"/services/{found['id']}").document == found


@pytest.mark.parametrize("host", ["events.example.com", "events.example.com:81", "[::1]:8080"])
def test_addresses_have_the_name_by_which_the_server_was_reached(served: Served, host: str) -> None:
    found = own(served, host).document

    assert found["url"] == f"http://{host}/services/{found['id']}"
    assert found["subscriptionurl"] == f"http://{host}/subscriptions"
    assert found["id"] == own(served).document["id"]


def test_entry_of_the_server_is_not_for_clients_to_change(served: Served) -> None:
    found = own(served).document
    path = f"/services/{found['id']}"

    replies = [
        served.request("PUT", path, {**SERVICE, "name": "other"}),
        served.request("DELETE", path),
        served.post("/services", found),
    ]

    assert [reply.status for reply in replies] == [409, 409, 409]
    assert "the server itself" in replies[0].document["detail"]
    assert own(served).document == found


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"5", b'"x"', b"null", b"[" * 5000])
def test_body_that_is_no_service_is_refused(served: Served, body: bytes) -> None:
    reply = served.post("/services", body)

    assert reply.status == 400
    assert reply.headers["content-type"] == "application/problem+json"


def test_other_media_type_is_refused(served: Served) -> None:
    assert served.post("/services", "name: x", {"content-type": "text/yaml"}).status == 415


def test_location_leads_to_what_was_made(served: Served) -> None:
    reply = served.post("/services", SERVICE)

    assert reply.headers["location"] == reply.document["url"]
    assert served.request("DELETE", f"/services/{reply.document['id']}").status == 200
