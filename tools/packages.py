"""Install system packages where that is allowed: `python -m tools.packages nginx wrk`."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

# Debian keeps the programs of a database server out of the way.
ASIDE = "/usr/lib/postgresql"
PACKAGES = {"initdb": "postgresql", "kubectl": "kubernetes-client"}


def say(text: str) -> None:
    """Print to standard error, because callers read standard output."""
    print(text, file=sys.stderr, flush=True)


def apt_works() -> bool:
    return os.geteuid() == 0 and shutil.which("apt-get") is not None


def apt_install(*names: str) -> bool:
    """Install the first of these packages that the distribution offers; False when none is."""
    if not apt_works():
        return False
    _apt_get("update")
    return any(_apt_get("install", "--yes", "--no-install-recommends", name) for name in names)


def _apt_get(*arguments: str) -> bool:
    say(f"+ apt-get {' '.join(arguments)}")
    environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    command = ["apt-get", "--quiet", "--quiet", *arguments]
    return subprocess.run(command, env=environment, stdout=sys.stderr, check=False).returncode == 0


def is_there(command: str) -> bool:
    aside = Path(ASIDE).glob(f"*/bin/{command}")
    return shutil.which(command) is not None or any(aside)


def main(commands: list[str]) -> int:
    for command in commands:
        if not is_there(command):
            apt_install(PACKAGES.get(command, command))
    missing = [PACKAGES.get(command, command) for command in commands if not is_there(command)]
    if missing:
        names = " ".join(missing)
        say(f"Not found, and what needs them is left out: {names}.")
        say(f"  Debian, Ubuntu:  apt-get install {names}")
        say(f"  Fedora:          dnf install {names}")
        say(f"  macOS:           brew install {names}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
