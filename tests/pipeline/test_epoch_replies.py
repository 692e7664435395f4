"""Replies in the retry query: sent on with the delivery, given up, and revived by hand."""

from __future__ import annotations

import time

import msgspec
import pytest

from penstock.routing import Route
from tests.pipeline.plant import Plant
from tests.pipeline.receiver import Receiver, Reply
from tests.pipeline.test_epoch import park, run
from tests.routing.routes import a_knative_route

pytestmark = pytest.mark.network

REPLY = (
    ("ce-specversion", "1.0"),
    ("ce-id", "b"),
    ("ce-source", "/sink"),
    ("ce-type", "answer"),
)


def asking(works: Plant, receiver: Receiver, *answers: int) -> Route:
    """A route whose sink replies; its replies are answered so."""
    plain = a_knative_route("r", receiver.answers("/asks", Reply(200, REPLY)), retries=2)
    route = msgspec.structs.replace(plain, reply_to=receiver.answers("/replies", *answers))
    works.put(route)
    park(works, route, 0)
    return route


@pytest.mark.covers("KN-095")
def test_retried_delivery_sends_its_reply_on_again(works: Plant, receiver: Receiver) -> None:
    asking(works, receiver, 503, 202)

    run(works)

    assert receiver.places["/asks"].ids == ["0", "0"]
    assert receiver.places["/replies"].ids == ["b", "b"]
    assert works.ledger.tallies()["r"].delivered == 1
    assert works.destinations() == set()


def test_reply_that_was_given_up_is_revived_as_a_reply(works: Plant, receiver: Receiver) -> None:
    asking(works, receiver, 400, 503, 202)
    run(works)
    (dead,) = works.dead.page(None, 10)
    waiting = works.waiting()

    works.dead.retry([dead.id], time.time(), time.time() + 60.0)
    run(works)

    assert receiver.places["/asks"].ids == ["0"]
    assert receiver.places["/replies"].ids == ["b"] * 3
    assert works.dead.page(None, 10) == []
    assert works.waiting() == waiting
