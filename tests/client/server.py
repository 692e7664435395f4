"""A real API process for tests to talk to."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from penstock.client import Client
from penstock.config import Settings
from penstock.errors import NotFoundError

_PATIENCE = 20.0


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def running(folder: Path) -> Iterator[Settings]:
    """Run the API without a pipeline; what is published stays in its log."""
    settings = Settings(data=str(folder), port=free_port(), log_level="warning")
    handed = {"PENSTOCK_SETTINGS_JSON": msgspec.json.encode(settings).decode()}
    command = [sys.executable, "-m", "penstock", "serve-api"]
    with subprocess.Popen(command, env=os.environ | handed) as process:
        try:
            _wait_for(settings.address, process)
            yield settings
        finally:
            process.terminate()


def _wait_for(address: str, process: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + _PATIENCE
    with Client(address) as client:
        while time.monotonic() < until and process.poll() is None:
            try:
                client.readiness()
            except NotFoundError:
                time.sleep(0.02)
            else:
                return
    raise AssertionError("the API does not answer")
