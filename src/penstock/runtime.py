"""The composition root: Settings → everything; alone chooses variants."""

from __future__ import annotations

import gc
import logging
import os
import signal
import sys
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from penstock import folder
from penstock.config import Settings
from penstock.errors import PenstockError
from penstock.log import SqliteLog
from penstock.store import SqlDeadLetters, SqlLedger, SqlResourceStore
from penstock.store.ledger import BOUNDS

if TYPE_CHECKING:
    import uvicorn

    from penstock.control import Control
    from penstock.pipeline.homes import Homes, Pace

_LOG = logging.getLogger("penstock")
_HOUSEKEEPING_SECONDS = 30.0
PRELOAD = ("penstock.log", "penstock.sinks.http", "penstock.store")
"""What the workers of the pipeline open, loaded once for all of them."""
_KEEP_ALIVE_SECONDS = 75
_GRACEFUL_SECONDS = 2


class SystemClock:
    """The clock of the machine."""

    def now(self) -> float:
        return time.time()


def log_path(settings: Settings) -> Path:
    return settings.folder.absolute() / "log.db"


def store_url(settings: Settings) -> str:
    return f"sqlite:///{settings.folder.absolute() / 'store.db'}"


def ledger_url(settings: Settings) -> str:
    return f"sqlite:///{settings.folder.absolute() / 'ledger.db'}"


def open_log(settings: Settings) -> SqliteLog:
    return SqliteLog.open(log_path(settings))


def open_store(settings: Settings) -> SqlResourceStore:
    return SqlResourceStore(store_url(settings))


def open_ledger(settings: Settings) -> SqlLedger:
    return SqlLedger(ledger_url(settings))


def open_dead_letters(settings: Settings) -> SqlDeadLetters:
    return SqlDeadLetters(ledger_url(settings))


def homes(settings: Settings) -> Homes:
    """Return how the pipeline opens everything, in the driver and in executors."""
    from penstock.pipeline.homes import Homes, Opening  # noqa: PLC0415 - not in the API process

    return Homes(
        Opening("penstock.log:SqliteLog.open", (log_path(settings),)),
        Opening("penstock.store:SqlResourceStore", (store_url(settings),)),
        Opening("penstock.store:SqlLedger", (ledger_url(settings),)),
        Opening("penstock.store:SqlWaitingRoom", (ledger_url(settings),)),
        Opening("penstock.sinks:sink"),
    )


def pace(settings: Settings) -> Pace:
    """Return how much and how long the pipeline works at a time."""
    from penstock.pipeline.homes import Pace  # noqa: PLC0415

    return Pace(
        batch_events=settings.batch_events,
        batch_seconds=settings.batch_seconds,
        parallel=max(min(os.cpu_count() or 1, settings.slots - settings.retry_shards), 1),
        shards=settings.retry_shards,
        epoch_seconds=settings.retry_epoch_seconds,
    )


def run_pipeline(settings: Settings, stopping: threading.Event) -> None:
    """Run the Spark queries until told to stop."""
    from penstock.pipeline.run import Pipeline  # noqa: PLC0415 - only this process loads Spark
    from penstock.pipeline.session import session  # noqa: PLC0415

    spark = session(settings, PRELOAD)
    checkpoints = settings.folder / "spark" / "checkpoints"
    running = Pipeline(spark, homes(settings), pace(settings), checkpoints)
    keeper = threading.Thread(target=_keep_house, args=(settings, stopping), daemon=True)
    try:
        running.start()
        keeper.start()
        running.watch(stopping, partial(folder.beat, settings))
    finally:
        folder.beat_no_more(settings)
        running.stop()
        spark.stop()


def _keep_house(settings: Settings, stopping: threading.Event) -> None:
    log, ledger, store = open_log(settings), open_ledger(settings), open_store(settings)
    while not stopping.wait(_HOUSEKEEPING_SECONDS):
        try:
            trim(settings, log, ledger)
            ledger.forget_outcomes(time.time() - settings.retention_days * 86_400)
            store.forget(ledger.oldest_version(store.version()))
        except PenstockError:
            _LOG.exception("housekeeping failed; it is tried again")


def trim(settings: Settings, log: SqliteLog, ledger: SqlLedger) -> int:
    """Let the log forget what is old or too much, but nothing that a route still needs."""
    settled = ledger.position()
    if settled is None:
        return 0
    oldest = time.time_ns() // 1_000 - int(settings.retention_days * 86_400_000_000)
    expired = log.expired(oldest, settings.retention_bytes)
    needed = ledger.needed() or settled
    before = tuple(map(min, expired, settled, needed))
    if not any(before):
        return 0
    # The log forgets for good; so what it forgets must be settled for good.
    ledger.sync()
    return log.trim(before)


@contextmanager
def opened(settings: Settings) -> Iterator[Control]:
    """Open all that API and command line act upon, and close it in the end."""
    from penstock.control import Control, Limits  # noqa: PLC0415 - the pipeline needs none of it
    from penstock.subscriptions import SubscriptionManager  # noqa: PLC0415

    clock = SystemClock()
    with (
        closing(open_log(settings)) as log,
        closing(open_store(settings)) as store,
        closing(open_ledger(settings)) as ledger,
        closing(open_dead_letters(settings)) as dead,
    ):
        yield Control(
            store=store,
            log=log,
            ledger=ledger,
            dead=dead,
            subscriptions=SubscriptionManager(store, log, lambda: str(uuid.uuid4())),
            clock=clock,
            limits=Limits(settings.event_bytes, settings.batch_bytes, settings.backlog_events),
            pipeline_is_well=lambda: folder.pipeline_is_well(settings, clock.now()),
            batch_bounds=BOUNDS,
            url=settings.url.rstrip("/"),
        )


def api_server(settings: Settings, control: Control) -> uvicorn.Server:
    """Return the HTTP server, ready to run."""
    import uvicorn  # noqa: PLC0415

    from penstock.api import Api, Protocol  # noqa: PLC0415

    config = uvicorn.Config(
        Api(control),
        host=settings.host,
        port=settings.port,
        loop="uvloop",
        http=Protocol,
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        backlog=2048,
        timeout_keep_alive=_KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=_GRACEFUL_SECONDS,
    )
    return uvicorn.Server(config)


def serve_api(settings: Settings) -> None:
    """Serve HTTP until told to stop by SIGTERM or SIGINT."""
    from penstock.formats import arrow  # noqa: PLC0415

    # The server raises the signal again once it has stopped; to be told to stop is no failure.
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: sys.exit(0))
    with opened(settings) as control:
        server = api_server(settings, control)
        # pyarrow loads half of itself when it is first used: better now than in a first request.
        arrow.pack([])
        # What has been loaded stays: looking through it again and again would stop the server
        # for 50 ms about every second under load.
        gc.collect()
        gc.freeze()
        server.run()
