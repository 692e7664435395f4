"""Parked deliveries in this process: claimed, sent and settled by one epoch."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable
from contextlib import closing
from typing import Any

import msgspec
import pytest

from penstock import runtime
from penstock.formats import arrow
from penstock.pipeline.epoch import Epoch
from penstock.pipeline.homes import Pace
from penstock.pipeline.lane import Lane
from penstock.pipeline.worker import worker
from penstock.ports import Health, Leg, Parked, Settlement, State
from penstock.routing import Policy, Route, Target
from penstock.store import SqlCatchUps, SqlWaitingRoom
from tests.log.entries import an_entry, ids, some
from tests.pipeline.plant import Plant
from tests.pipeline.receiver import Receiver, Reply, eventually, receiving
from tests.routing.routes import a_knative_route, a_route

pytestmark = pytest.mark.network

PACE = Pace(parallel=1, epoch_seconds=0.4)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def park(works: Plant, route: Route, *offsets: int, **changes: Any) -> None:  # noqa: ANN401
    """Let deliveries of a route wait; their events are appended to the log."""
    (head,) = works.log.bounds()[1]
    works.append(some(range(head, max(offsets) + 1)))
    now = time.time()
    plain = Parked(route.id, route.target.uri, 0, 0, now, now + 60.0, 1, cause="it failed")
    waiting = [msgspec.structs.replace(plain, offset=offset, **changes) for offset in offsets]
    works.ledger.settle(Settlement(1, parked=waiting))


def down(works: Plant, uri: str, **changes: Any) -> None:  # noqa: ANN401
    health = msgspec.structs.replace(Health(uri, State.DOWN, 9), **changes)
    works.ledger.settle(Settlement(1, health=[health]))


def run(works: Plant, pace: Pace = PACE) -> None:
    """One epoch; where nothing can be sent it is over at once."""
    here = worker(works.homes)
    here.run(Epoch(here, pace, 1, 0).run())


def after_a_run(works: Plant, count: Callable[[], int]) -> int:
    run(works)
    return count()


def test_due_deliveries_are_sent_and_done_with(works: Plant, receiver: Receiver) -> None:
    route = a_route("r", receiver.uri("/r"))
    works.put(route)
    park(works, route, 0, 1, 2)

    run(works)

    assert sorted(receiver.places["/r"].ids) == ["0", "1", "2"]
    assert works.ledger.tallies()["r"].delivered == 3
    assert works.ledger.tallies()["r"].retried == 3
    assert works.destinations() == set()


def test_delivery_that_is_not_due_is_left_alone(works: Plant, receiver: Receiver) -> None:
    route = a_route("r", receiver.uri("/r"))
    works.put(route)
    park(works, route, 0, due=time.time() + 60.0)

    run(works)

    assert receiver.places["/r"].got == []
    assert works.destinations() == {route.target.uri}


def test_event_that_left_the_log_is_sent_from_what_was_kept(
    works: Plant, receiver: Receiver
) -> None:
    route = a_route("r", receiver.uri("/r"))
    works.put(route)
    park(works, route, 0, entry=arrow.freeze(an_entry(42)))
    works.log.trim((1,))

    run(works)

    assert receiver.places["/r"].ids == ["42"]


def test_event_that_cannot_be_read_keeps_no_other_back(works: Plant, receiver: Receiver) -> None:
    route = a_route("r", receiver.uri("/r"))
    works.put(route)
    park(works, route, 0)
    park(works, route, 1)
    works.log.trim((1,))

    run(works)

    assert receiver.places["/r"].ids == ["1"]
    assert works.destinations() == {route.target.uri}


@pytest.mark.covers("KN-088", "KN-106")
def test_failing_delivery_is_tried_as_often_and_as_late_as_its_policy_says(
    works: Plant, receiver: Receiver
) -> None:
    uri = receiver.answers("/r", 503)
    route = a_knative_route("r", uri, retries=4, delay=0.1, backoff="linear")
    works.put(route)
    park(works, route, 0)

    run(works, Pace(parallel=1, epoch_seconds=2.0))

    (dead,) = works.dead.page(None, 10)
    assert (dead.attempts, dead.status, dead.cause) == (5, 503, "the sink answered 503")
    assert arrow.thaw(dead.entry).event.id == "0"
    assert len(receiver.places["/r"].got) == 4
    assert all(gap >= 0.1 for gap in receiver.places["/r"].gaps())


@pytest.mark.covers("KN-096", "KN-099")
def test_dead_letter_is_sent_to_the_sink_for_them(works: Plant, receiver: Receiver) -> None:
    letters = receiver.answers("/letters", 500, 202)
    route = a_knative_route("r", receiver.answers("/r", 500), dead_letter=letters, delay=0.05)
    works.put(route)
    park(works, route, 0)

    run(works, Pace(parallel=1, epoch_seconds=1.0))

    assert receiver.places["/letters"].ids == ["0", "0"]
    assert "prefer" not in receiver.places["/letters"].got[0].headers
    assert works.destinations() == set()
    assert len(works.dead.page(None, 10)) == 1


def test_dead_letter_that_nobody_takes_stays_in_the_list(works: Plant, receiver: Receiver) -> None:
    letters = receiver.answers("/letters", 400)
    route = a_knative_route("r", receiver.answers("/r", 400), dead_letter=letters)
    works.put(route)
    park(works, route, 0)

    run(works)

    assert len(receiver.places["/letters"].got) == 1
    assert len(works.dead.page(None, 10)) == 1
    assert works.destinations() == set()


def test_deliveries_of_a_deleted_route_are_dropped(works: Plant, receiver: Receiver) -> None:
    route = a_route("r", receiver.uri("/r"))
    park(works, route, 0, 1)

    run(works)

    assert receiver.places["/r"].got == []
    assert works.destinations() == set()
    assert works.dead.page(None, 10) == []


def test_deliveries_of_a_held_route_wait_with_the_time_they_have_left(
    works: Plant, receiver: Receiver
) -> None:
    route = a_route("r", receiver.uri("/r")).hold()
    works.put(route)
    park(works, route, 0, 1, deadline=time.time() + 500.0)

    run(works)

    assert receiver.places["/r"].got == []
    with closing(SqlCatchUps(runtime.ledger_url(works.settings), 1)) as catchups:
        assert catchups.shelved() == ["r"]
        assert catchups.release("r", 1_000.0, 10) == 2
    with closing(SqlWaitingRoom(runtime.ledger_url(works.settings), 1)) as room:
        found = room.claim(route.target.uri, 1_000.0, 10, 5.0)
    assert all(1_490.0 < one.deadline <= 1_500.0 for one in found)


def test_deliveries_of_a_held_route_do_not_die_while_its_sink_is_down(works: Plant) -> None:
    uri = f"http://127.0.0.1:{free_port()}/r"
    route = a_route("r", uri).hold()
    works.put(route)
    park(works, route, 0, 1, deadline=time.time() - 1.0)
    down(works, uri)

    run(works)

    assert works.dead.page(None, 10) == []
    assert works.ledger.needed() == (0,)


def blind(works: Plant, route: Route) -> Epoch:
    """An epoch that has read all routes, and does not look for others by itself."""
    epoch = Epoch(worker(works.homes), PACE, 1, 0)
    epoch._refresh()  # noqa: SLF001
    epoch._refresh = lambda: None  # type: ignore[method-assign]  # noqa: SLF001
    epoch._lanes[route.target.uri] = Lane(route.target.uri)  # noqa: SLF001
    return epoch


def test_route_that_is_deleted_during_an_epoch_gets_nothing_more(
    works: Plant, receiver: Receiver
) -> None:
    route = a_route("r", receiver.uri("/r"))
    works.put(route)
    park(works, route, 0, 1)
    epoch = blind(works, route)

    works.drop("r")
    worker(works.homes).run(epoch.run())

    assert receiver.places["/r"].got == []
    assert works.destinations() == set()


def test_route_that_moves_during_an_epoch_gets_nothing_at_its_old_address(
    works: Plant, receiver: Receiver
) -> None:
    route = a_route("r", receiver.uri("/old"))
    works.put(route)
    park(works, route, 0, 1)
    epoch = blind(works, route)

    works.put(a_route("r", receiver.uri("/new")))
    worker(works.homes).run(epoch.run())

    assert receiver.places["/old"].got == []
    assert works.destinations() == {receiver.uri("/new")}


@pytest.mark.covers("CE-124")
def test_deliveries_of_a_stopped_route_are_kept_as_dead_letters(
    works: Plant, receiver: Receiver
) -> None:
    route = a_route("r", receiver.uri("/r"), stopped=True)
    works.put(route)
    park(works, route, 0, 1)

    run(works)

    assert receiver.places["/r"].got == []
    assert {dead.cause for dead in works.dead.page(None, 10)} == {
        "the sink is gone for good; last: it failed"
    }
    assert works.destinations() == set()


def test_gone_sink_stops_its_route_and_still_has_a_dead_letter_sink(
    works: Plant, receiver: Receiver
) -> None:
    policy = Policy(dead_letter=receiver.uri("/letters"))
    route = a_route("r", receiver.answers("/r", 410), policy=policy)
    works.put(route)
    park(works, route, 0)

    run(works, Pace(parallel=1, epoch_seconds=1.0))

    stopped = works.route("r")
    assert stopped is not None
    assert stopped.stopped
    assert receiver.places["/letters"].ids == ["0"]


def test_delivery_goes_where_its_route_leads_now(works: Plant, receiver: Receiver) -> None:
    old = a_route("r", "http://127.0.0.1:1/old")
    works.put(old)
    park(works, old, *range(4))
    down(works, old.target.uri)
    works.put(a_route("r", receiver.answers("/new", Reply(seconds=0.1))))

    run(works, Pace(parallel=1, epoch_seconds=1.0))

    place = receiver.places["/new"]
    assert sorted(place.ids) == ["0", "1", "2", "3"]
    assert place.most_open > 1, "the new address is not down"
    assert works.destinations() == set()


def test_no_more_requests_are_open_than_a_destination_allows(
    works: Plant, receiver: Receiver
) -> None:
    target = Target(receiver.answers("/r", Reply(seconds=0.1)), in_flight=3)
    route = msgspec.structs.replace(a_route(), target=target)
    works.put(route)
    park(works, route, *range(10))
    slow = Health(target.uri, State.SLOW, since=time.time() - 60.0)
    works.ledger.settle(Settlement(1, health=[slow]))

    run(works, Pace(parallel=1, epoch_seconds=1.0, batch_seconds=0.05))

    assert receiver.places["/r"].most_open == 3
    assert len(receiver.places["/r"].got) == 10


def test_destination_that_is_down_is_probed_with_one_request(works: Plant) -> None:
    port = free_port()
    uri = f"http://127.0.0.1:{port}/r"
    route = a_route("r", uri)
    works.put(route)
    park(works, route, *range(20))
    down(works, uri)

    run(works)

    assert works.ledger.health()[uri].state is State.DOWN
    assert works.ledger.health()[uri].failures < 15
    assert len(works.destinations()) == 1


@pytest.mark.covers("KN-135")
def test_everything_arrives_when_a_destination_comes_back(works: Plant) -> None:
    port = free_port()
    uri = f"http://127.0.0.1:{port}/r"
    route = a_route("r", uri)
    works.put(route)
    park(works, route, *range(20), due=time.time() + 300.0)
    park(works, route, 20, attempts=0)
    down(works, uri)
    run(works)

    with receiving(port) as receiver:
        place = receiver.places["/r"]
        assert eventually(lambda: after_a_run(works, lambda: len(place.got)) == 21, 10.0)

    assert sorted(map(int, place.ids)) == list(range(21))
    assert works.ledger.health()[uri].state is State.UP


def test_deliveries_whose_time_passed_while_it_was_down_are_dead_with_their_cause(
    works: Plant,
) -> None:
    uri = f"http://127.0.0.1:{free_port()}/r"
    route = a_route("r", uri)
    works.put(route)
    park(works, route, 0, 1, deadline=time.time() - 1.0)
    park(works, route, 2)
    down(works, uri)

    run(works)

    dead = works.dead.page(None, 10)
    assert sorted(arrow.thaw(one.entry).event.id for one in dead) == ["0", "1"]
    assert {(one.cause, one.attempts) for one in dead} == {
        ("its time has passed; last: it failed", 1)
    }
    assert works.ledger.needed() == (2,)


def test_held_destination_gets_nothing_before_its_time(works: Plant, receiver: Receiver) -> None:
    route = a_route("r", receiver.uri("/r"))
    works.put(route)
    park(works, route, 0)
    works.ledger.settle(
        Settlement(1, health=[Health(route.target.uri, hold_until=time.time() + 60)])
    )

    run(works)

    assert receiver.places["/r"].got == []


def test_reply_to_a_retry_goes_back_into_the_stream(works: Plant, receiver: Receiver) -> None:
    headers = {"ce-specversion": "1.0", "ce-id": "99", "ce-source": "/x", "ce-type": "x"}
    uri = receiver.answers("/r", Reply(200, tuple(headers.items()), b"hello"))
    route = msgspec.structs.replace(a_knative_route("r", uri), replies=True)
    works.put(route)
    park(works, route, 0)

    run(works)

    assert ids(works.log) == [0, 99]


def test_letter_of_a_route_that_has_no_sink_for_them_any_more_is_dropped(
    works: Plant, receiver: Receiver
) -> None:
    route = a_route("r", receiver.uri("/r"))
    works.put(route)
    park(works, route, 0, leg=Leg.DEAD_LETTER, destination=receiver.uri("/letters"))

    run(works)

    assert set(receiver.places) <= {"/r"}
    assert works.destinations() == set()


def test_slow_sink_is_not_cut_off_at_the_end_of_an_epoch(works: Plant, receiver: Receiver) -> None:
    route = a_route("r", receiver.answers("/r", Reply(seconds=0.8)))
    works.put(route)
    park(works, route, 0)

    run(works, Pace(parallel=1, epoch_seconds=0.1))

    assert works.ledger.tallies()["r"].delivered == 1
    assert len(receiver.places["/r"].got) == 1


def test_other_shards_leave_a_destination_alone(works: Plant, receiver: Receiver) -> None:
    routes = [a_route(f"r{number}", receiver.uri(f"/{number}")) for number in range(8)]
    works.put(*routes)
    for route in routes:
        park(works, route, 0)
    pace, here = Pace(parallel=1, shards=2, epoch_seconds=0.3), worker(works.homes)

    here.run(Epoch(here, pace, 1, 0).run())
    first = set(receiver.places)
    here.run(Epoch(here, pace, 1, 1).run())

    assert 0 < len(first) < 8
    assert all(len(place.got) == 1 for place in receiver.places.values())
    assert len(receiver.places) == 8
