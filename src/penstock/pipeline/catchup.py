"""Catch-ups: what a route did not get from the query that follows the log is parked, bit by bit.

They run in a thread of the driver: a bit is read and matched within milliseconds, and what is dear,
to send it, is done by the `retry` query. A query of their own would cost two more processes.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterable, Iterator

import msgspec

from penstock.delivery.policy import deadline
from penstock.errors import ConflictError, NotFoundError, PenstockError
from penstock.pipeline.homes import Desk
from penstock.ports import (
    CatchUps,
    Caught,
    Document,
    Parked,
    Position,
    Put,
    ResourceStore,
    Span,
    Steps,
)
from penstock.routing import ROUTE, Gap, Route
from penstock.routing.index import Index

_LOG = logging.getLogger("penstock.pipeline")
_EVENTS = 1_000
_BYTES = 8 << 20
_MOST_WAITING = 2_000
"""No more is parked while so many deliveries of the route wait: a million must not lie there."""
_AT_ONCE = 500
_IDLE = 0.25
_FULL = 0.1
_LOOK = 1.0
_TIDY = 5.0
_REST = 5.0
"""Seconds before a catch-up that failed is tried again; the others go on."""


class _Gapped(msgspec.Struct, frozen=True):
    """As much of a route as it takes to see whether it has gaps."""

    gaps: tuple[Gap, ...] = ()


class CatchUp:
    """Parks what routes missed, releases what waited for a resume, and forgets what is over."""

    def __init__(self, desk: Desk, catchups: CatchUps) -> None:
        self._desk = desk
        self._catchups = catchups
        self._version = 0
        self._routes: dict[str, Route] = {}
        """Routes that have gaps."""
        self._resting: dict[str, float] = {}
        self._looked = self._tidied = 0.0

    def run(self, stopping: threading.Event) -> None:
        """Work until told to stop, or until a newer pipeline has taken over."""
        pause = 0.0
        while not stopping.wait(pause):
            try:
                pause = self.turn(time.time())
            except ConflictError:
                _LOG.warning("a newer pipeline catches up from now on")
                return
            except PenstockError:
                _LOG.exception("catching up failed; it is tried again")
                pause = _REST

    def turn(self, now: float) -> float:
        """Do one bit of all there is to do, and return the seconds until there may be more."""
        changed = self._follow()
        pauses = [_IDLE]
        if changed or abs(now - self._looked) > _LOOK:
            pauses.append(self._unshelve(now))
        if self._routes:
            steps = self._catchups.steps()
            known = {(one.route, one.since): one for one in self._catchups.all()}
            pauses += [
                self._tried(route, gap, steps, known.get((route.id, gap.since)), now)
                for route in list(self._routes.values())
                for gap in route.gaps
                if _is_open(route, gap)
            ]
        if abs(now - self._tidied) > _TIDY:
            self._tidy(now)
        return min(pauses)

    def _follow(self) -> bool:
        """Take note of routes that changed; tell whether any did."""
        version = self._desk.store.version()
        if version == self._version:
            return False
        try:
            documents, dropped = self._desk.store.changes(ROUTE, self._version, version)
        except ConflictError:  # too long ago
            self._routes.clear()
            documents, dropped = self._desk.store.changes(ROUTE, 0, version)
        for key in dropped:
            self._routes.pop(key, None)
        for document in documents:
            self._learn(document)
        self._version = version
        return bool(documents or dropped)

    def _learn(self, document: Document) -> None:
        if msgspec.json.decode(document.body, type=_Gapped).gaps:
            self._routes[document.key] = _route(document)
        else:
            self._routes.pop(document.key, None)

    def _tried(
        self, route: Route, gap: Gap, steps: Steps, known: Caught | None, now: float
    ) -> float:
        if self._resting.get(route.id, 0.0) > now:
            return _IDLE
        try:
            return self._step(route, gap, steps, known, now)
        except ConflictError:
            raise
        except PenstockError:
            _LOG.exception("route %s cannot catch up; it is tried again", route.id)
            self._resting[route.id] = now + _REST
            return _IDLE

    def _step(
        self, route: Route, gap: Gap, steps: Steps, known: Caught | None, now: float
    ) -> float:
        """Park what matches in the next bit of a gap; return the seconds until the one after."""
        start, end = gap.bounds(steps)
        if start is None or end is None:
            return _IDLE
        at = start if known is None else known.position
        if not _lies_before(at, end):
            if steps.first(gap.until or 0) is not None:
                self._finish(route, gap, known)
            return _IDLE
        if self._catchups.waiting(route.id, _MOST_WAITING) >= _MOST_WAITING:
            return _FULL
        before = known or Caught(route.id, gap.since, at)
        after, parked = self._bit(route, before, end, now)
        self._catchups.advance(known, after, parked, now)
        return 0.0

    def _bit(
        self, route: Route, before: Caught, end: Position, now: float
    ) -> tuple[Caught, list[Parked]]:
        log = self._desk.log
        first = tuple(map(min, log.bounds()[0], end))
        start = tuple(map(max, before.position, first))
        stop = tuple(map(min, log.reach(start, _EVENTS, _BYTES), end))
        last = deadline(route.policy, now)
        parked = [
            Parked(route.id, route.target.uri, partition, offset, now, last)
            for partition, offset in self._matching(route, start, stop)
        ]
        after = msgspec.structs.replace(
            before,
            position=stop,
            judged=before.judged + sum(stop) - sum(start),
            skipped=before.skipped + sum(start) - sum(before.position),
        )
        return after, parked

    def _matching(self, route: Route, start: Position, stop: Position) -> Iterator[tuple[int, int]]:
        index = Index([route])
        for partition, (begin, end) in enumerate(zip(start, stop, strict=True)):
            for chunk in self._desk.log.read(Span(partition, begin, end)):
                for row, _ in index.match(chunk.batch).each():
                    if route.takes(partition, chunk.offset + row):
                        yield partition, chunk.offset + row

    def _finish(self, route: Route, gap: Gap, known: Caught | None) -> None:
        """Take a gap that is closed out of its route, then forget how far it was."""
        document = self._desk.store.get(ROUTE, route.id)
        if document is None:
            return
        found = _route(document)
        left = tuple(one for one in found.gaps if one.since != gap.since)
        body = msgspec.json.encode(msgspec.structs.replace(found, gaps=left))
        try:
            self._desk.store.write([Put(ROUTE, route.id, body, expected=document.version)])
        except (ConflictError, NotFoundError):
            return  # Its owner changed it in this moment; there is another turn.
        if known is not None:
            self._catchups.forget(known)

    def _unshelve(self, now: float) -> float:
        """Let deliveries go on whose route was resumed, and drop those whose route is gone."""
        self._looked = now
        done = 0
        for key in self._catchups.shelved():
            document = self._desk.store.get(ROUTE, key)
            if document is None:
                done += self._catchups.discard(key, _AT_ONCE)
            elif not _route(document).held:
                done += self._catchups.release(key, now, _AT_ONCE)
        if not done:
            return _IDLE
        self._looked = 0.0
        return 0.0

    def _tidy(self, now: float) -> None:
        """Forget catch-ups whose gap is gone, and versions that no gap asks for any more."""
        self._tidied = now
        gaps = {(route.id, gap.since) for route in self._routes.values() for gap in route.gaps}
        for caught in self._catchups.all():
            if (caught.route, caught.since) not in gaps:
                self._catchups.forget(caught)
        oldest = min((since for _, since in gaps), default=self._version)
        starts = self._catchups.steps().starts
        if len(starts) > 1 and starts[0][0] < oldest:
            self._catchups.forget_steps(oldest)


def needed(store: ResourceStore, steps: Steps, caught: Iterable[Caught]) -> Position | None:
    """Return the earliest position that a gap of some route still needs from the log."""
    known = {(one.route, one.since): one.position for one in caught}
    documents, _ = store.changes(ROUTE, 0, store.version())
    gapped = (one for one in documents if msgspec.json.decode(one.body, type=_Gapped).gaps)
    starts = [
        known.get((route.id, gap.since)) or gap.bounds(steps)[0]
        for route in map(_route, gapped)
        if not route.stopped
        for gap in route.gaps
    ]
    found = [start for start in starts if start is not None]
    return tuple(map(min, *found, found[0])) if found else None


def _is_open(route: Route, gap: Gap) -> bool:
    return gap.until is not None and not (route.held or route.stopped or route.paused)


def _lies_before(at: Position, end: Position) -> bool:
    return any(ours < theirs for ours, theirs in zip(at, end, strict=True))


def _route(document: Document) -> Route:
    return msgspec.json.decode(document.body, type=Route).dated(document.version)
