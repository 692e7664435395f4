"""What the measurements share: rows, a sink made of nginx, load, a running pipeline."""

from __future__ import annotations

import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import msgspec

from penstock import runtime
from penstock.config import Settings
from penstock.events.entry import Entry
from penstock.events.event import CloudEvent
from penstock.ports import Put
from penstock.routing import DEFAULT, ROUTE, Route

_NGINX = """
worker_processes 1;
daemon off;
pid {folder}/pid;
error_log {folder}/error.log;
events {{ worker_connections 1024; }}
http {{
  access_log off;
  keepalive_requests 100000000;
  client_body_temp_path {folder}/body;
  proxy_temp_path {folder}/proxy;
  fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi;
  scgi_temp_path {folder}/scgi;
  server {{ listen 127.0.0.1:{port} reuseport; location / {{ return 202; }} }}
}}
"""


@dataclass(frozen=True, slots=True)
class Row:
    """One measured figure beside its baseline and its goal."""

    name: str
    value: float
    unit: str
    baseline: float | None = None
    ratio: float | None = None
    goal: str = ""
    met: bool | None = None


def ratio_row(name: str, value: float, baseline: float, unit: str, at_least: float) -> Row:
    """Return a row whose goal is a ratio against the baseline."""
    ratio = value / baseline
    return Row(name, value, unit, baseline, ratio, f"ratio >= {at_least:g}", ratio >= at_least)


def mean(values: Sequence[float]) -> float:
    """Return the harmonic mean: that of speeds measured over equal amounts of work."""
    return len(values) / sum(1 / value for value in values)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_for(condition: Callable[[], bool], seconds: float, pause: float = 0.02) -> None:
    """Return as soon as a condition holds; raise TimeoutError when it does not in time."""
    until = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > until:
            msg = f"nothing happened for {seconds:g} s"
            raise TimeoutError(msg)
        time.sleep(pause)


def listening(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@contextmanager
def nginx() -> Iterator[str]:
    """Run a sink that answers 202 to everything, and yield its address."""
    program = shutil.which("nginx") or "/usr/sbin/nginx"
    port = free_port()
    with tempfile.TemporaryDirectory() as folder:
        config = Path(folder) / "nginx.conf"
        config.write_text(_NGINX.format(folder=folder, port=port))
        process = subprocess.Popen(
            [program, "-c", str(config), "-p", folder, "-e", f"{folder}/error.log"]
        )
        try:
            wait_for(lambda: listening(port), 10)
            yield f"http://127.0.0.1:{port}/"
        finally:
            process.terminate()
            process.wait()


@contextmanager
def data_folder() -> Iterator[Settings]:
    with tempfile.TemporaryDirectory() as folder:
        yield Settings(data=folder, port=free_port())


@contextmanager
def running_pipeline(settings: Settings) -> Iterator[None]:
    """Run the real pipeline in this process, warmed up."""
    from penstock.pipeline.run import Pipeline  # noqa: PLC0415
    from penstock.pipeline.session import session  # noqa: PLC0415

    with ExitStack() as stack:
        spark = session(settings, runtime.PRELOAD)
        stack.callback(spark.stop)
        pipeline = Pipeline(
            spark,
            runtime.homes(settings),
            runtime.pace(settings),
            settings.folder / "spark" / "checkpoints",
        )
        stack.callback(pipeline.stop)
        pipeline.start()
        wait_for(pipeline.is_warm, 60)
        yield


def small_entries(count: int, first: int = 0) -> list[Entry]:
    """Return small events as the default broker receives them."""
    now = time.time_ns() // 1_000
    return [
        Entry(
            DEFAULT.key,
            CloudEvent(
                f"id-{number}",
                f"/shops/{number % 50}",
                f"com.example.order.{('created', 'paid', 'shipped')[number % 3]}",
                subject=f"order-{number}",
                datacontenttype="application/json",
                data=b'{"order": 17, "amount": 12.5, "currency": "EUR"}',
            ),
            now,
        )
        for number in range(first, first + count)
    ]


def put_routes(settings: Settings, routes: list[Route]) -> None:
    store = runtime.open_store(settings)
    store.write([Put(ROUTE, route.id, msgspec.json.encode(route)) for route in routes])
    store.close()
