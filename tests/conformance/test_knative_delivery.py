"""Knative Eventing, data plane: what is sent, how often and when, by what the sink answers."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from email.utils import formatdate
from typing import TYPE_CHECKING

import msgspec
import pytest

from penstock.events import CloudEvent, DataForm
from penstock.events.entry import Entry
from penstock.routing import DEFAULT, Backoff, ContentMode, Route
from tests.pipeline.line import Line, running
from tests.pipeline.receiver import Reply, eventually, receiving
from tests.routing.routes import a_knative_route

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ATTRIBUTES = {"datacontenttype": "application/octet-stream", "data": b"\x00\xffhello"}
EVENT_B = (
    ("ce-specversion", "1.0"),
    ("ce-id", "b"),
    ("ce-source", "/sink"),
    ("content-type", "text/plain"),
)


@dataclass(frozen=True)
class Row:
    """One row of the table of response codes: what the sink answers, and what follows."""

    name: str
    replies: Sequence[Reply | int]
    requests: int
    is_dead: bool
    covers: str


def once(status: int, covers: str, *, is_dead: bool) -> Row:
    reply = Reply(status, (("location", "/elsewhere"),)) if 300 <= status < 400 else Reply(status)
    return Row(str(status), [reply], 1, is_dead, covers)


def again(status: int, covers: str) -> list[Row]:
    """A status that is retried: with success at last, and without."""
    return [
        Row(f"{status}.202", [status, 202], 2, is_dead=False, covers=covers),
        Row(f"{status}.{status}", [status], 2, is_dead=True, covers=covers),
    ]


ROWS = [
    once(101, "KN-122", is_dead=True),
    once(200, "KN-123", is_dead=False),
    once(202, "KN-124", is_dead=False),
    *(once(status, "KN-125", is_dead=False) for status in (201, 203, 204, 205, 299)),
    *(once(status, "KN-126", is_dead=True) for status in (300, 301, 302, 303, 304, 307, 308)),
    once(400, "KN-127", is_dead=True),
    *again(404, "KN-128"),
    *again(409, "KN-129"),
    *again(429, "KN-130"),
    *(
        once(status, "KN-131", is_dead=True)
        for status in (401, 402, 403, 405, 406, 408, 410, 411, 413, 415, 418, 422, 425, 451, 499)
    ),
    *(row for status in (500, 501, 502, 503, 504, 511, 599) for row in again(status, "KN-132")),
]


def an_event(kind: str, number: int = 0) -> Entry:
    event = CloudEvent(
        f"{kind} {number}",
        "/conformance",
        kind,
        subject="a/b",
        time="2026-11-15T20:00:00.5+01:00",
        datacontenttype="application/octet-stream",
        dataschema="https://example.com/schema",
        extensions={"flag": True, "count": 5, "word": "é"},
        data=b"\x00\xffhello",
        form=DataForm.BYTES,
    )
    return Entry(DEFAULT.key, event, time.time_ns() // 1_000)


def trigger(key: str, uri: str, **policy: object) -> Route:
    """A route for events of the type of its own name."""
    return msgspec.structs.replace(a_knative_route(key, uri, **policy), types=(key,))


@pytest.fixture(scope="module")
def line(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Line]:
    with running(spark, tmp_path_factory.mktemp("knative")) as started:
        yield started


def sent(line: Line, route: Route, *numbers: int) -> list[CloudEvent]:
    """Add a route and publish events for it; return them."""
    entries = [an_event(route.id, number) for number in numbers or (0,)]
    line.plant.put(route)
    line.plant.append(entries)
    return [entry.event for entry in entries]


@pytest.fixture(scope="module")
def table(line: Line) -> Line:
    """One event for each row of the table, all sent and all come to their end."""
    letters = [line.receiver.uri(f"/letters/{row.name}") for row in ROWS]
    routes = [
        trigger(row.name, line.receiver.answers(f"/{row.name}", *row.replies), dead_letter=letter)
        for row, letter in zip(ROWS, letters, strict=True)
    ]
    line.plant.put(*routes)
    line.plant.append([an_event(row.name) for row in ROWS])
    for row in ROWS:
        line.done(row.name)
    assert line.quiet(*letters)
    return line


@pytest.mark.parametrize(
    "row",
    [
        pytest.param(row, id=row.name, marks=pytest.mark.covers(row.covers, "KN-121"))
        for row in ROWS
    ],
)
def test_status_decides_over_retry_and_dead_letter(table: Line, row: Row) -> None:
    requests = table.receiver.places[f"/{row.name}"].got
    letters = table.receiver.places[f"/letters/{row.name}"].got

    assert len(requests) == row.requests
    assert len(letters) == row.is_dead
    assert len({one.event.id for one in requests + letters}) == 1


@pytest.mark.covers("KN-126", "KN-134")
def test_no_redirect_is_followed(table: Line) -> None:
    assert not table.receiver.places["/elsewhere"].got


@pytest.mark.covers("KN-096", "KN-097", "KN-099")
def test_dead_letter_has_the_same_attributes_and_data(table: Line) -> None:
    (letter,) = table.receiver.places["/letters/400"].got

    attributes = letter.event.attributes()
    added = {key: attributes.pop(key) for key in list(attributes) if key.startswith("knative")}
    assert attributes == read(an_event("400").event)
    assert added == {
        "knativeerrordest": table.receiver.uri("/400"),
        "knativeerrorcode": "400",
    }
    assert letter.body == b"\x00\xffhello"


def read(event: CloudEvent) -> dict[str, object]:
    """The attributes as a receiver reads them from headers: extensions are text there."""
    return {name: event.text(name) for name in event.attributes()}


@pytest.mark.covers("KN-087", "KN-113", "KN-114", "KN-115")
def test_event_is_posted_to_the_subscriber_in_binary_mode(table: Line) -> None:
    (got,) = table.receiver.places["/202"].got

    assert got.method == "POST"
    assert got.headers["ce-specversion"] == "1.0"
    assert got.event.attributes() == read(an_event("202").event)
    assert got.body == b"\x00\xffhello"


@pytest.mark.covers("KN-139")
def test_only_the_subscriber_is_asked_for_a_reply(table: Line) -> None:
    assert table.receiver.places["/400"].got[0].headers["prefer"] == "reply"
    assert "prefer" not in table.receiver.places["/letters/400"].got[0].headers


@pytest.mark.covers("KN-090", "KN-091")
def test_success_ends_the_delivery_at_once_or_after_a_retry(table: Line) -> None:
    assert len(table.receiver.places["/202"].got) == 1
    assert table.tally("503.202").delivered == 1
    assert table.receiver.places["/letters/503.202"].got == []


@pytest.mark.covers("KN-112")
def test_structured_mode_carries_the_same_event(line: Line) -> None:
    route = trigger("structured", line.receiver.uri("/structured"))
    target = msgspec.structs.replace(route.target, mode=ContentMode.STRUCTURED)

    (event,) = sent(line, msgspec.structs.replace(route, target=target))
    line.done("structured")

    (got,) = line.receiver.places["/structured"].got
    assert got.headers["content-type"].startswith("application/cloudevents+json")
    assert got.event == event


@pytest.mark.covers("KN-088", "KN-089", "KN-106", "KN-107")
@pytest.mark.parametrize(
    ("backoff", "waits"),
    [(Backoff.LINEAR, [0.2, 0.2, 0.2]), (Backoff.EXPONENTIAL, [0.2, 0.4, 0.8])],
)
def test_retries_follow_the_backoff(line: Line, backoff: Backoff, waits: list[float]) -> None:
    path = f"/{backoff}"
    uri = line.receiver.answers(path, 503)

    sent(line, trigger(backoff, uri, retries=3, delay=0.2, backoff=backoff))
    line.done(backoff)

    gaps = line.receiver.places[path].gaps()
    assert len(gaps) == 3
    assert all(wait <= gap < wait + 3.0 for gap, wait in zip(gaps, waits, strict=True)), gaps


@pytest.mark.covers("KN-088", "KN-103")
@pytest.mark.parametrize("retries", [0, 3])
def test_each_of_many_failing_events_gets_all_its_attempts(line: Line, retries: int) -> None:
    key = f"many{retries}"
    uri = line.receiver.answers(f"/{key}", 503)

    events = sent(line, trigger(key, uri, retries=retries), *range(8))
    line.done(key, 8)

    ids = line.receiver.places[f"/{key}"].ids
    assert sorted(ids) == sorted([event.id for event in events] * (retries + 1))


@pytest.mark.covers("KN-098")
def test_without_a_dead_letter_sink_there_is_no_more_traffic(line: Line) -> None:
    uri = line.receiver.answers("/dropped", 500)

    sent(line, trigger("dropped", uri))
    tally = line.done("dropped")

    assert (tally.dead, tally.parked) == (1, 0)
    assert line.quiet(uri)
    assert len(line.receiver.places["/dropped"].got) == 2
    assert [dead.attempts for dead in line.plant.dead.page(None, 10, "dropped")] == [2]


def test_dead_letter_sink_that_fails_is_retried_and_then_left(line: Line) -> None:
    letters = line.receiver.answers("/broken-letters", 503)
    uri = line.receiver.answers("/broken", 400)

    sent(line, trigger("broken", uri, dead_letter=letters, retries=2))
    line.done("broken")

    assert line.quiet(letters)
    assert len(line.receiver.places["/broken-letters"].got) == 3


@pytest.mark.covers("KN-120", "KN-130", "CE-125")
@pytest.mark.parametrize("form", ["seconds", "date"])
def test_retry_after_is_obeyed(line: Line, form: str) -> None:
    key = f"after-{form}"
    asked = "1" if form == "seconds" else formatdate(time.time() + 3.0, usegmt=True)
    uri = line.receiver.answers(f"/{key}", Reply(429, (("Retry-After", asked),)), 202)

    sent(line, trigger(key, uri, delay=0.01))
    line.done(key)

    (gap,) = line.receiver.places[f"/{key}"].gaps()
    assert gap >= 0.95


@pytest.mark.covers("KN-120")
def test_rate_of_requests_drops_when_a_sink_is_overloaded(line: Line) -> None:
    uri = line.receiver.answers("/overloaded", 429)
    other = trigger("overloaded", line.receiver.uri("/unharmed"))

    line.plant.put(msgspec.structs.replace(other, id="unharmed"))
    sent(line, trigger("overloaded", uri, retries=20, delay=0.05, backoff="linear"), *range(100))
    line.done("unharmed", 100)
    place = line.receiver.places["/overloaded"]
    assert eventually(lambda: len(place.got) >= 100)
    refused = len(place.got)

    line.plant.append([an_event("overloaded", number) for number in range(100, 200)])
    line.done("unharmed", 200)

    assert len(place.got) - refused < 50
    line.plant.drop("overloaded")


@pytest.mark.covers("KN-135")
def test_sink_that_was_not_there_gets_its_event_on_a_retry(line: Line) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]

    (event,) = sent(line, trigger("late", f"http://127.0.0.1:{port}/late", retries=9, delay=0.3))
    assert eventually(lambda: line.tally("late").last_error)
    with receiving(port) as receiver:
        tally = line.done("late")
        ids = receiver.places["/late"].ids

    assert ids == [event.id]
    assert (tally.delivered, tally.dead) == (1, 0)
    assert "refused" in (tally.last_error or "")


@pytest.mark.covers("KN-135")
def test_sink_that_takes_too_long_gets_its_event_again(line: Line) -> None:
    slow = Reply(seconds=1.2)
    uri = line.receiver.answers("/hangs", slow, slow, 202)

    sent(line, trigger("hangs", uri, retries=3, timeout=0.8))
    tally = line.done("hangs")

    assert (tally.delivered, tally.dead) == (1, 0)
    assert "in time" in (tally.last_error or "")


@pytest.mark.covers("KN-093", "KN-123")
def test_reply_event_is_added_to_the_broker(line: Line) -> None:
    headers = (*EVENT_B, ("ce-type", "reply-b"))
    uri = line.receiver.answers("/asks", Reply(200, headers, b"hello"))
    line.plant.put(trigger("reply-b", line.receiver.uri("/gets-b")))

    sent(line, msgspec.structs.replace(trigger("asks", uri), replies=True))
    line.done("reply-b")

    (got,) = line.receiver.places["/gets-b"].got
    assert (got.event.id, got.event.source, got.body) == ("b", "/sink", b"hello")


@pytest.mark.covers("KN-094")
@pytest.mark.parametrize(("status", "wanted"), [(200, False), (202, True)])
def test_reply_event_nobody_asked_for_is_dropped(line: Line, status: int, *, wanted: bool) -> None:
    key = f"unasked{status}"
    headers = (*EVENT_B, ("ce-type", f"{key}-b"))
    uri = line.receiver.answers(f"/{key}", Reply(status, headers, b"hello"))
    line.plant.put(trigger(f"{key}-b", line.receiver.uri(f"/{key}-b")))

    sent(line, msgspec.structs.replace(trigger(key, uri), replies=wanted))
    line.done(key)
    sent(line, trigger(f"{key}-end", line.receiver.uri(f"/{key}-end")))
    line.done(f"{key}-end")

    assert line.receiver.places[f"/{key}-b"].got == []


@pytest.mark.covers("KN-118", "KN-119")
def test_events_of_the_same_id_are_all_delivered(line: Line) -> None:
    line.plant.put(trigger("same", line.receiver.uri("/same")))
    entry = an_event("same")
    other = msgspec.structs.replace(
        entry, event=msgspec.structs.replace(entry.event, source="/other")
    )

    line.plant.append([entry, entry, other])
    line.done("same", 3)

    found = [(got.event.id, got.event.source) for got in line.receiver.places["/same"].got]
    assert sorted(found) == sorted([("same 0", "/conformance")] * 2 + [("same 0", "/other")])


@pytest.mark.covers("KN-100")
def test_sink_that_hangs_does_not_hold_back_others(line: Line) -> None:
    hanging = trigger("shared", line.receiver.answers("/hanging", Reply(seconds=4.0)), timeout=9.0)
    quick = msgspec.structs.replace(
        hanging, id="quick", target=trigger("x", line.receiver.uri("/quick")).target
    )
    line.plant.put(quick)
    started = time.monotonic()

    sent(line, hanging, *range(5))
    line.done("quick", 5)

    assert time.monotonic() - started < 3.5
    assert line.tally("shared").delivered == 0
    line.plant.drop("shared")
