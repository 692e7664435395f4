from __future__ import annotations

from typing import Any

import msgspec
import pytest

from penstock.ports import SHELVED, Caught, Health, Position, Standing, State, Steps, Tally
from penstock.routing import Gap, Route
from penstock.subscriptions import starting
from penstock.subscriptions.status import Backlog, CatchUp, LastError, Status, status
from tests.routing.routes import URI, a_route

ENDS: tuple[Position, Position] = (10,), (100,)


def told(route: Route, **known: Any) -> Status:  # noqa: ANN401
    plain = Standing(Tally("r"), Health(URI), settled=(100,))
    return status(route, "now", msgspec.structs.replace(plain, **known), ENDS)


def test_running_subscription_waits_for_what_the_pipeline_has_not_read() -> None:
    found = told(a_route(start=(20,)), settled=(93,), tally=Tally("r", 9, 4, parked=5))

    assert (found.state, found.catchup) == ("running", None)
    assert found.backlog == Backlog(12, 7, 5)
    assert found.position == starting.printed((100,))


def test_events_from_before_the_start_are_no_backlog() -> None:
    assert told(a_route(start=(98,)), settled=(50,)).backlog.unread == 2


def test_paused_subscription_waits_for_all_that_came_since() -> None:
    steps = Steps(((7, (60,)),), (100,))

    found = told(a_route(held=True, gaps=(Gap(5),)), steps=steps, next_retry=50.0)

    assert found.state == "paused"
    assert found.backlog.unread == 40
    assert found.next_retry is None


def test_subscription_that_catches_up_tells_how_far_it_is() -> None:
    route = a_route(gaps=(Gap(3, 3, (10,)), Gap(5, 6)))
    steps = Steps(((3, (50,)), (5, (70,)), (8, (90,))), (100,))
    caught = (Caught("r", 3, (30,), 15, 5),)

    found = told(route, steps=steps, caught=caught)

    assert found.state == "catching-up"
    assert found.catchup == CatchUp(15, 20 + 20, 5)


def test_subscription_that_has_caught_up_runs() -> None:
    steps = Steps((), (100,))
    caught = (Caught("r", 3, (100,), 90),)

    found = told(a_route(gaps=(Gap(3, 3, (10,)),)), steps=steps, caught=caught)

    assert (found.state, found.backlog.events) == ("running", 0)


def test_stopped_subscription_tells_why() -> None:
    tally = Tally("r", last_error="the sink answered 410", last_error_at=5.0, last_status=410)

    found = told(a_route(stopped=True), tally=tally)

    assert (found.state, found.stopped) == ("stopped", True)
    assert found.reason == "the sink is gone for good: the sink answered 410"
    assert found.last_error == LastError(5.0, 410, "the sink answered 410")


@pytest.mark.parametrize(
    ("due", "shown"), [(None, None), (7.0, 7.0), (SHELVED, None), (SHELVED + 5.0, None)]
)
def test_next_retry_is_told_where_there_is_one(due: float | None, shown: float | None) -> None:
    assert told(a_route(), next_retry=due).next_retry == shown


def test_start_tells_whether_the_log_had_all_that_was_asked_for() -> None:
    found = told(a_route(start=(10,), clipped=True)).start

    assert (found.position, found.complete) == (starting.printed((10,)), False)


def test_health_of_the_sink_is_shown() -> None:
    health = Health(URI, State.DOWN, 4)

    assert told(a_route(), health=health).sink == health


def test_nothing_is_known_before_the_pipeline_ran() -> None:
    found = told(a_route(start=(40,)), settled=None)

    assert (found.state, found.backlog.unread, found.last_error) == ("running", 60, None)
