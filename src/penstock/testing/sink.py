"""A sink in memory, and what every sink must do."""

from __future__ import annotations

import asyncio

from penstock.ports import Request, Response, Sink
from penstock.testing.expect import expect

_SUCCESS = range(200, 300)


class MemorySink:
    """A `Sink` that remembers what it is sent and gives the answers it was made with.

    The answers are given in turn, the last one again and again; each takes some seconds.
    """

    def __init__(self, *answers: Response, seconds: float = 0.0) -> None:
        self._answers = answers or (Response(202),)
        self._seconds = seconds
        self.requests: list[Request] = []
        self.open = 0
        self.most_open = 0
        """How many requests were open at once at most."""
        self.closed = False

    async def send(self, request: Request) -> Response:
        number = min(len(self.requests), len(self._answers) - 1)
        self.requests.append(request)
        self.open += 1
        self.most_open = max(self.most_open, self.open)
        try:
            await asyncio.sleep(self._seconds)
        finally:
            self.open -= 1
        return self._answers[number]

    async def close(self) -> None:
        self.closed = True


async def check_sink(sink: Sink, accepting: str, unreachable: str) -> None:
    """Raise AssertionError where a sink does not keep to the port; close it in the end.

    One address leads to somebody who accepts everything, the other to nobody.
    """
    one = await sink.send(_request(accepting))
    expect(one.status in _SUCCESS, f"a message that is accepted is a success, not {one.status}")
    expect(one.elapsed >= 0.0, "an answer tells how long it took")
    many = await asyncio.gather(*(sink.send(_request(accepting)) for _ in range(20)))
    expect(all(answer.status in _SUCCESS for answer in many), "messages can be sent together")
    none = await sink.send(_request(unreachable))
    expect(none.status == 0, "no answer has status 0")
    expect(bool(none.error), "no answer says why")
    await sink.close()
    await sink.close()


def _request(uri: str) -> Request:
    headers = [
        ("ce-specversion", "1.0"),
        ("ce-id", "1"),
        ("ce-source", "/check"),
        ("ce-type", "check"),
        ("content-type", "text/plain"),
    ]
    return Request(uri, headers, b"check", timeout=5.0)
