"""Install system packages where that is allowed: `python -m tools.packages nginx wrk`."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys


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


def main(commands: list[str]) -> int:
    for command in commands:
        if shutil.which(command) is None:
            apt_install(command)
    missing = [command for command in commands if shutil.which(command) is None]
    if missing:
        names = " ".join(missing)
        say(f"Not found, and what needs them is left out: {names}.")
        say(f"  Debian, Ubuntu:  apt-get install {names}")
        say(f"  Fedora:          dnf install {names}")
        say(f"  macOS:           brew install {names}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
