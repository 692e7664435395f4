"""Draining a log to one sink, beside the bare HTTP client sending as many requests."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator

import uvloop

from bench import rig
from penstock import runtime
from penstock.config import Settings
from penstock.delivery.shipping import Packer
from penstock.ports import Request
from penstock.routing import DEFAULT, Route, Target
from penstock.sinks.http import HttpSink

EVENTS = 200_000
_STEP = 5_000
_AT_ONCE = 64


def measure(events: int = EVENTS) -> list[rig.Row]:
    """Return events/s of the pipeline and requests/s of the client alone."""
    with rig.nginx() as address, rig.data_folder() as settings:
        route = Route("drain", DEFAULT.key, Target(address, in_flight=_AT_ONCE))
        before = uvloop.run(_bare(address, events // 2))
        drained = _drain(settings, route, events)
        after = uvloop.run(_bare(address, events // 2))
    # The machine is noisy: the baseline is taken before and after, so that drift hits both.
    bare = rig.mean([before, after])
    name = f"drain {events:,} events to one sink / bare HTTP client"
    return [rig.ratio_row(name, drained, bare, "events/s", 0.5)]


def _drain(settings: Settings, route: Route, events: int) -> float:
    log, ledger = runtime.open_log(settings), runtime.open_ledger(settings)
    rig.put_routes(settings, [route])
    with rig.running_pipeline(settings):
        log.append(rig.small_entries(2_000))
        rig.wait_for(lambda: ledger.position() == (2_000,), 60)
        groups = [rig.small_entries(_STEP, first) for first in range(0, events, _STEP)]
        started = time.monotonic()
        for group in groups:
            log.append(group)
        rig.wait_for(lambda: ledger.position() == (2_000 + events,), 300)
        seconds = time.monotonic() - started
    parked = ledger.tallies()["drain"].parked
    if parked:
        print(f"    note: {parked} deliveries were parked on the way")
    return events / seconds


async def _bare(address: str, count: int) -> float:
    sink = HttpSink()
    route = Route("bare", DEFAULT.key, Target(address))
    event = rig.small_entries(1)[0].event
    request = Packer(event).request(route)
    queue = iter(range(count))
    started = time.monotonic()
    await asyncio.gather(*(_sender(sink, request, queue) for _ in range(_AT_ONCE)))
    return count / (time.monotonic() - started)


async def _sender(sink: HttpSink, request: Request, queue: Iterator[int]) -> None:
    for _ in queue:
        await sink.send(request)
