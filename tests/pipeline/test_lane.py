from __future__ import annotations

import msgspec
import pytest

from penstock.pipeline.lane import Lane
from penstock.ports import Health, State
from penstock.routing import Target
from tests.routing.routes import URI, a_route

ROUTE = msgspec.structs.replace(a_route(), target=Target(URI, in_flight=16))
NOW = 1_000.0


@pytest.mark.parametrize(
    ("health", "taken", "room"),
    [
        (Health(URI), 0, 4),
        (Health(URI), 3, 1),
        (Health(URI, State.SLOW, since=NOW - 60.0), 0, 16),
        (Health(URI, State.SLOW, since=NOW - 60.0), 16, 0),
        (Health(URI, State.SLOW, since=NOW - 1.0), 0, 4),
        (Health(URI, State.DOWN, since=NOW - 60.0), 0, 1),
        (Health(URI, State.DOWN, since=NOW - 60.0), 1, 0),
        (Health(URI, State.DOWN, hold_until=NOW + 1.0), 0, 0),
        (Health(URI, hold_until=NOW + 1.0), 0, 0),
        (Health(URI, hold_until=NOW), 0, 4),
    ],
)
def test_room_depends_on_health_and_on_what_is_open(health: Health, taken: int, room: int) -> None:
    lane = Lane(URI)
    lane.health, lane.open = health, taken

    assert lane.room(ROUTE, NOW) == room


def test_requests_that_a_batch_left_behind_are_given_the_time_they_need() -> None:
    lane = Lane(URI)
    lane.health = Health(URI, State.SLOW, since=NOW - 20.0)

    unknown = lane.room(ROUTE, NOW)
    lane.answered(10.0)
    known = lane.room(ROUTE, NOW)

    assert (unknown, known) == (4, 16)


def test_slow_answers_are_forgotten_slowly() -> None:
    lane = Lane(URI)

    for seconds in (10.0, 0.1, 0.1):
        lane.answered(seconds)

    assert lane.answer_seconds == pytest.approx(8.1)
