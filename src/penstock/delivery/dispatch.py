"""Send many requests at once, each destination at its own pace, none for longer than the budget."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence

import msgspec

from penstock.delivery import onward
from penstock.ports import Request, Response, Sink

_BRISK = 500.0
"""Answers per second of a destination that only its many requests keep busy, not its slowness."""
_MOST_OPEN = 128
"""Requests of one task that are open at once: more of them only wait for each other."""


class Shipment(msgspec.Struct, frozen=True):
    """Requests for one destination, and how many it may have to answer at once."""

    destination: str
    protocol: str
    in_flight: int
    requests: Sequence[Request]
    sender: Sink | None = None
    """Who sends them, where it is not the sink of the protocol."""


class Answers(msgspec.Struct):
    """The answers of one destination in the order of the requests; None where none came yet."""

    responses: list[Response | None]
    started: int = 0
    finished: int = 0


async def dispatch(
    shipments: Sequence[Shipment], sink: Callable[[str], Sink], budget: float
) -> Mapping[str, Answers]:
    """Return the answers of every destination that came within the budget.

    A brisk destination with many requests may go on; what a slow one did not answer is left open.
    """
    answers = {
        shipment.destination: Answers([None] * len(shipment.requests)) for shipment in shipments
    }
    most = max(_MOST_OPEN // max(len(shipments), 1), 1)
    lanes: dict[asyncio.Future[None], str] = {
        asyncio.ensure_future(
            _lane(
                msgspec.structs.replace(shipment, in_flight=min(shipment.in_flight, most)),
                shipment.sender or sink(shipment.protocol),
                answers[shipment.destination],
            )
        ): shipment.destination
        for shipment in shipments
    }
    pending: set[asyncio.Future[None]] = set(lanes)
    elapsed = 0.0
    while pending:
        _, pending = await asyncio.wait(pending, timeout=budget)
        elapsed += budget
        # Where many are served at once, each can only have its share of what we can send.
        brisk = _BRISK * elapsed / max(len(pending), 1)
        slow = {lane for lane in pending if answers[lanes[lane]].finished < brisk}
        await _cancel(slow)
        pending -= slow
    return answers


async def _lane(shipment: Shipment, sink: Sink, answers: Answers) -> None:
    queue = iter(enumerate(shipment.requests))
    senders = min(shipment.in_flight, len(shipment.requests))
    if senders == 1:
        await _sender(queue, sink, answers)
    else:
        await asyncio.gather(*(_sender(queue, sink, answers) for _ in range(senders)))


async def _sender(queue: Iterator[tuple[int, Request]], sink: Sink, answers: Answers) -> None:
    for number, request in queue:
        answers.started += 1
        answers.responses[number] = await attempt(sink, request)
        answers.finished += 1


async def attempt(sink: Sink, request: Request) -> Response:
    """Return the answer to one request; a sink that breaks is a sink that did not answer."""
    try:
        response = await sink.send(request)
        event = onward.reply(response, request.uri) if request.reply_to else None
        following = None if event is None else onward.following(request, event)
    except Exception as exc:  # noqa: BLE001 - one request must not end the batch of all others
        return Response(0, error=f"the request could not be sent: {exc}")
    if event is None or following is None:
        return response
    # In the same attempt: only when the reply has arrived, all is delivered (KN-095).
    return onward.joined(response, event, await attempt(sink, following))


async def _cancel(lanes: set[asyncio.Future[None]]) -> None:
    for lane in lanes:
        lane.cancel()
    if lanes:
        await asyncio.wait(lanes)
