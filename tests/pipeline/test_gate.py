"""Consent and turns, as one process knows them."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from penstock.delivery.handshake import Permissions
from penstock.pipeline.gate import Gate
from penstock.pipeline.homes import Hook
from penstock.ports import Request, Response, Settlement, Tally
from penstock.routing import Handling, Handshake, Route, Target
from penstock.store import KeyVault
from penstock.testing import FakeClock, MemorySink
from tests.pipeline.plant import Plant, plant

SINK = "https://sink.example/"
HOOK = Hook("us.example", "https://us.example/permissions")
ALLOWED = (("webhook-allowed-origin", "*"), ("webhook-allowed-rate", "60"))


def a_route(**handling: object) -> Route:
    return Route("r", "s", Target(SINK, handling=Handling(**handling)))  # type: ignore[arg-type]


REQUIRED = a_route(handshake=Handshake.REQUIRE)


@pytest.fixture
def works(tmp_path: Path) -> Iterator[Plant]:
    with plant(tmp_path) as made:
        made.ledger.begin()
        yield made


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


def permissions(works: Plant) -> Permissions:
    return Permissions(works.store, KeyVault(works.settings.folder / "key"))


def a_gate(works: Plant, clock: FakeClock, hook: Hook = HOOK) -> Gate:
    return Gate(permissions(works), hook, works.ledger, clock)


def asked(gate: Gate, route: Route, *answers: Response) -> Request:
    """Ask for consent, and return the question."""
    sink = MemorySink(*answers)
    asyncio.run(gate.ask(route, sink))
    return sink.requests[-1]


def test_plain_route_may_always_send(works: Plant, clock: FakeClock) -> None:
    assert a_gate(works, clock).is_open(a_route(batch=5))


def test_consent_opens_the_gate_of_every_process(works: Plant, clock: FakeClock) -> None:
    gate, other = a_gate(works, clock), a_gate(works, clock)
    before = other.hold(REQUIRED)
    question = asked(gate, REQUIRED, Response(200, ALLOWED[:1]))
    clock.advance(2.0)

    assert before is not None
    assert before.ask
    assert question.settings["method"] == "OPTIONS"
    assert question.uri == SINK
    assert gate.is_open(REQUIRED)
    assert other.is_open(REQUIRED)


def test_allowed_rate_is_obeyed(works: Plant, clock: FakeClock) -> None:
    gate = a_gate(works, clock)
    asked(gate, REQUIRED, Response(200, ALLOWED))

    turns = [gate.turn(REQUIRED) - clock.now() for _ in range(3)]

    assert not gate.is_open(REQUIRED)
    assert turns == [0.0, 1.0, 2.0]


def test_question_has_a_callback_that_grants_later(works: Plant, clock: FakeClock) -> None:
    gate = a_gate(works, clock)
    headers = dict(asked(gate, REQUIRED, Response(202)).headers)
    held = gate.hold(REQUIRED)

    base, _, token = headers["webhook-request-callback"].rpartition("/")
    permissions(works).grant(token, None, clock.advance(2.0))

    assert base == HOOK.callback
    assert held is not None
    assert gate.hold(REQUIRED) is None


def test_callback_that_is_called_before_the_answer_counts(works: Plant, clock: FakeClock) -> None:
    class Eager(MemorySink):
        async def send(self, request: Request) -> Response:
            token = dict(request.headers)["webhook-request-callback"].rpartition("/")[2]
            permissions(works).grant(token, None, clock.now())
            return await super().send(request)

    gate = a_gate(works, clock)
    asyncio.run(gate.ask(REQUIRED, Eager(Response(202))))

    assert gate.hold(REQUIRED) is None


def test_without_a_public_address_there_is_no_callback(works: Plant, clock: FakeClock) -> None:
    gate = a_gate(works, clock, Hook("us.example"))

    question = asked(gate, REQUIRED, Response(200, ALLOWED))

    assert dict(question.headers) == {"webhook-request-origin": "us.example"}


def test_new_process_counts_from_the_last_settled_request(works: Plant, clock: FakeClock) -> None:
    slow = a_route(rate=0.1)
    done = Tally("r", delivered=1, last_success=clock.now() - 4.0)
    works.ledger.settle(Settlement(1, tallies=[done]))

    assert a_gate(works, clock).turn(slow) == clock.now() + 6.0
