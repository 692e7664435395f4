"""Bring .venv to what requirements.lock names, with Penstock itself; instant when it is there."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from tools.packages import apt_install, say

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"
STAMP = VENV / "installed"
LOCK = ROOT / "requirements.lock"

NO_VENV = """\
Python could not make a virtual environment; its venv module is missing or broken.
  Debian, Ubuntu:  apt-get install python3-venv   (or python{version}-venv)
  Fedora:          dnf install python3-pip
  macOS:           brew install python
Then run make again."""

NO_PACKAGES = """\
pip could not install the locked packages; its message is above.
The first install needs the network, or a package source that pip is told of (PIP_FIND_LINKS,
PIP_INDEX_URL, pip.conf). Nothing is half-done: run make again when it is reachable."""


def environment() -> str:
    """What a virtual environment is bound to: it can neither move nor change its Python."""
    return f"{VENV}\n{sys.version}\n"


def fingerprint() -> str:
    files = (LOCK, ROOT / "pyproject.toml")
    contents = hashlib.sha256(b"\0".join(file.read_bytes() for file in files))
    return f"{environment()}{contents.hexdigest()}\n"


@contextlib.contextmanager
def alone() -> Iterator[None]:
    """Hold the project folder's lock, so that two calls of make do not install at once."""
    folder = os.open(ROOT, os.O_RDONLY)
    try:
        try:
            fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("Another make is installing; waiting for it.")
            fcntl.flock(folder, fcntl.LOCK_EX)
        yield
    finally:
        os.close(folder)


def stamp() -> str:
    return STAMP.read_text() if STAMP.exists() else ""


def create() -> None:
    """Make a new, empty virtual environment in place of any old one."""
    shutil.rmtree(VENV, ignore_errors=True)
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    if not run(sys.executable, "-m", "venv", str(VENV)):
        packages = (f"python{version}-venv", "python3-venv")
        if not (apt_install(*packages) and run(sys.executable, "-m", "venv", "--clear", str(VENV))):
            shutil.rmtree(VENV, ignore_errors=True)
            sys.exit(NO_VENV.format(version=version))


def fill() -> None:
    """Install the locked packages, each checked against its hash, and Penstock in place."""
    pip = (str(PYTHON), "-m", "pip", "install", "--disable-pip-version-check")
    if not (
        run(*pip, "--require-hashes", "--requirement", str(LOCK))
        and run(*pip, "--quiet", "--no-deps", "--no-build-isolation", "--editable", str(ROOT))
    ):
        sys.exit(NO_PACKAGES)


def run(*command: str) -> bool:
    # These settings of pip would send packages elsewhere than into the environment.
    elsewhere = {"PIP_USER", "PIP_TARGET", "PIP_PREFIX", "PIP_ROOT"}
    settings = {name: value for name, value in os.environ.items() if name not in elsewhere}
    return subprocess.run(command, cwd=ROOT, env=settings, check=False).returncode == 0


def main() -> int:
    if stamp() == fingerprint():
        return 0
    with alone():
        if stamp() == fingerprint():
            return 0
        say("Installing into .venv; the first time takes a few minutes, Spark alone is 400 MB.")
        # Absent or half-made environments are made anew, sound ones only brought up to date.
        if not stamp().startswith(environment()):
            create()
        STAMP.write_text(environment())
        fill()
        STAMP.write_text(fingerprint())
    return 0


if __name__ == "__main__":
    sys.exit(main())
