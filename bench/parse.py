"""How fast events are read and written, next to the official CloudEvents SDK in the same run.

Both start from what a server holds, raw header pairs and a body, and end with an event; ours is
checked against the whole specification by then. `python -m bench.parse` prints times and ratios.
"""

from __future__ import annotations

import json
import timeit
from collections.abc import Callable
from dataclasses import dataclass

from cloudevents.core.bindings import http as sdk

from bench.rig import Row
from penstock.bindings import Mode, http

ROUNDS = 15
CALLS = 1000
BATCH = 1000
_GOALS = {"parse binary": 5.0, "parse structured": 5.0}

EVENT = {
    "specversion": "1.0",
    "id": "A234-1234-1234",
    "source": "https://github.com/cloudevents/spec/pull/123",
    "type": "com.github.pull.create",
    "subject": "123",
    "time": "2018-04-05T17:31:00Z",
    "datacontenttype": "application/json",
    "data": {"action": "opened", "number": 123, "labels": ["a", "b"]},
}
COMMON = [
    (b"host", b"localhost:8080"),
    (b"accept", b"*/*"),
    (b"accept-encoding", b"gzip, deflate"),
    (b"connection", b"keep-alive"),
    (b"user-agent", b"bench/1"),
]
BINARY = [
    *COMMON,
    *(
        (f"ce-{name}".encode(), str(value).encode())
        for name, value in EVENT.items()
        if name not in {"data", "datacontenttype"}
    ),
    (b"content-type", b"application/json"),
    (b"content-length", b"57"),
]
STRUCTURED = [
    *COMMON,
    (b"content-type", b"application/cloudevents+json"),
    (b"content-length", b"270"),
]
BATCHED = [*COMMON, (b"content-type", b"application/cloudevents-batch+json")]
DATA = json.dumps(EVENT["data"]).encode()
SPACED = json.dumps(EVENT).encode()
MINIFIED = json.dumps(EVENT, separators=(",", ":")).encode()
MANY = json.dumps([{**EVENT, "id": str(number)} for number in range(BATCH)]).encode()


@dataclass(frozen=True, slots=True)
class Pair:
    """The same work done by Penstock and by the SDK."""

    ours: Callable[[], object]
    theirs: Callable[[], object]


def message(headers: list[tuple[bytes, bytes]], body: bytes) -> sdk.HTTPMessage:
    return sdk.HTTPMessage({name.decode(): value.decode() for name, value in headers}, body)


def pairs() -> dict[str, Pair]:
    [event] = http.read(BINARY, DATA)
    other = sdk.from_http_event(message(BINARY, DATA))
    ready, whole = message(BINARY, DATA), message(STRUCTURED, SPACED)
    return {
        "parse binary": Pair(
            lambda: http.read(BINARY, DATA),
            lambda: sdk.from_http_event(message(BINARY, DATA)),
        ),
        "parse binary, SDK given decoded headers": Pair(
            lambda: http.read(BINARY, DATA), lambda: sdk.from_http_event(ready)
        ),
        "parse structured": Pair(
            lambda: http.read(STRUCTURED, SPACED),
            lambda: sdk.from_http_event(message(STRUCTURED, SPACED)),
        ),
        "parse structured, minified": Pair(
            lambda: http.read(STRUCTURED, MINIFIED),
            lambda: sdk.from_http_event(message(STRUCTURED, MINIFIED)),
        ),
        "parse structured, SDK given decoded headers": Pair(
            lambda: http.read(STRUCTURED, SPACED), lambda: sdk.from_http_event(whole)
        ),
        "write binary": Pair(
            lambda: http.write(event, Mode.BINARY), lambda: sdk.to_binary_event(other)
        ),
        "write structured": Pair(
            lambda: http.write(event, Mode.STRUCTURED), lambda: sdk.to_structured_event(other)
        ),
    }


def times() -> dict[str, tuple[float, float]]:
    """Return the best time of each pair in microseconds, ours first; rounds alternate."""
    work = pairs()
    best = dict.fromkeys(work, (float("inf"), float("inf")))
    for _ in range(ROUNDS):
        for name, pair in work.items():
            ours = timeit.timeit(pair.ours, number=CALLS) / CALLS * 1e6
            theirs = timeit.timeit(pair.theirs, number=CALLS) / CALLS * 1e6
            best[name] = (min(best[name][0], ours), min(best[name][1], theirs))
    return best


def batch_time() -> float:
    """Return the best time per event of a large batch, in microseconds."""
    found = timeit.repeat(lambda: http.read(BATCHED, MANY), number=3, repeat=ROUNDS)
    return min(found) / 3 / BATCH * 1e6


def measure() -> list[Row]:
    """Return how many times as fast as the SDK reading and writing are."""
    return [
        Row(
            f"{name} / official SDK",
            ours,
            "µs",
            theirs,
            theirs / ours,
            f"ratio >= {_GOALS[name]:g}" if name in _GOALS else "",
            theirs / ours >= _GOALS[name] if name in _GOALS else None,
        )
        for name, (ours, theirs) in times().items()
    ]


def main() -> None:
    print(f"{'':45}{'ours µs':>10}{'SDK µs':>10}{'ratio':>8}")
    for name, (ours, theirs) in times().items():
        print(f"{name:45}{ours:10.2f}{theirs:10.2f}{theirs / ours:8.1f}")
    print(f"{'parse batch, per event':45}{batch_time():10.2f}")


if __name__ == "__main__":
    main()
