"""From 202 to arrival: a real server, a steady trickle of events, a real receiver."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

import uvloop
from aiohttp import ClientSession, web

from bench import rig
from penstock.config import Settings
from penstock.processes import is_ready

RATE = 200
SECONDS = 30
_WARM = 10.0
_READY_SECONDS = 25.0


def measure(rate: int = RATE, seconds: float = SECONDS) -> list[rig.Row]:
    """Return the start-up time, and the median and 99th percentile of the way of an event."""
    with rig.data_folder() as settings:
        started = time.monotonic()
        with _server(settings):
            ready = time.monotonic() - started
            waits = sorted(uvloop.run(_trickle(settings, rate, seconds)))
    half, most = (1_000 * waits[int(len(waits) * part)] for part in (0.5, 0.99))
    name = f"latency from 202 to arrival at {rate} events/s"
    return [
        rig.Row("penstock up to ready", ready, "s", goal="<= 25", met=ready <= _READY_SECONDS),
        rig.Row(f"{name}, median", half, "ms", goal="<= 300", met=half <= 300),  # noqa: PLR2004
        rig.Row(f"{name}, 99th percentile", most, "ms", goal="<= 900", met=most <= 900),  # noqa: PLR2004
    ]


async def _trickle(settings: Settings, rate: int, seconds: float) -> list[float]:
    accepted: dict[str, float] = {}
    arrived: dict[str, float] = {}
    async with _receiver(arrived) as sink, ClientSession(settings.address) as session:
        document = {"protocol": "HTTP", "sink": sink}
        async with session.post("/subscriptions", json=document) as answer:
            assert answer.status == 201, await answer.text()  # noqa: PLR2004
        await _publish(session, rate, _WARM, {})
        await _publish(session, rate, seconds, accepted)
        until = time.monotonic() + 30
        while accepted.keys() - arrived.keys() and time.monotonic() < until:  # noqa: ASYNC110
            await asyncio.sleep(0.1)
    assert not accepted.keys() - arrived.keys(), "accepted events did not arrive"
    return [arrived[key] - accepted[key] for key in accepted]


async def _publish(
    session: ClientSession, rate: int, seconds: float, accepted: dict[str, float]
) -> None:
    loop = asyncio.get_running_loop()
    started, sends = loop.time(), []
    for number in range(int(rate * seconds)):
        await asyncio.sleep(max(started + number / rate - loop.time(), 0))
        sends.append(asyncio.ensure_future(_send(session, f"{started}-{number}", accepted)))
    await asyncio.gather(*sends)


async def _send(session: ClientSession, key: str, accepted: dict[str, float]) -> None:
    headers = {"ce-specversion": "1.0", "ce-id": key, "ce-source": "/bench", "ce-type": "bench"}
    async with session.post("/events", headers=headers, data=b"{}") as answer:
        accepted[key] = time.monotonic()
        assert answer.status == 202  # noqa: PLR2004


@asynccontextmanager
async def _receiver(arrived: dict[str, float]) -> AsyncIterator[str]:
    async def take(request: web.Request) -> web.Response:
        arrived.setdefault(request.headers["ce-id"], time.monotonic())
        return web.Response(status=202)

    app = web.Application()
    app.router.add_post("/", take)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    port = rig.free_port()
    await web.TCPSite(runner, "127.0.0.1", port).start()
    try:
        yield f"http://127.0.0.1:{port}/"
    finally:
        await runner.cleanup()


@contextmanager
def _server(settings: Settings) -> Iterator[None]:
    options = ["--port", str(settings.port), "--data", settings.data, "--log-level", "warning"]
    process = subprocess.Popen([sys.executable, "-m", "penstock", "up", *options], env=os.environ)
    try:
        rig.wait_for(lambda: is_ready(settings), 90, 0.1)
        yield
    finally:
        process.terminate()
        process.wait()
