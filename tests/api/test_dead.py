from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from penstock import runtime
from penstock.config import Settings
from penstock.events import CloudEvent
from penstock.events.entry import Entry
from penstock.formats import arrow
from penstock.ports import Dead, Settlement
from penstock.store import SqlWaitingRoom
from tests.api.served import Served, serving

SINK = "http://127.0.0.1:9/"


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    with serving(tmp_path) as running:
        yield running


def subscribed(served: Served) -> str:
    made = served.post("/subscriptions", {"protocol": "HTTP", "sink": SINK})
    return str(made.document["id"])


def die(data: Path, route: str, *ids: str) -> None:
    """Leave dead letters behind, the way the pipeline does."""
    with closing(runtime.open_ledger(Settings(data=str(data)))) as ledger:
        dead = [_dead(route, CloudEvent(id, "/s", "t", data=b"\x00\xff")) for id in ids]  # noqa: A001
        ledger.settle(Settlement(ledger.begin(), dead=dead))


def _dead(route: str, event: CloudEvent) -> Dead:
    entry = arrow.freeze(Entry("brokers/default/default", event, 1))
    return Dead(route, SINK, 0, 1, 3, 503, "the sink answered 503", 1_700_000_000.5, entry)


def waiting(data: Path) -> list[str]:
    """The ids of the events that wait to be delivered again."""
    with closing(SqlWaitingRoom(runtime.ledger_url(Settings(data=str(data))), 9)) as room:
        found = room.claim(SINK, 1e12, 100, 60.0)
    return [arrow.thaw(each.entry or b"").event.id for each in found]


def test_list_shows_the_newest_first(served: Served, tmp_path: Path) -> None:
    die(tmp_path, subscribed(served), "a", "b")

    listed = served.get("/dead").document

    assert [each["number"] for each in listed] == [2, 1]
    assert listed[0]["cause"] == "the sink answered 503"
    assert listed[0]["at"] == "2023-11-14T22:13:20.500Z"


def test_pages_follow_each_other(served: Served, tmp_path: Path) -> None:
    die(tmp_path, subscribed(served), *map(str, range(7)))
    path = "/dead?limit=3"
    numbers = []

    while path:
        reply = served.get(path)
        numbers += [each["number"] for each in reply.document]
        match = re.search(r"<http://[^/]+(.+)>", reply.headers.get("link", ""))
        path = match[1] if match else ""

    assert numbers == [7, 6, 5, 4, 3, 2, 1]


def test_list_of_one_route(served: Served, tmp_path: Path) -> None:
    die(tmp_path, "one", "a")
    die(tmp_path, "two", "b")

    assert [each["route"] for each in served.get("/dead?route=two").document] == ["two"]


@pytest.mark.parametrize("query", ["limit=0", "limit=x", "before=-1", "before=1.5"])
def test_wrong_page_is_refused(served: Served, query: str) -> None:
    reply = served.get(f"/dead?{query}")

    assert reply.status == 400
    assert reply.paths == [query.partition("=")[0]]


def test_dead_letter_is_shown_with_its_event(served: Served, tmp_path: Path) -> None:
    die(tmp_path, "one", "a")

    shown = served.get("/dead/1").document

    assert shown["event"]["id"] == "a"
    assert shown["event"]["data_base64"] == "AP8="
    assert (shown["attempts"], shown["status"], shown["destination"]) == (3, 503, SINK)


@pytest.mark.parametrize("number", ["1", "x", "-1", "99999999999999999999", "%C2%B2"])
def test_unknown_dead_letter_is_not_found(served: Served, number: str) -> None:
    assert served.get(f"/dead/{number}").status == 404


def test_retried_dead_letter_waits_to_be_delivered(served: Served, tmp_path: Path) -> None:
    die(tmp_path, subscribed(served), "a", "b")

    reply = served.request("POST", "/dead/1/retry")

    assert (reply.status, reply.document) == (202, {"retried": 1})
    assert waiting(tmp_path) == ["a"]
    assert [each["number"] for each in served.get("/dead").document] == [2]


def test_dead_letter_whose_subscription_is_gone_stays(served: Served, tmp_path: Path) -> None:
    die(tmp_path, "gone", "a")

    reply = served.request("POST", "/dead/1/retry")

    assert reply.status == 409
    assert served.get("/dead/1").status == 200


def test_many_are_retried_and_the_rest_explained(served: Served, tmp_path: Path) -> None:
    die(tmp_path, subscribed(served), "a", "b")
    die(tmp_path, "gone", "c")

    reply = served.post("/dead/retry", {"numbers": [1, 2, 2, 3, 99]})

    assert reply.status == 202
    assert reply.document["retried"] == 2
    assert [each["number"] for each in reply.document["skipped"]] == [3, 99]
    assert sorted(waiting(tmp_path)) == ["a", "b"]


@pytest.mark.parametrize(
    ("document", "paths"),
    [
        ({}, ["numbers"]),
        ([], ["numbers"]),
        ({"numbers": 1}, ["numbers"]),
        ({"numbers": [1, "x", True]}, ["numbers[1]", "numbers[2]"]),
        ({"numbers": list(range(1001))}, ["numbers"]),
    ],
)
def test_wrong_numbers_are_refused(served: Served, document: object, paths: list[str]) -> None:
    reply = served.post("/dead/retry", document)  # type: ignore[arg-type]

    assert (reply.status, reply.paths) == (400, paths)


def test_deleted_dead_letter_is_gone(served: Served, tmp_path: Path) -> None:
    die(tmp_path, "one", "a")

    first = served.request("DELETE", "/dead/1")
    second = served.request("DELETE", "/dead/1")

    assert (first.status, first.document["number"], second.status) == (200, 1, 404)
