"""Penstock as users run it: `penstock up`, real processes, a data directory."""

from __future__ import annotations

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from tests.end_to_end.loop import eventually

_MARK = "END_TO_END_SERVER"
_READY_SECONDS = 120.0
_GONE = (psutil.NoSuchProcess, psutil.AccessDenied, psutil.ZombieProcess)


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer of the server."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    def document(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.body)
        return found


class Server:
    """One `penstock up`, which can be stopped, killed in parts, and started again on its data."""

    def __init__(self, folder: Path, **settings: object) -> None:
        self.folder = folder
        self.data = folder / "data"
        self.log = folder / "server.log"
        self.port = free_port()
        self.started = 0.0
        self._settings = settings
        # Every process inherits it, so that those without a parent are found as well.
        self._mark = uuid.uuid4().hex
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def supervisor(self) -> psutil.Process:
        assert self._process is not None
        return psutil.Process(self._process.pid)

    @property
    def api(self) -> psutil.Process:
        return self._named("serve-api")

    @property
    def pipeline(self) -> psutil.Process:
        return self._named("serve-pipeline")

    @property
    def jvm(self) -> psutil.Process:
        return next(one for one in self.pipeline.children() if one.name() == "java")

    def workers(self) -> list[psutil.Process]:
        """Return the Python processes that do the work of Spark's tasks."""
        daemon = "penstock.pipeline.daemon"
        found = [one for one in self.family() if daemon in _command(one)]
        parents = {one.pid for one in found}
        return [one for one in found if one.ppid() in parents]

    def family(self) -> list[psutil.Process]:
        """Return every process of this server that lives, orphans included."""
        found = []
        for process in psutil.process_iter():
            with suppress(*_GONE):
                zombie = process.status() == psutil.STATUS_ZOMBIE
                if not zombie and process.environ().get(_MARK) == self._mark:
                    found.append(process)
        return found

    def start(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        self.started = time.monotonic()
        with self.log.open("ab") as output:
            self._process = subprocess.Popen(
                self.command(),
                env={**os.environ, _MARK: self._mark},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )

    def command(self, **changed: object) -> list[str]:
        """Return the command that starts the server."""
        flags = {"port": self.port, "data": self.data, **self._settings, **changed}
        named = (f"--{name.replace('_', '-')}={value}" for name, value in flags.items())
        return [sys.executable, "-m", "penstock", "up", *named]

    def wait_ready(self) -> float:
        """Return how many seconds after its start the server was ready."""
        eventually(
            lambda: self.has_ended() or self.is_ready(), _READY_SECONDS, "the server is ready"
        )
        assert not self.has_ended(), self.last_words()
        return time.monotonic() - self.started

    def is_ready(self) -> bool:
        return self.answers("/readyz")

    def answers(self, path: str = "/healthz") -> bool:
        """Tell whether the server answers with success."""
        try:
            return self.call("GET", path).status == 200
        except (OSError, http.client.HTTPException):
            return False

    def has_ended(self) -> bool:
        return self._process is None or self._process.poll() is not None

    def stop(self, number: signal.Signals = signal.SIGTERM, *, group: bool = False) -> float:
        """Tell the server to stop, and return how many seconds that took."""
        assert self._process is not None
        started = time.monotonic()
        if group:
            os.killpg(self._process.pid, number)
        else:
            self._process.send_signal(number)
        self._process.wait(30.0)
        return time.monotonic() - started

    def kill(self) -> None:
        """Kill everything, the supervisor first."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
        while family := self.family():
            for process in family:
                with suppress(*_GONE):
                    process.kill()
            psutil.wait_procs(family, timeout=1.0)

    def bury(self) -> None:
        """Take note that the supervisor was killed."""
        if self._process is not None:
            self._process.wait(10.0)

    def last_words(self, lines: int = 80) -> str:
        text = self.log.read_text("utf-8", "replace") if self.log.exists() else ""
        return "\n".join(text.splitlines()[-lines:])

    def call(
        self,
        method: str,
        path: str,
        body: bytes = b"",
        headers: Mapping[str, str] | Sequence[tuple[str, str]] = (),
    ) -> Reply:
        """Send one request and return the answer."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30.0)
        try:
            connection.request(method, path, body, dict(headers))
            answer = connection.getresponse()
            fields = {name.lower(): value for name, value in answer.getheaders()}
            return Reply(answer.status, fields, answer.read())
        finally:
            connection.close()

    def publish(self, path: str = "/events", **members: object) -> str:
        """Publish a structured event and return its id, once it is acknowledged."""
        event = {"specversion": "1.0", "id": uuid.uuid4().hex, "source": "/test", **members}
        headers = {"content-type": "application/cloudevents+json"}
        answer = self.call("POST", path, json.dumps(event).encode(), headers)
        assert answer.status == 202, answer.body
        return str(event["id"])

    def subscribe(self, sink: str, settings: Mapping[str, object] = {}, **members: object) -> str:
        """Create a subscription and return its id."""
        document = {"protocol": "HTTP", "sink": sink, "protocolsettings": settings, **members}
        headers = {"content-type": "application/json"}
        answer = self.call("POST", "/subscriptions", json.dumps(document).encode(), headers)
        assert answer.status == 201, answer.body
        return str(answer.document()["id"])

    def unsubscribe(self, key: str) -> None:
        answer = self.call("DELETE", f"/subscriptions/{key}")
        assert answer.status == 200, answer.body

    def status(self, key: str) -> dict[str, Any]:
        """Return what the server says of a subscription."""
        return self.call("GET", f"/subscriptions/{key}/status").document()

    def subscriptions(self) -> Iterator[str]:
        found = json.loads(self.call("GET", "/subscriptions").body)
        yield from (str(one["id"]) for one in found)

    def _named(self, argument: str) -> psutil.Process:
        return next(one for one in self.supervisor.children() if argument in _command(one))


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _command(process: psutil.Process) -> list[str]:
    try:
        return process.cmdline()
    except _GONE:
        return []
