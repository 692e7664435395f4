"""What a Python worker of Spark keeps from one task to the next."""

from __future__ import annotations

import asyncio
import gc
import logging
import time
from collections.abc import Coroutine, Iterable
from functools import cached_property
from typing import Any, TypeVar

import msgspec
import uvloop

from penstock.delivery.handshake import Permissions
from penstock.errors import ConflictError, PenstockError
from penstock.pipeline.gate import Gate
from penstock.pipeline.homes import Desk, Homes, desk
from penstock.pipeline.renewing import Renewals
from penstock.pipeline.sender import Means, Sender
from penstock.ports import Request, Response, Sink
from penstock.routing import ROUTE, Route, RoutingTable
from penstock.routing.index import Index

_LOG = logging.getLogger("penstock.pipeline")
_MANY_CHANGES = 20_000
T = TypeVar("T")


class Recalled(msgspec.Struct, frozen=True):
    """Routes to which a run must not send any more, although its version says so."""

    gone: frozenset[str] = frozenset()
    held: frozenset[str] = frozenset()
    changed: frozenset[str] = frozenset()
    """All that were written since, for whatever reason."""

    def touches(self, routes: Iterable[str]) -> bool:
        """Tell whether one of some routes is not what it was."""
        return any(route in self.gone or route in self.changed for route in routes)


class _Held(msgspec.Struct, frozen=True):
    held: bool = False


class _Missing:
    """Stands for a sink that this build does not have: its deliveries wait, others go on."""

    def __init__(self, why: str) -> None:
        self._why = why

    async def send(self, request: Request) -> Response:  # noqa: ARG002
        return Response(0, error=self._why)

    async def close(self) -> None: ...


class WallClock:
    """A `Clock`: the one of the machine."""

    def now(self) -> float:
        return time.time()


class Worker:
    """The desk of one Python process, with its event loop and its routing table."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        self._sinks: dict[str, Sink] = {}
        self._loop = uvloop.new_event_loop()
        self._table = RoutingTable()
        self._index = Index()
        self._changes = 0

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine to its end on the loop of this process."""
        asyncio.set_event_loop(self._loop)
        return self._loop.run_until_complete(work)

    def sink(self, protocol: str) -> Sink:
        """Return the sink for a protocol; one that cannot be had never answers."""
        if protocol not in self._sinks:
            try:
                self._sinks[protocol] = self.desk.homes.sink(protocol)
            except PenstockError as exc:
                self._sinks[protocol] = _Missing(str(exc))
        return self._sinks[protocol]

    def sender(self, protocol: str, *, hasty: bool = False) -> Sink:
        """Return the sink for requests that need secrets; a hasty one can be cut off safely."""
        vault, sink = self.desk.vault, self.sink(protocol)
        return Sender(Means(sink, vault, self._renewals, WallClock()), hasty=hasty)

    @cached_property
    def gate(self) -> Gate:
        """Return what says when routes with a rate or a handshake may send."""
        permissions = Permissions(self.desk.store, self.desk.vault)
        return Gate(permissions, self.desk.homes.hook, self.desk.ledger, WallClock())

    @cached_property
    def _renewals(self) -> Renewals:
        # Tokens are traded over HTTP, whatever the protocol of the delivery is.
        return Renewals(self.desk.store, self.desk.vault, self.sink("HTTP"), WallClock())

    def table(self, version: int | None = None) -> RoutingTable:
        """Return the routing table of a version, the newest if none is named."""
        self._move(self.desk.store.version() if version is None else version)
        return self._table

    def index(self, version: int) -> Index:
        """Return the match index of a version of the routing table."""
        self._move(version)
        return self._index

    def recalled(self, version: int) -> Recalled:
        """Return the routes of a version that by now are deleted, held or changed."""
        newest = self.desk.store.version()
        if newest == version:
            return Recalled()
        documents, dropped = self.desk.store.changes(ROUTE, version, newest)
        held = (one.key for one in documents if msgspec.json.decode(one.body, type=_Held).held)
        changed = (one.key for one in documents)
        return Recalled(frozenset(dropped), frozenset(held), frozenset(changed))

    def _move(self, version: int) -> None:
        known = self._table.version
        if version == known:
            return
        if version < known:
            # Only a batch repeated after a crash asks for an older table than the last one.
            self._forget()
        try:
            documents, dropped = self.desk.store.changes(ROUTE, self._table.version, version)
        except ConflictError:
            self._forget()
            documents, dropped = self.desk.store.changes(ROUTE, 0, version)
        put = [msgspec.json.decode(document.body, type=Route) for document in documents]
        for key in dropped:
            self._index.drop(key)
        for route in put:
            try:
                self._index.put(route)
            except PenstockError:
                # Fail closed: a filter that cannot be read any more matches nothing.
                _LOG.exception("route %s cannot be matched and gets no events", route.id)
        # Last: a move that fails half-way is made again from where it began.
        self._table = self._table.changed(version, put, dropped)
        self._settle(len(put) + len(dropped))

    def _settle(self, changes: int) -> None:
        """Spare the garbage collector the index: Spark runs it in full after every task.

        With 10,000 routes that took as long as matching 100,000 events.
        """
        self._changes += changes
        if self._changes > _MANY_CHANGES:
            # What was frozen and has gone since is freed only now.
            self._changes = 0
            gc.unfreeze()
            gc.collect()
        gc.freeze()

    def _forget(self) -> None:
        self._table, self._index = RoutingTable(), Index()


# The match index is built once per process, not once per task; see `homes` for why.
_WORKERS: dict[int, Worker] = {}


def worker(homes: Homes) -> Worker:
    """Return the worker of this process for these homes."""
    mine = desk(homes)
    if id(mine) not in _WORKERS:
        _WORKERS[id(mine)] = Worker(mine)
    return _WORKERS[id(mine)]
