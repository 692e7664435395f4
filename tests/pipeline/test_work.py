"""One task of a micro-batch, in this process: match, send, and what is left to settle."""

from __future__ import annotations

from typing import Any

import msgspec
import pyarrow as pa
import pytest

from penstock.delivery.accounts import DEAD, DELIVERED, PARKED
from penstock.errors import StoreError
from penstock.pipeline import rows
from penstock.pipeline.done import Done
from penstock.pipeline.homes import Desk, Pace
from penstock.pipeline.settle import settle
from penstock.pipeline.sink import DeliveryWriter
from penstock.pipeline.work import retry_share, share
from penstock.ports import SHELVED, Health, Settlement, Span, State
from penstock.routing import Target
from tests.log.entries import an_entry, ids, some
from tests.pipeline.plant import PACE, Plant
from tests.pipeline.receiver import Receiver, Reply
from tests.routing.routes import a_knative_route, a_route

pytestmark = pytest.mark.network


def read(works: Plant, start: int, end: int, version: int) -> pa.RecordBatch:
    batch = rows.placed(works.log.read(Span(0, start, end)), version)
    assert batch is not None
    return batch


def written(works: Plant, batch: pa.RecordBatch, pace: Pace = PACE) -> Done:
    """What the writer of a task has to tell of a batch."""
    work = DeliveryWriter(works.homes, pace, 1).write(iter([batch]))
    assert work.done is not None
    return work.done


def outcomes(done: Done) -> list[tuple[int, str, int, int]]:
    """Offset, route, outcome and attempts of everything."""
    tables = [
        pa.ipc.read_record_batch(pa.py_buffer(b), rows.OUTCOMES) for b in done.settlement.outcomes
    ]
    found = [row for table in tables for row in table.to_pylist()]
    return sorted((row["offset"], row["route"], row["outcome"], row["attempts"]) for row in found)


def delivered(works: Plant, version: int, pace: Pace = PACE) -> Done:
    (end,) = works.log.bounds()[1]
    return written(works, read(works, 0, end, version), pace)


def test_every_event_goes_to_every_route_that_it_matches(works: Plant, receiver: Receiver) -> None:
    version = works.put(
        a_route("all", receiver.uri("/all")),
        a_route("some", receiver.uri("/some"), types=("a",)),
        a_route("none", receiver.uri("/none"), types=("nosuch",)),
        a_route("other", receiver.uri("/other"), stream="brokers/other/other"),
    )
    works.append([an_entry(0, type="a"), an_entry(1, type="b")])

    done = delivered(works, version)

    assert sorted(receiver.places["/all"].ids) == ["0", "1"]
    assert receiver.places["/some"].ids == ["0"]
    assert set(receiver.places) == {"/all", "/some"}
    assert done.span == Span(0, 0, 2)
    assert outcomes(done) == [
        (0, "all", DELIVERED, 1),
        (0, "some", DELIVERED, 1),
        (1, "all", DELIVERED, 1),
    ]
    assert {one.route: one.matched for one in done.settlement.tallies} == {"all": 2, "some": 1}


def test_batch_that_matches_nothing_is_settled_too(works: Plant) -> None:
    works.append(some(range(3)))

    done = delivered(works, 0)

    assert done.span == Span(0, 0, 3)
    assert outcomes(done) == []


def test_route_gets_no_event_from_before_its_start(works: Plant, receiver: Receiver) -> None:
    version = works.put(a_route("r", receiver.uri("/r"), start=(2,)))
    works.append(some(range(4)))

    delivered(works, version)

    assert sorted(receiver.places["/r"].ids) == ["2", "3"]


@pytest.mark.covers("KN-062")
def test_batch_written_twice_is_decided_by_the_same_routing_table(
    works: Plant, receiver: Receiver
) -> None:
    version = works.put(a_route("a", receiver.uri("/a")), a_route("b", receiver.uri("/b")))
    works.append(some(range(2)))
    first = delivered(works, version)

    works.put(a_route("c", receiver.uri("/c")), a_route("b", receiver.uri("/b"), types=("x",)))
    second = delivered(works, version)

    assert outcomes(first) == outcomes(second)
    assert sorted(receiver.places["/b"].ids) == ["0", "0", "1", "1"]
    assert set(receiver.places) == {"/a", "/b"}


def test_nothing_is_sent_for_a_route_that_was_deleted_since_the_batch_was_planned(
    works: Plant, receiver: Receiver
) -> None:
    version = works.put(a_route("a", receiver.uri("/a")), a_route("b", receiver.uri("/b")))
    works.append(some(range(2)))

    works.drop("a")
    done = delivered(works, version)

    assert set(receiver.places) == {"/b"}
    assert {one.route for one in done.settlement.tallies} == {"b"}


def test_deliveries_of_a_route_that_was_held_since_the_batch_was_planned_are_put_away(
    works: Plant, receiver: Receiver
) -> None:
    version = works.put(a_route("a", receiver.uri("/a")), a_route("b", receiver.uri("/b")))
    works.append(some(range(2)))

    works.put(a_route("a", receiver.uri("/a")).hold())
    done = delivered(works, version)

    assert set(receiver.places) == {"/b"}
    assert [(one.route, one.offset, one.due) for one in done.settlement.parked] == [
        ("a", 0, SHELVED),
        ("a", 1, SHELVED),
    ]


def test_held_route_takes_no_event(works: Plant, receiver: Receiver) -> None:
    version = works.put(a_route("a", receiver.uri("/a")).hold())
    works.append(some(range(2)))

    done = delivered(works, version)

    assert (dict(receiver.places), done.settlement.parked) == ({}, [])


def test_batch_that_ran_twice_is_settled_once(works: Plant, receiver: Receiver) -> None:
    version = works.put(a_route("r", receiver.answers("/r", 503)))
    works.append(some(range(3)))
    writer = DeliveryWriter(works.homes, PACE, 1)
    batch = read(works, 0, 3, version)

    for _ in range(2):
        writer.commit([writer.write(iter([batch]))], 0)

    assert works.ledger.position() == (3,)
    assert works.waiting() == 3


def test_failures_are_parked_and_refusals_are_dead(works: Plant, receiver: Receiver) -> None:
    version = works.put(
        a_knative_route("bad", receiver.answers("/bad", 400)),
        a_knative_route("busy", receiver.answers("/busy", 503)),
    )
    works.append([an_entry(0)])

    done = delivered(works, version)

    assert outcomes(done) == [(0, "bad", DEAD, 1), (0, "busy", PARKED, 1)]
    assert [one.route for one in done.settlement.dead] == ["bad"]
    assert [(one.route, one.status) for one in done.settlement.parked] == [("busy", 503)]


@pytest.mark.parametrize(
    "changes",
    [
        {"state": State.DOWN, "hold_until": 2e9},
        {"state": State.SLOW},
        {"state": State.UP, "hold_until": 2e9},
    ],
    ids=["down", "slow", "held back"],
)
def test_destination_that_is_not_simply_up_gets_no_request(
    works: Plant, receiver: Receiver, changes: dict[str, Any]
) -> None:
    uri = receiver.uri("/r")
    version = works.put(a_route("r", uri), a_route("other", receiver.uri("/other")))
    health = msgspec.structs.replace(Health(uri), **changes)
    works.ledger.settle(Settlement(1, health=[health]))
    works.append([an_entry(0)])

    done = delivered(works, version)

    assert set(receiver.places) == {"/other"}
    (parked,) = done.settlement.parked
    assert (parked.attempts, parked.due >= health.hold_until) == (0, True)
    assert done.settlement.health == []


@pytest.mark.covers("KN-100")
def test_sink_that_hangs_holds_nobody_up_for_longer_than_the_budget(
    works: Plant, receiver: Receiver
) -> None:
    version = works.put(
        a_route("slow", receiver.answers("/slow", Reply(seconds=3.0))),
        a_route("quick", receiver.uri("/quick")),
    )
    works.append(some(range(5)))

    done = delivered(works, version, Pace(parallel=1, batch_seconds=0.2))

    assert sorted(receiver.places["/quick"].ids) == ["0", "1", "2", "3", "4"]
    assert {one.route for one in done.settlement.parked} == {"slow"}
    assert all(one.attempts == 0 for one in done.settlement.parked)
    assert [one.state for one in done.settlement.health] == [State.SLOW]


def test_route_of_an_unknown_protocol_stops_nobody_else(works: Plant, receiver: Receiver) -> None:
    odd = msgspec.structs.replace(a_route("odd"), target=Target("pigeon://x", "PIGEON"))
    version = works.put(odd, a_route("r", receiver.uri("/r")))
    works.append([an_entry(0)])

    done = delivered(works, version)

    assert receiver.places["/r"].ids == ["0"]
    assert [one.route for one in done.settlement.parked] == ["odd"]


def test_gone_sink_is_told(works: Plant, receiver: Receiver) -> None:
    version = works.put(a_route("r", receiver.answers("/r", 410)))
    works.append([an_entry(0)])

    assert list(delivered(works, version).stopped) == ["r"]


def test_reply_is_told(works: Plant, receiver: Receiver) -> None:
    headers = {"ce-specversion": "1.0", "ce-id": "x", "ce-source": "/x", "ce-type": "x"}
    uri = receiver.answers("/r", Reply(200, tuple(headers.items()), b"hello"))
    version = works.put(msgspec.structs.replace(a_knative_route("r", uri), replies=True))
    works.append([an_entry(0)])

    (entry,) = delivered(works, version).replies

    assert (entry.event.id, entry.event.data, entry.hops) == ("x", b"hello", 1)


def test_no_more_requests_are_open_than_the_share_of_a_task(
    works: Plant, receiver: Receiver
) -> None:
    target = Target(receiver.answers("/r", Reply(seconds=0.01)), in_flight=8)
    route = msgspec.structs.replace(a_route(), target=target)
    version = works.put(route)
    works.append(some(range(40)))

    delivered(works, version, Pace(parallel=1, batch_seconds=5.0))

    assert receiver.places["/r"].most_open <= share(route, PACE) == 6


@pytest.mark.parametrize(
    ("in_flight", "parallel", "batch", "retry"),
    [(32, 1, 24, 8), (32, 2, 12, 8), (4, 1, 3, 1), (1, 1, 1, 1), (1, 4, 1, 1)],
)
def test_requests_are_shared_between_batches_and_retries(
    in_flight: int, parallel: int, batch: int, retry: int
) -> None:
    route = msgspec.structs.replace(a_route(), target=Target("http://x/", in_flight=in_flight))

    assert share(route, Pace(parallel=parallel)) == batch
    assert retry_share(route) == retry


def test_task_without_events_has_nothing_to_tell(works: Plant) -> None:
    writer = DeliveryWriter(works.homes, PACE, 1)

    work = writer.write(iter([]))
    writer.commit([work, None], 0)

    assert work.done is None
    assert works.ledger.position() is None


def test_batch_that_arrives_in_pieces_is_one(works: Plant, receiver: Receiver) -> None:
    version = works.put(a_route("r", receiver.uri("/r")))
    works.append(some(range(6)))
    batch = read(works, 0, 6, version)

    work = DeliveryWriter(works.homes, PACE, 1).write(iter([batch.slice(0, 2), batch.slice(2)]))

    assert work.done is not None
    assert work.done.span == Span(0, 0, 6)
    assert len(receiver.places["/r"].got) == 6


REPLY = (
    ("ce-specversion", "1.0"),
    ("ce-id", "77"),
    ("ce-source", "/sink"),
    ("ce-type", "answer"),
)


@pytest.mark.covers("KN-070")
def test_delivery_is_made_again_when_its_reply_could_not_be_stored(
    works: Plant, receiver: Receiver
) -> None:
    uri = receiver.answers("/asks", Reply(200, REPLY))
    version = works.put(a_route("asks", uri, types=("order.created",), replies=True))
    end = works.append([an_entry(1)])
    broken = Desk(works.homes)
    broken.log.close()

    with pytest.raises(StoreError):
        settle(broken, [delivered(works, version)], 0.1)
    unsettled = works.ledger.position()
    settle(Desk(works.homes), [written(works, read(works, 0, end, version))], 0.1)

    assert unsettled is None
    assert receiver.places["/asks"].ids == ["1", "1"]
    assert ids(works.log) == [1, 77]


def test_request_cut_off_while_its_reply_is_sent_on_is_made_again(
    works: Plant, receiver: Receiver
) -> None:
    uri = receiver.answers("/asks", Reply(200, REPLY))
    slow = receiver.answers("/replies", Reply(seconds=2.0))
    version = works.put(msgspec.structs.replace(a_knative_route("asks", uri), reply_to=slow))
    works.append([an_entry(1)])

    done = delivered(works, version, Pace(parallel=1, batch_seconds=0.3))

    (parked,) = done.settlement.parked
    assert (parked.destination, parked.attempts) == (uri, 0)
    assert len(receiver.places["/replies"].got) == 1
    assert outcomes(done) == [(0, "asks", PARKED, 0)]
