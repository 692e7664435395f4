from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec
import pytest

from penstock import runtime
from penstock.config import Settings
from penstock.ports import Health, Put, Settlement, State, Tally
from penstock.routing import ROUTE, Route, StreamKind
from tests.api.served import Served, serving

LEAST: dict[str, Any] = {"protocol": "HTTP", "sink": "http://127.0.0.1:9/"}


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    with serving(tmp_path) as running:
        yield running


def test_each_broker_has_its_own_subscriptions(served: Served) -> None:
    served.create_stream(StreamKind.BROKER, "shop", "orders")
    path = "/brokers/shop/orders/subscriptions"

    made = served.post(path, LEAST)

    key = made.document["id"]
    assert made.headers["location"].endswith(f"{path}/{key}")
    assert [each["id"] for each in served.get(path).document] == [key]
    assert served.get("/subscriptions").document == []
    assert served.get(f"/subscriptions/{key}").status == 404
    assert served.get(f"{path}/{key}").status == 200


def test_default_broker_is_known_by_both_paths(served: Served) -> None:
    made = served.post("/subscriptions", LEAST)

    listed = served.get("/brokers/default/default/subscriptions").document

    assert listed == [made.document]


def test_unknown_broker_has_no_subscriptions(served: Served) -> None:
    assert served.post("/brokers/default/nosuch/subscriptions", LEAST).status == 404
    assert served.get("/brokers/default/nosuch/subscriptions").status == 404


def test_pages_follow_each_other(served: Served) -> None:
    made = {served.post("/subscriptions", LEAST).document["id"] for _ in range(7)}
    path = "/subscriptions?limit=3"
    sizes, found = [], set()

    while path:
        reply = served.get(path)
        sizes.append(len(reply.document))
        found |= {each["id"] for each in reply.document}
        match = re.search(r"<http://[^/]+(.+)>", reply.headers.get("link", ""))
        path = match[1] if match else ""

    assert (sizes, found) == ([3, 3, 1], made)


@pytest.mark.parametrize("limit", ["0", "-1", "x", "1.5", "%C2%B2"])
def test_wrong_limit_is_refused(served: Served, limit: str) -> None:
    reply = served.get(f"/subscriptions?limit={limit}")

    assert (reply.status, reply.paths) == (400, ["limit"])


def test_status_tells_how_deliveries_go(served: Served, tmp_path: Path) -> None:
    key = served.post("/subscriptions", LEAST).document["id"]
    tally = Tally(key, matched=5, delivered=3, parked=2, last_error="the sink answered 503")
    health = Health(LEAST["sink"], State.DOWN, 4, cause="the sink answered 503")
    with closing(runtime.open_ledger(Settings(data=str(tmp_path)))) as ledger:
        ledger.settle(Settlement(ledger.begin(), tallies=[tally], health=[health]))

    status = served.get(f"/subscriptions/{key}/status").document

    assert status["deliveries"]["delivered"] == 3
    assert status["deliveries"]["last_error"] == "the sink answered 503"
    assert status["sink"]["state"] == "down"
    assert status["stopped"] is False


def test_status_before_the_first_event(served: Served) -> None:
    key = served.post("/subscriptions", LEAST).document["id"]

    status = served.get(f"/subscriptions/{key}/status").document

    assert status["deliveries"]["matched"] == 0
    assert status["sink"]["state"] == "up"


def test_status_shows_that_the_sink_is_gone_for_good(served: Served) -> None:
    key = served.post("/subscriptions", LEAST).document["id"]
    document = served.control.store.get(ROUTE, key)
    assert document is not None
    stopped = msgspec.structs.replace(msgspec.json.decode(document.body, type=Route), stopped=True)
    served.control.store.write([Put(ROUTE, key, msgspec.json.encode(stopped))])

    status = served.get(f"/subscriptions/{key}/status").document

    assert status["stopped"] is True


def test_status_of_an_unknown_subscription_is_not_found(served: Served) -> None:
    assert served.get("/subscriptions/nosuch/status").status == 404


@pytest.mark.covers("SUB-138", "SUB-162")
def test_no_subscriptions_are_an_empty_array(served: Served) -> None:
    reply = served.get("/subscriptions")

    assert (reply.status, reply.document) == (200, [])


@pytest.mark.covers("SUB-122", "SUB-136", "SUB-137", "SUB-140", "SUB-153")
def test_all_are_listed_unless_a_page_is_asked_for(served: Served) -> None:
    made = {served.post("/subscriptions", LEAST).document["id"] for _ in range(250)}

    listed = served.get("/subscriptions").document

    assert len(listed) == 250
    assert {each["id"] for each in listed} == made


@pytest.mark.covers("SUB-139")
def test_unknown_parameters_are_ignored(served: Served) -> None:
    served.post("/subscriptions", LEAST)

    assert len(served.get("/subscriptions?color=blue").document) == 1
