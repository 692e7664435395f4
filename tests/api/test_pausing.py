"""Start, pause, resume and status over HTTP."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from penstock import runtime
from penstock.config import Settings
from penstock.ports import Health, Parked, Settlement, State, Tally
from penstock.routing import DEFAULT, StreamKind
from tests.api.served import BINARY, Served, serving

LEAST: dict[str, Any] = {"protocol": "HTTP", "sink": "http://127.0.0.1:9/"}


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    with serving(tmp_path) as running:
        yield running


def created(served: Served, **members: object) -> str:
    return str(served.post("/subscriptions", {**LEAST, **members}).document["id"])


@pytest.mark.parametrize("prefix", ["", f"/{DEFAULT.key}"])
def test_subscription_is_paused_and_resumed(served: Served, prefix: str) -> None:
    path = f"{prefix}/subscriptions/{created(served)}"

    paused = served.request("POST", f"{path}/pause")
    while_paused = served.get(path)
    resumed = served.request("POST", f"{path}/resume")

    assert (paused.status, paused.document["paused"]) == (200, True)
    assert (while_paused.document, while_paused.headers["etag"]) == (
        paused.document,
        paused.headers["etag"],
    )
    assert (resumed.status, "paused" in resumed.document) == (200, False)


def test_pause_twice_is_pause_once(served: Served) -> None:
    path = f"/subscriptions/{created(served)}"

    first, second = (served.request("POST", f"{path}/pause") for _ in range(2))

    assert (first.document, first.headers["etag"]) == (second.document, second.headers["etag"])


@pytest.mark.parametrize("action", ["pause", "resume"])
def test_unknown_subscription_is_not_found(served: Served, action: str) -> None:
    other = served.create_stream(StreamKind.BROKER, "shop", "orders")
    key = created(served)

    assert served.request("POST", f"/subscriptions/nosuch/{action}").status == 404
    assert served.request("POST", f"/{other.key}/subscriptions/{key}/{action}").status == 404


@pytest.mark.parametrize("action", ["pause", "resume"])
def test_other_methods_are_refused(served: Served, action: str) -> None:
    reply = served.get(f"/subscriptions/{created(served)}/{action}")

    assert (reply.status, reply.headers["allow"]) == (405, "POST,OPTIONS")


def test_status_tells_of_a_pause(served: Served) -> None:
    key = created(served)
    served.request("POST", f"/subscriptions/{key}/pause")
    served.post("/events", b"{}", BINARY)

    status = served.get(f"/subscriptions/{key}/status").document

    assert (status["state"], status["backlog"]["unread"]) == ("paused", 1)


def test_subscription_can_start_where_another_one_was_made(served: Served) -> None:
    made = served.post("/subscriptions", LEAST)
    served.post("/events", b"{}", BINARY)
    position = made.headers["penstock-position"]

    key = created(served, config={"startfrom": position})

    status = served.get(f"/subscriptions/{key}/status").document
    assert status["start"] == {"startfrom": position, "position": position, "complete": True}
    assert status["position"] != position


@pytest.mark.parametrize("start", ["soon", 5, "2999-01-01T00:00:00Z", "p9-0000"])
def test_start_that_cannot_be_is_refused(served: Served, start: object) -> None:
    reply = served.post("/subscriptions", {**LEAST, "config": {"startfrom": start}})

    assert (reply.status, reply.paths) == (400, ["config.startfrom"])


def test_status_tells_of_errors_retries_and_rates(served: Served, tmp_path: Path) -> None:
    key = created(served)
    tally = Tally(
        key,
        matched=120,
        delivered=60,
        parked=1,
        last_success=3.0,
        last_error="the sink answered 503",
        last_error_at=5.0,
        last_status=503,
    )
    parked = Parked(key, LEAST["sink"], 0, 0, 77.0, 99.0)
    with closing(runtime.open_ledger(Settings(data=str(tmp_path)))) as ledger:
        health = Health(LEAST["sink"], State.DOWN, 4)
        ledger.settle(Settlement(ledger.begin(), parked=[parked], tallies=[tally], health=[health]))

    status = served.get(f"/subscriptions/{key}/status").document

    assert status["state"] == "running"
    assert status["last_success"] == 3.0
    assert status["last_error"] == {"at": 5.0, "status": 503, "cause": "the sink answered 503"}
    assert (status["next_retry"], status["backlog"]["parked"]) == (77.0, 1)
    assert 1.0 < status["rates"]["matched"] <= 2.0
    assert status["sink"]["state"] == "down"
