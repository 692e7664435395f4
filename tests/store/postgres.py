"""A PostgreSQL server of our own: on a free loopback port, in a folder that goes away again."""

from __future__ import annotations

import importlib.util
import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_UNSAFE_BUT_FAST = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}


def tools() -> Path | None:
    """The folder of the server's programs, if they and a driver are installed."""
    if importlib.util.find_spec("psycopg") is None:
        return None
    found = shutil.which("initdb")
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    candidates = [Path(found).resolve().parent] if found else folders
    return next((folder for folder in candidates if (folder / "pg_ctl").exists()), None)


@contextmanager
def server(programs: Path) -> Iterator[str]:
    """Run a server and yield its address, to which the name of a database is added."""
    folder = Path(tempfile.mkdtemp(prefix="penstock-postgres-"))
    user = _unprivileged(folder)
    port = _free_port()

    def run(program: str, *arguments: str) -> None:
        command = [str(programs / program), *arguments]
        subprocess.run(command, check=True, user=user, cwd=folder, stdout=subprocess.DEVNULL)

    settings = {**_UNSAFE_BUT_FAST, "listen_addresses": "127.0.0.1", "port": str(port)}
    options = " ".join(f"-c {name}={value}" for name, value in settings.items())
    try:
        run("initdb", "-D", f"{folder}/data", "-U", "penstock", "-A", "trust", "--no-sync")
        log, sockets = f"{folder}/log", f"-k {folder}"
        run(
            "pg_ctl", "-D", f"{folder}/data", "-l", log, "-w", "-o", f"{options} {sockets}", "start"
        )
        try:
            yield f"postgresql+psycopg://penstock@127.0.0.1:{port}/"
        finally:
            run("pg_ctl", "-D", f"{folder}/data", "-m", "immediate", "-w", "stop")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _unprivileged(folder: Path) -> str | None:
    """The server refuses to run as root: give the folder to somebody who is not."""
    if os.geteuid() != 0:
        return None
    shutil.chown(folder, user="nobody")
    return "nobody"


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
