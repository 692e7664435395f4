"""Checks of the server: its port, its data directory, and the files in it."""

from __future__ import annotations

import fcntl
import os
import socket
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from penstock.cli.check import Check, fail, ok, warn
from penstock.config import Settings
from penstock.errors import PenstockError

_EVERYWHERE = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 - compared, not bound


def port(settings: Settings) -> Check:
    """Tell whether the port is free, or Penstock itself answers there."""
    if settings.port == 0:
        return ok("port", "a free one is taken at the start")
    where = f"{settings.host}:{settings.port}"
    reason = _taken(settings.host, settings.port)
    if reason is None:
        return ok("port", f"{where} is free")
    return _answering(settings, where) or fail(
        "port", f"{where} cannot be used: {reason}", "stop what uses it, or choose another --port"
    )


def _taken(host: str, number: int) -> str | None:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, number))
        except OSError as exc:
            return exc.strerror or str(exc)
    return None


def _answering(settings: Settings, where: str) -> Check | None:
    from penstock.client import Client

    host = _EVERYWHERE.get(settings.host, settings.host)
    shown = f"[{host}]" if ":" in host else host
    try:
        with Client(f"http://{shown}:{settings.port}", timeout=5.0) as client:
            found = client.readiness()
    except PenstockError:
        return None
    if found.ready:
        return ok("port", f"Penstock answers at {where} and is ready")
    missing = "; ".join(found.missing)
    advice = "wait if it has just started, else look into its log"
    return warn("port", f"Penstock answers at {where} and is not ready: {missing}", advice)


def folder(settings: Settings) -> Check:
    """Tell whether the data directory can be used, and whether a server uses it."""
    place = settings.folder
    existing = next(path for path in (place, *place.absolute().parents) if path.exists())
    if not existing.is_dir():
        return fail("data", f"{existing} is no directory", "choose another --data")
    if not os.access(existing, os.W_OK | os.X_OK):
        advice = "change its permissions, or choose another --data"
        return fail("data", f"{existing} cannot be written to", advice)
    if existing != place:
        return ok("data", f"{place} is made at the start")
    owner = _owner(place / "lock")
    return ok("data", f"{place} is in use by process {owner}" if owner else f"{place} is writable")


def _owner(lock: Path) -> str | None:
    """Return which process holds the lock of a data directory; None when nobody does."""
    try:
        with lock.open("r") as handle:
            try:
                # Shared: two doctors at once must not take each other for a server.
                fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except OSError:
                return handle.read().strip() or "unknown"
    except OSError:
        return None
    return None


def files(settings: Settings) -> Iterator[Check]:
    """Tell whether what is kept on disk is whole."""
    from penstock import runtime

    place = runtime.log_path(settings)
    if place.exists():
        yield _log(settings)
    for name in ("store", "ledger"):
        path = place.with_name(f"{name}.db")
        if path.exists():
            yield _database(name, path)


def _log(settings: Settings) -> Check:
    from penstock import runtime

    try:
        log = runtime.open_log(settings)
    except PenstockError as exc:
        return _damaged("log", str(exc))
    try:
        damage = log.check()
        if damage:
            return _damaged("log", "; ".join(damage[:3]))
        (first,), (head,) = log.bounds()
    finally:
        log.close()
    return ok("log", f"{head - first} events, all whole")


def _database(name: str, path: Path) -> Check:
    try:
        connection = sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)
        try:
            found = [str(row[0]) for row in connection.execute("PRAGMA quick_check(3)")]
        finally:
            connection.close()
    except sqlite3.Error as exc:
        return _damaged(name, str(exc))
    return ok(name, "whole") if found == ["ok"] else _damaged(name, "; ".join(found))


def _damaged(name: str, found: str) -> Check:
    return fail(name, found, "stop the server, keep a copy of the data directory, restore a backup")
