from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping

from penstock.delivery.dispatch import Answers, Shipment, dispatch
from penstock.ports import Request, Response, Sink
from penstock.testing import MemorySink

BUDGET = 0.05
REPLY = (
    ("ce-specversion", "1.0"),
    ("ce-id", "b"),
    ("ce-source", "/sink"),
    ("ce-type", "answer"),
)


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


class Replying:
    """A sink whose first answer to a request holds an event; what is sent on takes long."""

    def __init__(self, seconds: float = 0.0, answer: Response | None = None) -> None:
        self.requests: list[Request] = []
        self._seconds = seconds
        self._answer = answer

    async def send(self, request: Request) -> Response:
        self.requests.append(request)
        if request.uri == "http://a/":
            return Response(200, REPLY)
        await asyncio.sleep(self._seconds)
        if self._answer is None:
            raise ValueError("a surprise")
        return self._answer

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


def asking(count: int = 1) -> Shipment:
    wanted = [Request("http://a/", (), b"", wants_body=True, reply_to="http://b/")] * count
    return Shipment("a", "a", 10, wanted)


def test_reply_is_sent_on_within_the_same_attempt() -> None:
    sink = Replying(answer=Response(503))

    (response,) = dispatched([asking()], {"a": sink}, budget=5.0)["a"].responses

    assert [request.uri for request in sink.requests] == ["http://a/", "http://b/"]
    assert response is not None
    assert response.onward is not None
    assert (response.onward.event.id, response.onward.response.status) == ("b", 503)


def test_attempt_that_is_cut_off_while_its_reply_is_sent_on_has_no_answer() -> None:
    sink = Replying(seconds=60.0)

    answers = dispatched([asking(3)], {"a": sink})["a"]

    assert len(sink.requests) == 6
    assert statuses(answers) == [None] * 3


def test_sink_that_breaks_on_a_reply_is_one_that_did_not_take_it() -> None:
    (response,) = dispatched([asking()], {"a": Replying()}, budget=5.0)["a"].responses

    assert response is not None
    assert response.status == 200
    assert response.onward is not None
    assert response.onward.response.status == 0


def test_reply_that_nobody_wants_is_not_sent_on() -> None:
    sink = Replying()
    shipped = Shipment("a", "a", 1, [Request("http://a/", (), b"")])

    (response,) = dispatched([shipped], {"a": sink}, budget=5.0)["a"].responses

    assert len(sink.requests) == 1
    assert response is not None
    assert response.onward is None


def test_destination_that_has_its_share_of_many_may_go_on() -> None:
    sinks = {str(number): MemorySink(seconds=0.002) for number in range(40)}
    shipped = [shipment(name, 60, in_flight=1) for name in sinks]

    answers = dispatched(shipped, dict(sinks), budget=0.05)

    assert all(statuses(one) == [202] * 60 for one in answers.values())


def test_destination_that_hangs_is_left_however_many_others_are_served() -> None:
    sinks = {str(number): MemorySink(seconds=0.002) for number in range(40)}
    shipped = [shipment(name, 60, in_flight=1) for name in sinks]
    hangs = MemorySink(seconds=60.0)

    answers = dispatched([*shipped, shipment("hangs", 2)], {**sinks, "hangs": hangs}, budget=0.05)

    assert statuses(answers["hangs"]) == [None, None]
