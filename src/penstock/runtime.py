"""The composition root: Settings → everything; alone chooses variants."""

from __future__ import annotations

import gc
import logging
import os
import signal
import socket
import sys
import threading
import time
import uuid
from collections import deque
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import msgspec

from penstock import folder
from penstock.config import Settings
from penstock.errors import PenstockError
from penstock.log import SqliteLog
from penstock.store import KeyVault, SqlDeadLetters, SqlLedger, SqlResourceStore, SqlWaitingRoom
from penstock.store.ledger import BOUNDS

if TYPE_CHECKING:
    import uvicorn

    from penstock.control import Control
    from penstock.discovery import Advertisement
    from penstock.pipeline.homes import Homes, Hook, Pace

_LOG = logging.getLogger("penstock")
_HOUSEKEEPING_SECONDS = 30.0
_HISTORY_ROUNDS = 20
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


def key_file(settings: Settings) -> Path:
    """Return where the keys for secrets lie: apart from the data, where XDG puts such files."""
    if settings.key_file:
        return Path(settings.key_file).expanduser().absolute()
    base = os.environ.get("XDG_CONFIG_HOME", "")
    try:
        place = Path(base) if base.startswith("/") else Path.home() / ".config"
    except RuntimeError:
        # A user without a home, as in some containers.
        place = Path("/etc")
    return place / "penstock" / "penstock.key"


def open_vault(settings: Settings) -> KeyVault:
    return KeyVault(key_file(settings))


def hook(settings: Settings) -> Hook:
    """Return who we are to sinks that are asked for their consent."""
    from penstock.pipeline.homes import Hook  # noqa: PLC0415 - not in the API process

    named = settings.origin or urlsplit(settings.url).hostname or socket.gethostname()
    base = settings.url.rstrip("/")
    return Hook(named, f"{base}/permissions" if base else "")


def homes(settings: Settings) -> Homes:
    """Return how the pipeline opens everything, in the driver and in executors."""
    from penstock.pipeline.homes import Homes, Opening  # noqa: PLC0415 - not in the API process

    return Homes(
        Opening("penstock.log:SqliteLog.open", (log_path(settings),)),
        Opening("penstock.store:SqlResourceStore", (store_url(settings),)),
        Opening("penstock.store:SqlLedger", (ledger_url(settings),)),
        Opening("penstock.store:SqlWaitingRoom", (ledger_url(settings),)),
        Opening("penstock.sinks:sink"),
        catchups=Opening("penstock.store:SqlCatchUps", (ledger_url(settings),)),
        # The keys stay out of it: this is a part of Spark's plans.
        vault=Opening("penstock.store:KeyVault", (key_file(settings),)),
        hook=hook(settings),
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
    # Whoever watches objects may come back after a while and ask what happened meanwhile.
    seen = deque([store.version()], maxlen=_HISTORY_ROUNDS)
    while not stopping.wait(_HOUSEKEEPING_SECONDS):
        try:
            trim(settings, log, ledger, store)
            ledger.forget_outcomes(time.time() - settings.retention_days * 86_400)
            store.forget(min(seen[0], ledger.oldest_version(store.version())))
            seen.append(store.version())
        except PenstockError:
            _LOG.exception("housekeeping failed; it is tried again")


def trim(settings: Settings, log: SqliteLog, ledger: SqlLedger, store: SqlResourceStore) -> int:
    """Let the log forget what is old or too much, but nothing that a route still needs."""
    from penstock.pipeline.catchup import needed  # noqa: PLC0415 - only this process matches

    settled = ledger.position()
    if settled is None:
        return 0
    oldest = time.time_ns() // 1_000 - int(settings.retention_days * 86_400_000_000)
    by_age, by_size = log.expired(oldest, sys.maxsize), log.expired(0, settings.retention_bytes)
    # A route that is paused for ever may hold back what is old, but must not fill the disk.
    missed = needed(store, ledger.steps(), ledger.caught()) or settled
    expired = tuple(map(max, map(min, by_age, missed), by_size))
    before = tuple(map(min, expired, settled, ledger.needed() or settled))
    if not any(before):
        return 0
    # The log forgets for good; so what it forgets must be settled for good.
    ledger.sync()
    return log.trim(before)


def stream_address(settings: Settings) -> str:
    """Return the address below which streams take events; empty where the port is not known yet."""
    if settings.url:
        return settings.url.rstrip("/")
    if settings.port == 0:
        return ""
    loopback = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 - compared, not bound
    return msgspec.structs.replace(
        settings, host=loopback.get(settings.host, settings.host)
    ).address


@contextmanager
def opened(settings: Settings) -> Iterator[Control]:
    """Open all that API and command line act upon, and close it in the end."""
    from penstock.control import Control, Limits  # noqa: PLC0415 - the pipeline needs none of it
    from penstock.delivery.handshake import Permissions  # noqa: PLC0415
    from penstock.discovery import Services  # noqa: PLC0415
    from penstock.knative import Resources  # noqa: PLC0415
    from penstock.registry import Registry  # noqa: PLC0415
    from penstock.routing import Handshake  # noqa: PLC0415
    from penstock.sinks import SINKS  # noqa: PLC0415
    from penstock.subscriptions import SubscriptionManager, Terms  # noqa: PLC0415

    clock, vault = SystemClock(), open_vault(settings)
    with (
        closing(open_log(settings)) as log,
        closing(open_store(settings)) as store,
        closing(open_ledger(settings)) as ledger,
        closing(open_dead_letters(settings)) as dead,
        closing(SqlWaitingRoom(ledger_url(settings), 0)) as waiting,
    ):
        services = Services(store, clock, lambda: str(uuid.uuid4()), advertisement(settings))
        yield Control(
            store=store,
            log=log,
            ledger=ledger,
            dead=dead,
            subscriptions=SubscriptionManager(
                store,
                log,
                lambda: str(uuid.uuid4()),
                Terms(
                    deliverable=SINKS.keys(),
                    most=settings.subscriptions,
                    config_problems=services.config_problems,
                    now=clock.now,
                    seal=vault.seal,
                    handshake=Handshake(settings.handshake),
                ),
            ),
            services=services,
            registry=Registry(store, clock, lambda: str(uuid.uuid4())),
            knative=Resources(store, log, clock, lambda: str(uuid.uuid4()), threading.Lock()),
            permissions=Permissions(store, vault),
            hasten=waiting.hasten,
            clock=clock,
            limits=Limits(
                settings.event_bytes,
                settings.batch_bytes,
                settings.backlog_events,
                settings.registry_bytes,
            ),
            pipeline_is_well=lambda: folder.pipeline_is_well(settings, clock.now()),
            batch_bounds=BOUNDS,
            address=stream_address(settings),
            url=settings.url.rstrip("/"),
        )


def advertisement(settings: Settings) -> Advertisement:
    """Return what this server says of itself in the catalogue of services."""
    from penstock.discovery import Advertisement  # noqa: PLC0415
    from penstock.events import VERSIONS  # noqa: PLC0415
    from penstock.routing import DEFAULT  # noqa: PLC0415
    from penstock.sinks import SINKS  # noqa: PLC0415

    return Advertisement(
        name=settings.service_name,
        description="Events published to this broker, kept and delivered to subscribers.",
        protocols=tuple(SINKS),
        specversions=VERSIONS,
        config={"startfrom": "String"},
        stream=DEFAULT.key,
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
