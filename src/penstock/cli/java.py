"""The Java that Spark would run on."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

OLDEST = 17
_HOMES = (
    "usr/lib/jvm/*",
    "Library/Java/JavaVirtualMachines/*/Contents/Home",
    "opt/homebrew/opt/openjdk*",
    "usr/local/opt/openjdk*",
)
_VERSION = re.compile(r'version "(?:1\.)?(\d+)')


@dataclass(frozen=True, slots=True)
class Java:
    """A Java command, and how new it is."""

    command: Path
    version: int


def chosen(environment: Mapping[str, str] = os.environ) -> Java | None:
    """Return the Java that Spark takes: that of JAVA_HOME, else the one on the PATH."""
    if home := environment.get("JAVA_HOME"):
        return probe(Path(home) / "bin" / "java")
    found = shutil.which("java", path=environment.get("PATH"))
    return None if found is None else probe(Path(found))


def installed(root: Path = Path("/")) -> Iterator[Java]:
    """Yield what is installed in the usual places and new enough."""
    for pattern in _HOMES:
        for home in sorted(root.glob(pattern)):
            found = probe(home / "bin" / "java")
            if found is not None and found.version >= OLDEST:
                yield found


def probe(command: Path) -> Java | None:
    """Return what a command says of itself; None when it is no working Java."""
    try:
        answer = subprocess.run(  # noqa: S603 - asks for the version, nothing else
            [command, "-version"], capture_output=True, check=True, text=True, timeout=30
        )
    except (OSError, subprocess.SubprocessError):
        return None
    match = _VERSION.search(answer.stderr)
    return None if match is None else Java(command, int(match[1]))
