"""Publishing: durable requests beside an app that only answers, batches beside the bare log."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
import uvloop

from bench import rig
from penstock import runtime
from penstock.config import Settings
from penstock.ports import Request
from penstock.sinks.http import HttpSink

SECONDS = 8
_ROUNDS = 2
_CONNECTIONS = 64
_BATCH = 1_000
_BATCHES = 300
_BARE = """
async def app(scope, receive, send):
    if scope["type"] != "http":
        return
    while (await receive()).get("more_body"):
        pass
    headers = [(b"content-length", b"0")]
    await send({"type": "http.response.start", "status": 202, "headers": headers})
    await send({"type": "http.response.body", "body": b""})
"""
# Every request is another event, as it is in life: the id counts up.
_LOAD = """
local number = 0
wrk.method = "POST"
wrk.body = '{"order": 17, "amount": 12.5, "currency": "EUR"}'
wrk.headers["content-type"] = "application/json"
wrk.headers["ce-specversion"] = "1.0"
wrk.headers["ce-source"] = "/shops/17"
wrk.headers["ce-type"] = "com.example.order.created"
wrk.headers["ce-time"] = "2026-04-05T17:31:00Z"
request = function()
  number = number + 1
  wrk.headers["ce-id"] = "id-" .. number
  return wrk.format()
end
done = function(summary, latency, requests)
  local refused = summary.errors.status + summary.errors.connect + summary.errors.timeout
  io.write(string.format("RESULT %f %d\\n", summary.requests / summary.duration * 1e6, refused))
end
"""


def measure(seconds: int = SECONDS) -> list[rig.Row]:
    """Return single and batched ingest, each beside its baseline."""
    return [_single(seconds), *_batched()]


def _single(seconds: int) -> rig.Row:
    bare: list[float] = []
    ours: list[float] = []
    with _bare_app() as plain, _api() as (address, _):
        # In turns, so that a slow moment of the machine hits both.
        for _ in range(_ROUNDS):
            bare.append(_wrk(f"{plain}/events", seconds))
            ours.append(_wrk(f"{address}/events", seconds))
    name = f"durable ingest, one event a request, {_CONNECTIONS} connections / bare ASGI app"
    return rig.ratio_row(name, rig.mean(ours), rig.mean(bare), "requests/s", 0.5)


def _batched() -> list[rig.Row]:
    events = _BATCH * _BATCHES
    with _api() as (address, settings):
        uvloop.run(_publish(address, 20))
        started = time.monotonic()
        uvloop.run(_publish(address, _BATCHES))
        speed = events / (time.monotonic() - started)
        head = runtime.open_log(settings).bounds()[1][0]
        assert head == events + 20 * _BATCH, "an acknowledged batch is not in the log"
    appended = _bare_append(events)
    return [
        rig.Row(
            f"batched ingest, {_BATCH:,} events a request / bare append to the log",
            speed,
            "events/s",
            appended,
            speed / appended,
            ">= 100,000",
            speed >= 100_000,  # noqa: PLR2004
        )
    ]


def _bare_append(events: int) -> float:
    groups = [rig.small_entries(_BATCH, first) for first in range(0, events, _BATCH)]
    with rig.data_folder() as settings:
        log = runtime.open_log(settings)
        started = time.monotonic()
        for group in groups:
            log.append(group)
        return events / (time.monotonic() - started)


async def _publish(address: str, count: int) -> None:
    sink = HttpSink()
    headers = [("content-type", "application/cloudevents-batch+json")]
    requests = iter(
        [Request(f"{address}/events", headers, _batch(number)) for number in range(count)]
    )
    await asyncio.gather(*(_publisher(sink, requests) for _ in range(4)))
    await sink.close()


async def _publisher(sink: HttpSink, requests: Iterator[Request]) -> None:
    for request in requests:
        answer = await sink.send(request)
        assert answer.status == 202, f"the batch was answered {answer.status}"  # noqa: PLR2004


def _batch(number: int) -> bytes:
    return json.dumps(
        [
            {
                "specversion": "1.0",
                "id": f"{number}-{place}",
                "source": f"/shops/{place % 50}",
                "type": "com.example.order.created",
                "subject": f"order-{place}",
                "data": {"order": 17, "amount": 12.5},
            }
            for place in range(_BATCH)
        ],
        separators=(",", ":"),
    ).encode()


def _wrk(address: str, seconds: int) -> float:
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "load.lua"
        script.write_text(_LOAD)
        command = ["wrk", "-t1", f"-c{_CONNECTIONS}", f"-d{seconds}s", "-s", str(script), address]
        output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    line = next(line for line in output.splitlines() if line.startswith("RESULT"))
    speed, refused = line.split()[1:]
    assert refused == "0", f"{refused} requests were refused"
    return float(speed)


@contextmanager
def _bare_app() -> Iterator[str]:
    port = rig.free_port()
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "bare.py").write_text(_BARE)
        options = [
            "--loop",
            "uvloop",
            "--http",
            "httptools",
            "--no-access-log",
            "--log-level",
            "error",
        ]
        command = [sys.executable, "-m", "uvicorn", "bare:app", "--port", str(port), *options]
        with _process(command, port, {"PYTHONPATH": folder}):
            yield f"http://127.0.0.1:{port}"


@contextmanager
def _api() -> Iterator[tuple[str, Settings]]:
    with rig.data_folder() as settings:
        environment = {"PENSTOCK_SETTINGS_JSON": msgspec.json.encode(settings).decode()}
        command = [sys.executable, "-m", "penstock", "serve-api"]
        with _process(command, settings.port, environment):
            yield settings.address, settings


@contextmanager
def _process(command: list[str], port: int, environment: dict[str, str]) -> Iterator[None]:
    process = subprocess.Popen(command, env={**os.environ, **environment})
    try:
        rig.wait_for(lambda: rig.listening(port), 30)
        yield
    finally:
        process.terminate()
        process.wait()
