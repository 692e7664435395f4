from __future__ import annotations

import msgspec
import pytest

from penstock.delivery.accounts import Account, Delivery
from penstock.events import CloudEvent
from penstock.pipeline import replies
from penstock.ports import Leg, Parked, Response
from penstock.routing import Route
from tests.log.entries import an_entry
from tests.routing.routes import URI, a_route

ASKING = msgspec.structs.replace(a_route(), replies=True)
HEADERS = (
    ("ce-specversion", "1.0"),
    ("ce-id", "reply"),
    ("ce-source", "/sink"),
    ("ce-type", "answer"),
    ("content-type", "text/plain"),
)
STRUCTURED = (
    b'{"specversion":"1.0","id":"reply","source":"/sink","type":"answer","subject":"\xc3\xa9"}'
)
JSON = (("content-type", "application/cloudevents+json"),)


def answered(response: Response, route: Route = ASKING, hops: int = 0) -> Account:
    account = Account(0.0)
    entry = msgspec.structs.replace(an_entry(7), hops=hops)
    account.settled(Delivery(route, entry, 0, 7), response)
    return account


def found(response: Response, route: Route = ASKING) -> list[CloudEvent]:
    return [entry.event for entry in replies.entries(answered(response, route))]


@pytest.mark.covers("KN-123")
def test_event_in_a_binary_answer_goes_back_into_its_stream() -> None:
    (entry,) = replies.entries(answered(Response(200, HEADERS, b"hello"), hops=3))

    assert (entry.event.id, entry.event.data) == ("reply", b"hello")
    assert (entry.stream, entry.hops) == (an_entry().stream, 4)
    assert entry.received > 0


def test_event_in_a_structured_answer_goes_back_too() -> None:
    (event,) = found(Response(200, JSON, STRUCTURED))

    assert (event.id, event.subject) == ("reply", "é")


@pytest.mark.parametrize("status", [201, 202, 204, 299])
def test_other_success_carries_no_event(status: int) -> None:
    assert found(Response(status, HEADERS, b"hello")) == []


@pytest.mark.parametrize(
    "response",
    [
        Response(200),
        Response(200, (("content-type", "text/html"),), b"<p>thanks</p>"),
        Response(200, (("content-type", "application/json"),), b'{"ok": true}'),
    ],
    ids=["empty", "page", "json"],
)
def test_answer_without_event_is_no_reply(response: Response) -> None:
    assert found(response) == []


@pytest.mark.parametrize(
    "response",
    [
        Response(200, (*HEADERS, ("ce-time", "noon")), b""),
        Response(200, JSON, b"{"),
        Response(200, (("content-type", "application/cloudevents+avro"),), b"\x00"),
        Response(
            200,
            (("content-type", "application/cloudevents-batch+json"),),
            b"[" + STRUCTURED + b"," + STRUCTURED + b"]",
        ),
    ],
    ids=["bad attribute", "no json", "unknown format", "two events"],
)
def test_malformed_reply_is_dropped_and_told(
    response: Response, caplog: pytest.LogCaptureFixture
) -> None:
    account = answered(response)

    assert replies.entries(account) == []
    assert f"the reply of {URI} is dropped" in caplog.text
    assert account.tallies()[0].delivered == 1


def test_route_that_wants_no_replies_gets_none() -> None:
    assert found(Response(200, HEADERS, b"hello"), a_route()) == []


def test_dead_letter_sink_cannot_reply() -> None:
    parked = Parked("r", URI, 0, 7, 0.0, 0.0, leg=Leg.DEAD_LETTER, id=1)
    account = Account(0.0)

    account.settled(Delivery(ASKING, an_entry(7), 0, 7, parked), Response(200, HEADERS, b"hello"))

    assert replies.entries(account) == []


def test_reply_goes_into_another_stream_of_ours() -> None:
    route = msgspec.structs.replace(
        a_route(), reply_to="http://here/channels/n/next", reply_stream="channels/n/next"
    )

    (entry,) = replies.entries(answered(Response(200, HEADERS, b"hello"), route, hops=3))

    assert (entry.stream, entry.event.id, entry.hops) == ("channels/n/next", "reply", 4)


def test_reply_that_was_sent_on_goes_into_no_stream() -> None:
    route = msgspec.structs.replace(a_route(), reply_to="http://replies.example/")

    assert found(Response(200, HEADERS, b"hello"), route) == []


@pytest.mark.parametrize(("hops", "goes_on"), [(0, True), (254, True), (255, False)])
def test_chain_of_replies_ends_as_a_dead_letter(hops: int, *, goes_on: bool) -> None:
    account = answered(Response(200, HEADERS, b"hello"), hops=hops)

    assert bool(replies.entries(account)) is goes_on
    assert len(account.dead) == (not goes_on)
    assert all("chain of replies" in dead.cause for dead in account.dead)
