"""HTTP web hooks: the handshake before deliveries, the rate a sink allows, what answers mean."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conformance.works import Works, working
from tests.pipeline.receiver import Receiver, Reply, receiving

pytestmark = pytest.mark.network

ORIGIN = "eventemitter.example.com"
ALLOW = Reply(200, (("WebHook-Allowed-Origin", ORIGIN), ("WebHook-Allowed-Rate", "6000")))
REQUIRE = {"handshake": "require"}


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as opened:
        yield opened


@pytest.fixture
def works(tmp_path: Path) -> Iterator[Works]:
    with working(tmp_path, origin=ORIGIN, url="http://127.0.0.1:1") as made:
        yield made


def questions(receiver: Receiver) -> list[dict[str, str]]:
    return [one.headers for one in receiver.places["OPTIONS /hook?a=b"].got]


def sink(receiver: Receiver, *answers: Reply | int) -> str:
    """A sink that answers questions as told, and takes every delivery."""
    receiver.answers("OPTIONS /hook?a=b", *answers)
    return receiver.uri("/hook?a=b")


def deliveries(receiver: Receiver) -> list[dict[str, str]]:
    return [one.headers for one in receiver.places["/hook?a=b"].got]


@pytest.mark.covers("CE-120", "CE-134", "CE-135", "CE-136")
def test_sink_is_asked_with_the_origin_that_every_delivery_carries(
    works: Works, receiver: Receiver
) -> None:
    works.subscribe(sink(receiver, ALLOW), protocolsettings=REQUIRE)

    works.deliver("1", "2")

    (question,) = questions(receiver)
    assert question["webhook-request-origin"] == ORIGIN
    assert "content-type" not in question
    assert [one["webhook-request-origin"] for one in deliveries(receiver)] == [ORIGIN] * 2
    first = receiver.places["/hook?a=b"].got[0]
    assert receiver.places["OPTIONS /hook?a=b"].got[0].at < first.at


@pytest.mark.covers("CE-138")
def test_rate_is_asked_for_in_requests_per_minute(works: Works, receiver: Receiver) -> None:
    settings = {**REQUIRE, "ratelimit": 2}
    works.subscribe(sink(receiver, ALLOW), protocolsettings=settings)

    works.deliver("1")

    assert questions(receiver)[0]["webhook-request-rate"] == "120"


@pytest.mark.covers("CE-140", "CE-146")
@pytest.mark.parametrize("status", [200, 204, 405])
def test_status_is_no_consent(works: Works, receiver: Receiver, status: int) -> None:
    strict = works.subscribe(sink(receiver, status), protocolsettings=REQUIRE)

    works.deliver("1")

    assert deliveries(receiver) == []
    found = works.status(strict)["deliveries"]
    assert (found["parked"], found["last_error"]) == (
        1,
        "the sink did not consent to be sent events",
    )


@pytest.mark.covers("CE-146")
def test_sink_without_the_handshake_gets_events_where_one_only_tries(
    works: Works, receiver: Receiver
) -> None:
    works.subscribe(sink(receiver, 405), protocolsettings={"handshake": "try"})

    works.deliver("1")

    assert len(deliveries(receiver)) == 1


@pytest.mark.covers("CE-140")
@pytest.mark.parametrize("mode", ["try", "require"])
def test_consent_for_another_origin_is_a_refusal(
    works: Works, receiver: Receiver, mode: str
) -> None:
    refusal = Reply(200, (("WebHook-Allowed-Origin", "other.example"),))
    key = works.subscribe(sink(receiver, refusal), protocolsettings={"handshake": mode})

    works.deliver("1")

    assert deliveries(receiver) == []
    assert "refuses" in works.status(key)["deliveries"]["last_error"]


@pytest.mark.covers("CE-143")
def test_allowed_rate_is_kept(works: Works, receiver: Receiver) -> None:
    slow = Reply(200, (("WebHook-Allowed-Origin", "*"), ("WebHook-Allowed-Rate", "120")))
    works.subscribe(sink(receiver, slow), protocolsettings=REQUIRE)
    works.publish("1", "2", "3", "4", "5", "6")

    works.retry(1.4)

    # Two in a second: one at once, and one for each half second that passed.
    assert 2 <= len(deliveries(receiver)) <= 4
    assert min(receiver.places["/hook?a=b"].gaps()) > 0.4


@pytest.mark.covers("CE-137", "CE-144")
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_consent_by_callback_lets_deliveries_go(
    works: Works, receiver: Receiver, method: str
) -> None:
    settings = {**REQUIRE, "ratelimit": 100}
    works.subscribe(sink(receiver, 202), protocolsettings=settings)
    works.deliver("1", "2")
    held = deliveries(receiver)

    callback = questions(receiver)[0]["webhook-request-callback"]
    path = callback.removeprefix("http://127.0.0.1:1")
    granted = works.served.request(method, path)
    works.retry(1.5)

    assert held == []
    assert re.fullmatch(r"/permissions/[0-9a-f]{40}-[0-9a-f]{64}", path)
    assert (granted.status, granted.document) == (200, {"status": "granted", "rate": 6000})
    assert len(deliveries(receiver)) == 2


@pytest.mark.covers("CE-137")
def test_callback_may_name_the_rate(works: Works, receiver: Receiver) -> None:
    works.subscribe(sink(receiver, 202), protocolsettings=REQUIRE)
    works.deliver("1")
    path = questions(receiver)[0]["webhook-request-callback"].removeprefix("http://127.0.0.1:1")

    granted = works.served.request("POST", path, headers={"WebHook-Allowed-Rate": "60"})

    assert granted.document == {"status": "granted", "rate": 60}


@pytest.mark.covers("CE-137")
def test_callback_cannot_be_guessed(works: Works, receiver: Receiver) -> None:
    works.subscribe(sink(receiver, 202), protocolsettings=REQUIRE)
    works.deliver("1")
    path = questions(receiver)[0]["webhook-request-callback"].removeprefix("http://127.0.0.1:1")

    answers = [works.served.get(f"{path[:-4]}{guess:04x}").status for guess in range(8)]
    works.retry()

    assert set(answers) == {404}
    assert deliveries(receiver) == []


@pytest.mark.covers("CE-128")
@pytest.mark.parametrize(
    ("path", "headers"),
    [("/events", {"authorization": "Bearer t0ken"}), ("/events?p=q&access_token=t0ken", {})],
)
def test_token_reaches_our_own_entry_in_either_form(
    works: Works, path: str, headers: dict[str, str]
) -> None:
    event = b'{"specversion": "1.0", "id": "1", "source": "/s", "type": "t"}'

    answer = works.served.post(
        path, event, {"content-type": "application/cloudevents+json", **headers}
    )

    assert answer.status == 202


@pytest.mark.covers("CE-096", "CE-116")
def test_batches_are_sent_only_to_who_asks_for_them(works: Works, receiver: Receiver) -> None:
    batched = {"contentmode": "batch", "batchsize": 2}
    works.subscribe(receiver.uri("/batch"), protocolsettings=batched)
    works.subscribe(receiver.uri("/single"))

    works.deliver("1", "2", "3")

    types = [one.headers["content-type"] for one in receiver.places["/batch"].got]
    assert types == ["application/cloudevents-batch+json; charset=utf-8"] * 2
    assert len(receiver.places["/single"].got) == 3


@pytest.mark.covers("CE-124")
def test_sink_that_is_gone_gets_nothing_more_of_a_batched_subscription(
    works: Works, receiver: Receiver
) -> None:
    uri = receiver.answers("/gone", 410)
    key = works.subscribe(uri, protocolsettings={"contentmode": "batch"})
    works.deliver("1", "2")

    works.deliver("3")

    assert len(receiver.places["/gone"].got) == 1
    assert works.status(key)["deliveries"]["dead"] == 2


@pytest.mark.covers("CE-125")
def test_too_many_requests_holds_a_limited_subscription_as_long_as_asked(
    works: Works, receiver: Receiver
) -> None:
    uri = receiver.answers("/busy", Reply(429, (("Retry-After", "1"),)), 200)
    settings = {"ratelimit": 100, "backoffdelay": "PT0.05S"}
    works.subscribe(uri, protocolsettings=settings)
    works.publish("1")

    works.retry(1.6)

    assert len(receiver.places["/busy"].got) == 2
    assert receiver.places["/busy"].gaps()[0] >= 0.95


def test_operator_may_require_the_handshake_of_all(tmp_path: Path, receiver: Receiver) -> None:
    with working(tmp_path, handshake="require") as works:
        key = works.subscribe(sink(receiver, 405))

        shown = works.served.get(f"/subscriptions/{key}").document["protocolsettings"]
        works.deliver("1")

    assert shown["handshake"] == "require"
    assert deliveries(receiver) == []


def test_answer_is_fast_though_the_sink_is_not(works: Works, receiver: Receiver) -> None:
    started = time.monotonic()
    works.subscribe(sink(receiver, Reply(200, seconds=5.0)), protocolsettings=REQUIRE)

    assert time.monotonic() - started < 2.0
    assert questions(receiver) == []
