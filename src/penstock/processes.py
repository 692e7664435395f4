"""The processes of a running server: start them, watch them, restart them, stop them."""

from __future__ import annotations

import ctypes
import http.client
import logging
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit

import msgspec

from penstock import folder, logs
from penstock.config import Settings
from penstock.errors import ConflictError

_LOG = logging.getLogger("penstock")
_SETTINGS = "PENSTOCK_SETTINGS_JSON"
_PARENT = "PENSTOCK_PARENT"
_PARENT_DEATH = 1
_GRACE = 7.0
_STEADY = 30.0
_LONGEST_PAUSE = 10.0
_LONGEST_DEATH = 2.0


def supervise(settings: Settings) -> int:
    """Run the API and the pipeline until told to stop; return the exit code."""
    logs.configure(settings)
    settings = _with_port(settings)
    with folder.claimed(settings):
        # A pipeline that was killed may have left its sign of life behind.
        folder.beat_no_more(settings)
        stopping = threading.Event()
        when_told_to_stop(stopping.set)
        children = [Child("api", settings), Child("pipeline", settings)]
        try:
            _watch(children, settings, stopping)
        finally:
            _stop(children)
    return 0


class Child:
    """One process that is started again when it dies."""

    def __init__(self, name: str, settings: Settings) -> None:
        self.name = name
        self._settings = settings
        self._process: subprocess.Popen[bytes] | None = None
        self._started = 0.0
        self._failures = 0
        self._not_before = 0.0

    def tend(self, now: float) -> None:
        """Start the process if it does not run and it is time to try."""
        if self._process is not None:
            code = self._process.poll()
            if code is None:
                return
            self._fell(self._process, code, now)
        if now >= self._not_before:
            self._start(now)

    def _fell(self, process: subprocess.Popen[bytes], code: int, now: float) -> None:
        # What it started must not go on beside what its successor starts.
        _kill_session(process.pid)
        self._process = None
        if self.name == "pipeline":
            folder.beat_no_more(self._settings)
        self._failures = 0 if now - self._started > _STEADY else self._failures + 1
        pause = min(0.1 * 2**self._failures, _LONGEST_PAUSE)
        self._not_before = now + pause
        _LOG.error("%s ended with code %s; starting it again in %.1f s", self.name, code, pause)

    def _start(self, now: float) -> None:
        environment = {**os.environ, **_handed_down(self._settings)}
        self._process = subprocess.Popen(  # noqa: S603 - our own interpreter and module
            [sys.executable, "-m", "penstock", f"serve-{self.name}"],
            env=environment,
            # A session of its own: a signal to our group reaches us alone, and we stop in order.
            start_new_session=True,
        )
        self._started = now
        _LOG.info("%s runs as process %s", self.name, self._process.pid)

    def terminate(self) -> None:
        if self._process is not None:
            self._process.terminate()

    def end(self, until: float) -> None:
        """Wait for the process to end; kill it and all it started when it does not."""
        if self._process is None:
            return
        try:
            self._process.wait(max(until - time.monotonic(), 0.0))
        except subprocess.TimeoutExpired:
            _LOG.warning("%s did not stop in time and is killed", self.name)
            self._process.kill()
            self._process.wait()
        _kill_session(self._process.pid)


def _kill_session(leader: int) -> None:
    """Kill all that a process started, and wait until it is gone."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, signal.SIGKILL)
    until = time.monotonic() + _LONGEST_DEATH
    # Spark's Python processes have a group of their own, but share the session.
    while (living := _session(leader)) and time.monotonic() < until:
        for pid in living:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.01)


def _session(leader: int) -> list[int]:
    """Return the living processes of a session, where the system lists them."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        # One that ends meanwhile is not there to be read.
        with suppress(OSError):
            state, _, _, session = stat.read_text().rpartition(")")[2].split()[:4]
            if int(session) == leader and state not in "ZX":
                found.append(int(stat.parent.name))
    return found


def _watch(children: list[Child], settings: Settings, stopping: threading.Event) -> None:
    announced = False
    while not stopping.is_set():
        for child in children:
            child.tend(time.monotonic())
        if not announced and is_ready(settings):
            announced = True
            _LOG.info("Penstock is ready at %s (data in %s)", settings.address, settings.folder)
        stopping.wait(0.2)


def _stop(children: list[Child]) -> None:
    until = time.monotonic() + _GRACE
    for child in children:
        child.terminate()
    for child in children:
        child.end(until)
    _LOG.info("stopped")


def is_ready(settings: Settings) -> bool:
    """Ask the API whether everything is ready."""
    connection = http.client.HTTPConnection(_reachable(settings.host), settings.port, timeout=1.0)
    try:
        connection.request("GET", "/readyz")
        return connection.getresponse().status == http.client.OK
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def _reachable(host: str) -> str:
    return {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104


def _with_port(settings: Settings) -> Settings:
    """Make sure of the port before anything is started, and choose one where it is 0."""
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((settings.host, settings.port))
        except OSError as exc:
            address = urlsplit(settings.address).netloc
            msg = f"cannot listen on {address}: {exc.strerror}; choose another --port or --host"
            raise ConflictError(msg, address=address) from exc
        return msgspec.structs.replace(settings, port=probe.getsockname()[1])


def _handed_down(settings: Settings) -> dict[str, str]:
    return {_SETTINGS: msgspec.json.encode(settings).decode(), _PARENT: str(os.getpid())}


def child_settings(environment: Mapping[str, str]) -> Settings:
    """Return the settings that the supervisor handed down."""
    return msgspec.json.decode(environment[_SETTINGS], type=Settings)


def die_with_parent(environment: Mapping[str, str]) -> None:
    """Have the kernel stop this process when the supervisor dies, even by kill -9."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PARENT_DEATH, signal.SIGTERM)
        # It may have died before we asked; process 1 is no sign of that, in a container it is ours.
        if str(os.getppid()) != environment.get(_PARENT, str(os.getppid())):
            raise SystemExit(1)


def when_told_to_stop(act: Callable[[], object]) -> None:
    """Act on SIGTERM or SIGINT, in a thread of its own.

    A handler runs wherever the main thread happens to be: if that is inside the wait for an event,
    a handler that sets this event waits for ever.
    """
    told, tell = os.pipe()
    os.set_blocking(tell, False)
    signal.set_wakeup_fd(tell, warn_on_full_buffer=False)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: None)

    def listen() -> None:
        os.read(told, 1)
        act()

    threading.Thread(target=listen, daemon=True).start()


def api_main() -> None:
    """Be the API process."""
    from penstock import runtime  # noqa: PLC0415 - the supervisor itself stays small

    die_with_parent(os.environ)
    settings = child_settings(os.environ)
    logs.configure(settings)
    runtime.serve_api(settings)


def pipeline_main() -> None:
    """Be the pipeline process."""
    from penstock import runtime  # noqa: PLC0415

    die_with_parent(os.environ)
    settings = child_settings(os.environ)
    logs.configure(settings)
    stopping = threading.Event()

    def stop() -> None:
        stopping.set()
        if not folder.pipeline_is_well(settings, time.time()):
            # Spark is still starting and cannot be interrupted; there is nothing to finish either.
            os._exit(0)

    when_told_to_stop(stop)
    runtime.run_pipeline(settings, stopping)
