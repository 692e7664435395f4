"""Find the Java that Spark runs on and print its home; install it where that is allowed."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tools.packages import apt_install, say

OLDEST = 17

PACKAGES = (
    "openjdk-17-jre-headless",
    "openjdk-21-jre-headless",
    "openjdk-25-jre-headless",
    "default-jre-headless",
)

HELP = f"""\
Spark needs Java {OLDEST} or newer, and none was found.
  Debian, Ubuntu:  sudo apt-get install openjdk-17-jre-headless
                   (or openjdk-21-jre-headless where 17 is not offered)
  Fedora:          sudo dnf install java-21-openjdk-headless
  macOS:           brew install openjdk@17
Then run make again; if it is still not found, set JAVA_HOME to its folder."""

FOLDERS = (
    "/usr/lib/jvm/*",
    "/Library/Java/JavaVirtualMachines/*/Contents/Home",
    "/opt/homebrew/opt/openjdk*",
    "/usr/local/opt/openjdk*",
)


@dataclass(frozen=True, slots=True)
class Java:
    """One installed Java."""

    home: Path
    version: int


def find() -> Java | None:
    """The Java the user chose if it is new enough, else the oldest installed one that is."""
    for command in _chosen():
        java = probe(command)
        if java is not None and java.version >= OLDEST:
            return java
    installed = [java for command in _installed() if (java := probe(command))]
    # Spark is tried most with the oldest Java that it supports.
    return min(
        (java for java in installed if java.version >= OLDEST),
        key=lambda java: (java.version, java.home),
        default=None,
    )


def _chosen() -> Iterator[str]:
    if home := os.environ.get("JAVA_HOME"):
        yield str(Path(home, "bin", "java"))
    if command := shutil.which("java"):
        yield command


def _installed() -> Iterator[str]:
    for pattern in FOLDERS:
        for home in Path("/").glob(pattern.removeprefix("/")):
            yield str(home / "bin" / "java")


def probe(command: str) -> Java | None:
    """What this command says of itself; None when it is no working Java."""
    try:
        answer = subprocess.run(
            [command, "-XshowSettings:properties", "-version"],
            capture_output=True,
            check=True,
            text=True,
            timeout=30,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    home = re.search(r"^\s*java\.home = (.+)$", answer.stderr, re.MULTILINE)
    version = re.search(
        r"^\s*java\.specification\.version = (?:1\.)?(\d+)", answer.stderr, re.MULTILINE
    )
    if home is None or version is None:
        return None
    return Java(Path(home[1].strip()), int(version[1]))


def main() -> int:
    java = find()
    if java is None and apt_install(*PACKAGES):
        java = find()
    if java is None:
        say(HELP)
        return 1
    print(java.home)
    return 0


if __name__ == "__main__":
    sys.exit(main())
