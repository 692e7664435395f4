"""Checks of the machine: Python, Java, packages, memory, disk."""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator
from importlib import metadata
from pathlib import Path

import penstock
from penstock.cli import java
from penstock.cli.check import Check, fail, ok, warn

_OLDEST_PYTHON = (3, 11)
_MEMORY = 1536 << 20
_LEAST_MEMORY = 768 << 20
_DISK = 2 << 30
# The log refuses events below 64 MiB.
_LEAST_DISK = 128 << 20
_BOUND = re.compile(r"(==|>=|<=|<|>|~=|!=)\s*([0-9][0-9.]*)")


def python(version: tuple[int, ...] = sys.version_info[:3]) -> Check:
    """Tell whether this Python is new enough."""
    shown = ".".join(map(str, version))
    if version[:2] >= _OLDEST_PYTHON:
        return ok("python", f"{shown} ({sys.executable})")
    oldest = ".".join(map(str, _OLDEST_PYTHON))
    return fail("python", shown, f"install Python {oldest} or newer")


def spark_java() -> Check:
    """Tell whether Spark finds a Java that it can run on."""
    found = java.chosen()
    if found is not None and found.version >= java.OLDEST:
        return ok("java", f"{found.version} ({found.command})")
    shown = "none" if found is None else f"{found.version} ({found.command}) is too old"
    usable = next(java.installed(), None)
    if usable is not None:
        home = usable.command.parent.parent
        return fail("java", shown, f"use the one that is installed: export JAVA_HOME={home}")
    advice = f"install Java {java.OLDEST} or newer (Debian: openjdk-17-jre-headless), set JAVA_HOME"
    return fail("java", shown, advice)


def packages() -> Iterator[Check]:
    """Tell whether the packages that Penstock needs are there, in versions that it works with."""
    try:
        wanted = metadata.requires("penstock") or []
    except metadata.PackageNotFoundError:
        yield warn(
            "penstock",
            f"{penstock.__version__}, run from its source",
            "install it (make install), so that its packages can be checked",
        )
        return
    yield ok("penstock", penstock.__version__)
    found = list(wrong(wanted, _version))
    if found:
        yield fail("packages", "; ".join(found), "reinstall: make install, or pip install penstock")
    else:
        yield ok("packages", f"all {len(wanted)} in the versions asked for")


def wrong(wanted: Iterable[str], version: Callable[[str], str | None]) -> Iterator[str]:
    """Yield which requirements are not met by the versions that are installed."""
    for requirement in wanted:
        if "extra ==" in requirement or ("win32" in requirement and sys.platform == "win32"):
            continue
        name, bounds = _split(requirement)
        found = version(name)
        if found is None:
            yield f"{name} is missing"
        elif not satisfies(found, bounds):
            yield f"{name} is {found}, wanted {bounds}"


def _split(requirement: str) -> tuple[str, str]:
    name = re.split(r"[^A-Za-z0-9._-]", requirement, maxsplit=1)[0]
    return name, requirement.removeprefix(name).partition(";")[0].strip()


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def satisfies(version: str, bounds: str) -> bool:
    """Tell whether a version lies within bounds like `>=2.2,<3`."""
    have = _numbers(version)
    for operator, text in _BOUND.findall(bounds):
        want = _numbers(text)
        width = max(len(have), len(want))
        left, right = _padded(have, width), _padded(want, width)
        holds = {
            "==": left == right,
            ">=": left >= right,
            "~=": left >= right and have[: len(want) - 1] == want[:-1],
            "<=": left <= right,
            "<": left < right,
            ">": left > right,
            "!=": left != right,
        }
        if not holds[operator]:
            return False
    return True


def _numbers(version: str) -> tuple[int, ...]:
    match = re.match(r"\d+(?:\.\d+)*", version)
    return tuple(map(int, match[0].split("."))) if match else ()


def _padded(numbers: tuple[int, ...], width: int) -> tuple[int, ...]:
    return numbers + (0,) * (width - len(numbers))


def memory() -> Check:
    """Tell whether there is memory for the server."""
    import psutil

    return room("memory", psutil.virtual_memory().available, (_LEAST_MEMORY, _MEMORY))


def disk(folder: Path) -> Check:
    """Tell whether there is disk space for events."""
    existing = next(path for path in (folder, *folder.absolute().parents) if path.exists())
    return room("disk", shutil.disk_usage(existing).free, (_LEAST_DISK, _DISK))


def room(name: str, free: int, limits: tuple[int, int]) -> Check:
    """Tell whether what is free is ample, scarce or too little."""
    least, comfortable = limits
    shown = f"{free / (1 << 30):.1f} GiB free"
    if free >= comfortable:
        return ok(name, shown)
    advice = f"free some: the server wants {comfortable / (1 << 30):.1f} GiB"
    return warn(name, shown, advice) if free >= least else fail(name, shown, advice)
