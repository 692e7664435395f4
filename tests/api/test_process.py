"""The API as a process of its own: it stops when told to, and survives a full disk."""

from __future__ import annotations

import http.client
import queue
import resource
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest

from penstock.formats import arrow
from penstock.log import SqliteLog
from penstock.ports import Span
from tests.api.served import BINARY

SCRIPT = """
import sys
from penstock import runtime
from penstock.config import Settings
runtime.serve_api(Settings(data=sys.argv[1], port=int(sys.argv[2])))
"""
pytestmark = pytest.mark.network


@dataclass(frozen=True, slots=True)
class Process:
    """The API as a process."""

    running: subprocess.Popen[bytes]
    port: int

    def connect(self) -> http.client.HTTPConnection:
        """Return a connection once the server listens."""
        for _ in range(600):
            connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
            try:
                connection.connect()
            except ConnectionRefusedError:
                with suppress(subprocess.TimeoutExpired):
                    pytest.fail(f"the server ended with {self.running.wait(0.05)}")
            else:
                return connection
        pytest.fail("the server does not listen")


@contextmanager
def process(data: Path, *, file_bytes: int | None = None) -> Iterator[Process]:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    limit = None
    if file_bytes is not None:
        limit = partial(resource.setrlimit, resource.RLIMIT_FSIZE, (file_bytes, file_bytes))
    running = subprocess.Popen(
        [sys.executable, "-c", SCRIPT, str(data), str(port)],
        preexec_fn=limit,  # noqa: PLW1509 - no other thread is about
        stderr=subprocess.DEVNULL,
    )
    try:
        yield Process(running, port)
    finally:
        running.kill()
        running.wait()


def publish(connection: http.client.HTTPConnection, number: int, size: int = 2) -> int:
    connection.request("POST", "/events", b"0" * size, BINARY | {"ce-id": str(number)})
    answer = connection.getresponse()
    answer.read()
    return answer.status


def stored_ids(data: Path) -> list[int]:
    log = SqliteLog.open(data / "log.db")
    _, (head,) = log.bounds()
    chunks = log.read(Span(0, 0, head))
    found = [int(entry.event.id) for chunk in chunks for entry in arrow.unpack(chunk.batch)]
    assert log.check() == []
    log.close()
    return found


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_stops_quickly_and_in_peace_when_told_to(tmp_path: Path, number: signal.Signals) -> None:
    with process(tmp_path) as api, closing(api.connect()) as connection:
        publish(connection, 1)
        started = time.monotonic()

        api.running.send_signal(number)
        code = api.running.wait(10)

        assert code == 0
        assert time.monotonic() - started < 3


def test_client_that_stalls_does_not_hold_up_the_end(tmp_path: Path) -> None:
    with (
        process(tmp_path) as api,
        closing(api.connect()) as stalled,
        closing(api.connect()) as connection,
    ):
        stalled.putrequest("POST", "/events")
        stalled.putheader("content-length", "100")
        stalled.endheaders()
        publish(connection, 1)
        started = time.monotonic()

        api.running.terminate()
        code = api.running.wait(10)

        assert code == 0
        assert time.monotonic() - started < 3


def test_acknowledged_events_survive_a_kill(tmp_path: Path) -> None:
    with process(tmp_path) as api, closing(api.connect()) as connection:
        statuses = [publish(connection, number) for number in range(50)]

        api.running.kill()
        api.running.wait()

        assert set(statuses) == {202}
        assert stored_ids(tmp_path) == list(range(50))


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_all_that_was_acknowledged_under_load_is_stored_once(
    tmp_path: Path, number: signal.Signals
) -> None:
    acknowledged: queue.SimpleQueue[int] = queue.SimpleQueue()
    statuses: set[int] = set()

    def client(first: int) -> None:
        with closing(api.connect()) as connection, suppress(OSError, http.client.HTTPException):
            for event in range(first, first + 100_000):
                status = publish(connection, event)
                statuses.add(status)
                acknowledged.put(event)

    with process(tmp_path) as api, ThreadPoolExecutor(8) as pool:
        clients = [pool.submit(client, place * 100_000) for place in range(8)]
        found = [acknowledged.get(timeout=20) for _ in range(400)]

        api.running.send_signal(number)
        code = api.running.wait(10)
        for each in clients:
            each.result()

    found += [acknowledged.get() for _ in range(acknowledged.qsize())]
    stored = stored_ids(tmp_path)
    assert code == (0 if number is signal.SIGTERM else -signal.SIGKILL)
    assert statuses == {202}
    assert set(found) <= set(stored)
    assert len(stored) == len(set(stored))


def test_full_disk_is_answered_with_503_and_nothing_is_half_written(tmp_path: Path) -> None:
    accepted = []
    statuses = set()
    with process(tmp_path, file_bytes=4 << 20) as api, closing(api.connect()) as connection:
        for number in range(200):
            status = publish(connection, number, 100_000)
            statuses.add(status)
            if status == 202:
                accepted.append(number)

    assert statuses == {202, 503}
    assert stored_ids(tmp_path) == accepted
