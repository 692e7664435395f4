"""Several processes on one log, and processes that are killed while they write."""

from __future__ import annotations

import os
import random
import signal
import time
from multiprocessing.connection import Connection
from pathlib import Path

import pytest

from penstock.log import SqliteLog
from tests.log.appending import GROUP, append_forever, append_some, starter
from tests.log.entries import ids

pytestmark = pytest.mark.network

PROCESSES = 4
TIMES = 15
KILLS = 20


def test_processes_that_append_at_once_get_offsets_without_gap(tmp_path: Path) -> None:
    path, context = tmp_path / "log.db", starter()
    start = context.Barrier(PROCESSES)
    pipes = [context.Pipe(duplex=False) for _ in range(PROCESSES)]
    workers = [
        context.Process(target=append_some, args=(path, start, sender, TIMES))
        for _, sender in pipes
    ]
    for worker in workers:
        worker.start()
    positions = [receiver.recv() for receiver, _ in pipes]
    for worker in workers:
        worker.join()

    log = SqliteLog.open(path)
    together = sorted(position for mine in positions for position in mine)
    assert together == [GROUP * n for n in range(1, PROCESSES * TIMES + 1)]
    assert all(mine == sorted(mine) for mine in positions)
    assert ids(log) == list(range(GROUP)) * PROCESSES * TIMES
    log.close()


def test_what_was_acknowledged_survives_kill_at_any_moment(tmp_path: Path) -> None:
    path, chance = tmp_path / "log.db", random.Random(os.getpid())
    acknowledged = 0

    for _ in range(KILLS):
        acknowledged = appended_until_killed(path, chance.uniform(0.0, 0.03)) or acknowledged

        log = SqliteLog.open(path)
        assert log.check() == []
        found = ids(log)
        log.close()
        assert found == list(range(len(found)))
        assert len(found) % GROUP == 0
        assert acknowledged <= len(found) <= acknowledged + GROUP

    assert acknowledged > KILLS * GROUP


def appended_until_killed(path: Path, after: float) -> int:
    """Kill a process some time after its first append; return the last position it told."""
    context = starter()
    receiver, sender = context.Pipe(duplex=False)
    worker = context.Process(target=append_forever, args=(path, sender))
    worker.start()
    sender.close()
    told = receiver.recv()
    time.sleep(after)
    os.kill(worker.pid or 0, signal.SIGKILL)
    worker.join()
    for position in all_of(receiver):
        told = position
    return int(told)


def all_of(receiver: Connection) -> list[int]:
    found = []
    try:
        while receiver.poll():
            found.append(receiver.recv())
    except (EOFError, OSError):
        pass  # the last message was cut off in the middle
    return found
