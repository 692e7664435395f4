from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping

from penstock.delivery.dispatch import Answers, Shipment, dispatch
from penstock.ports import Request, Response, Sink
from penstock.testing import MemorySink

BUDGET = 0.05


def requests(count: int, uri: str = "http://a/") -> list[Request]:
    return [Request(uri, (), str(number).encode()) for number in range(count)]


def shipment(sink: str, count: int, in_flight: int = 10) -> Shipment:
    """A shipment to the destination, over the protocol, of the sink's name."""
    return Shipment(sink, sink, in_flight, requests(count))


def dispatched(
    shipments: list[Shipment], sinks: Mapping[str, Sink], budget: float = BUDGET
) -> Mapping[str, Answers]:
    chosen: Callable[[str], Sink] = sinks.__getitem__
    return asyncio.run(dispatch(shipments, chosen, budget))


def statuses(answers: Answers) -> list[int | None]:
    return [None if response is None else response.status for response in answers.responses]


class Echo:
    """A sink that answers with the body it was sent, those sent first the latest."""

    async def send(self, request: Request) -> Response:
        await asyncio.sleep(0.01 / (int(request.body) + 1))
        return Response(200, body=request.body)

    async def close(self) -> None: ...


class Broken:
    """A sink that does what no sink should."""

    async def send(self, request: Request) -> Response:
        if request.body == b"1":
            raise ValueError("a surprise")
        return Response(202)

    async def close(self) -> None: ...


def test_nothing_to_send_has_no_answers() -> None:
    assert dispatched([], {}) == {}


def test_answers_stand_in_the_order_of_their_requests() -> None:
    answers = dispatched([shipment("a", 5)], {"a": Echo()}, budget=5.0)["a"]

    bodies = [response.body for response in answers.responses if response is not None]
    assert bodies == [b"0", b"1", b"2", b"3", b"4"]


def test_no_more_requests_are_open_than_allowed() -> None:
    sink = MemorySink(seconds=0.001)

    answers = dispatched([shipment("a", 30, in_flight=3)], {"a": sink}, budget=5.0)["a"]

    assert sink.most_open == 3
    assert statuses(answers) == [202] * 30


def test_every_request_is_sent_once() -> None:
    sink = MemorySink(Response(503))

    dispatched([shipment("a", 20, in_flight=4)], {"a": sink}, budget=5.0)

    assert sorted(int(request.body) for request in sink.requests) == list(range(20))


def test_slow_destination_is_left_when_the_budget_is_spent() -> None:
    slow, quick = MemorySink(seconds=60.0), MemorySink()
    started = time.monotonic()

    answers = dispatched(
        [shipment("slow", 5, in_flight=2), shipment("quick", 5)], {"slow": slow, "quick": quick}
    )

    assert time.monotonic() - started < 5.0
    assert statuses(answers["slow"]) == [None] * 5
    assert answers["slow"].started == len(slow.requests) == 2
    assert statuses(answers["quick"]) == [202] * 5
    assert slow.open == 0


def test_brisk_destination_may_go_on_after_the_budget() -> None:
    sink = MemorySink(seconds=0.0005)

    answers = dispatched([shipment("a", 400, in_flight=8)], {"a": sink}, budget=0.01)["a"]

    assert statuses(answers) == [202] * 400


def test_sink_that_breaks_is_one_that_did_not_answer() -> None:
    answers = dispatched([shipment("a", 3)], {"a": Broken()}, budget=5.0)["a"]

    assert statuses(answers) == [202, 0, 202]
    assert "a surprise" in str(answers.responses[1])
