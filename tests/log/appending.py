"""Processes that append to a log, for tests that start many or kill them."""

from __future__ import annotations

import multiprocessing
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerContext
from pathlib import Path
from typing import Any

from penstock.formats import arrow
from penstock.log import SqliteLog
from tests.log.entries import some

# pyarrow loads half of itself when it is first used: once here, not in every process.
arrow.pack(some([0]))

GROUP = 7
"""Entries of one append."""


def starter() -> ForkServerContext:
    """A way to start processes that have everything loaded already."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["__main__", "tests.log.appending", "penstock.store"])
    return context


def append_forever(path: Path, answers: Connection) -> None:
    """Append groups and tell each position once it is durable."""
    log = SqliteLog.open(path)
    number = log.bounds()[1][0]
    while True:
        (number,) = log.append(some(range(number, number + GROUP), data=bytes(5_000)))
        answers.send(number)


def append_some(path: Path, together: Any, answers: Connection, times: int) -> None:  # noqa: ANN401
    """Open the log together with others, append, and tell all positions."""
    together.wait()
    log = SqliteLog.open(path)
    answers.send([log.append(some(range(GROUP)))[0] for _ in range(times)])
    log.close()
