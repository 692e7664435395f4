"""The data directory: owned by one server at a time; holds a sign of life of the pipeline."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager

from penstock.config import Settings
from penstock.errors import ConflictError, StoreError

_BEAT = "pipeline.beat"
_BEAT_SECONDS = 5.0


@contextmanager
def claimed(settings: Settings) -> Iterator[None]:
    """Own the data directory; raise ConflictError while another server owns it."""
    folder = settings.folder
    try:
        folder.mkdir(parents=True, exist_ok=True)
        handle = (folder / "lock").open("a+")
    except OSError as exc:
        msg = f"the data directory cannot be used: {exc}"
        raise StoreError(msg, address=str(folder)) from exc
    with handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as exc:
            handle.seek(0)
            owner = handle.read().strip() or "unknown"
            msg = f"{folder} is in use by process {owner}: stop it, or name another --data"
            raise ConflictError(msg, address=str(folder)) from exc
        handle.seek(0)
        handle.truncate()
        handle.write(str(os.getpid()))
        handle.flush()
        yield


def beat(settings: Settings) -> None:
    """Note that the pipeline is well."""
    (settings.folder / _BEAT).touch()


def pipeline_is_well(settings: Settings, now: float) -> bool:
    """Tell whether the pipeline noted lately that it is well."""
    try:
        return now - (settings.folder / _BEAT).stat().st_mtime < _BEAT_SECONDS
    except FileNotFoundError:
        return False


def beat_no_more(settings: Settings) -> None:
    """Note that the pipeline has stopped."""
    (settings.folder / _BEAT).unlink(missing_ok=True)
