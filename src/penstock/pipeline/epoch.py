"""An epoch: one task that owns some destinations for a while and sends what is due for them."""

from __future__ import annotations

import asyncio
import logging
import time
import zlib
from collections.abc import Coroutine, Sequence
from typing import Any

import msgspec

from penstock.delivery import batching
from penstock.delivery.accounts import Account, Delivery, shelved
from penstock.delivery.batching import Parcel
from penstock.delivery.dispatch import attempt
from penstock.delivery.handshake import Hold
from penstock.delivery.shipping import Packer
from penstock.errors import PenstockError, StoreError
from penstock.events.entry import Entry
from penstock.formats import arrow
from penstock.pipeline import replies, rows
from penstock.pipeline.bulk import ONE, Bulk, bulks
from penstock.pipeline.gate import PACED
from penstock.pipeline.homes import Pace
from penstock.pipeline.lane import Lane
from penstock.pipeline.settle import stop
from penstock.pipeline.work import retry_share
from penstock.pipeline.worker import Worker
from penstock.ports import Chunk, Health, Leg, Parked, Settlement, Span, State
from penstock.routing.route import Route, Target

_LOG = logging.getLogger("penstock.pipeline")
_TICK = 0.03
_IDLE = 2.0
_REFRESH = 0.25
_MOST_CLAIMED = 500
_LEASE_MARGIN = 30.0


class Epoch:
    """Claims, sends and settles until its time is over and nothing is open any more."""

    def __init__(self, here: Worker, pace: Pace, generation: int, shard: int) -> None:
        self._here = here
        self._pace = pace
        self._generation = generation
        self._shard = shard
        self._waiting = here.desk.waiting(generation)
        self._lanes: dict[str, Lane] = {}
        self._version = -1
        self._routes: dict[str, Route] = {}
        self._owners: dict[str, Route] = {}
        """For each destination a route that sends there, for its limits."""
        self._bulks: dict[str, Bulk] = {}
        self._account = Account(time.time())
        self._chunk: Chunk | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    async def run(self) -> None:
        """Work until the epoch is over; a destination that answers slowly is not cut off."""
        ends = time.monotonic() + self._pace.epoch_seconds
        refreshed = busy = 0.0
        while True:
            now = time.monotonic()
            if now - refreshed > _REFRESH:
                self._refresh()
                refreshed = now
            if self._claim_all(ends) or self._tasks:
                busy = time.monotonic()
            self._settle()
            over = now > ends or now - (busy or now - _IDLE) >= _IDLE
            if over and not self._tasks:
                return
            await self._pause()

    async def _pause(self) -> None:
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=_TICK, return_when=asyncio.FIRST_COMPLETED)
        # Even after an answer wait a little: answers that come together are settled together.
        await asyncio.sleep(_TICK / 3)

    def _refresh(self) -> None:
        """Read again which destinations wait, how they are, and which routes there are."""
        self._read_routes()
        known = self._here.desk.ledger.health()
        for destination, due in self._waiting.destinations().items():
            if zlib.crc32(destination.encode()) % self._pace.shards != self._shard:
                continue
            lane = self._lanes.setdefault(destination, Lane(destination))
            lane.health = known.get(destination, Health(destination))
            lane.due = due

    def _read_routes(self) -> None:
        table = self._here.table()
        if table.version == self._version:
            return
        self._version = table.version
        self._routes = dict(table.routes)
        self._owners = {}
        for route in table.routes.values():
            self._owners[route.target.uri] = route
            for other in (route.policy.dead_letter, route.reply_to):
                if other:
                    self._owners.setdefault(other, route)
        self._bulks = bulks(table.routes.values())

    def _claim_all(self, ends: float) -> int:
        return sum(self._claim(lane, ends) for lane in list(self._lanes.values()))

    def _claim(self, lane: Lane, ends: float) -> int:
        now = time.time()
        # A slow destination gets no new request that would keep the epoch from ending.
        late = time.monotonic() + lane.answer_seconds > ends + 1.0
        if lane.due > now or (late and lane.answer_seconds > 1.0):
            return 0
        self._expire(lane, now)
        room = lane.room(self._route_of(lane), now)
        if room <= 0:
            return 0
        timeout = self._route_of(lane).policy.timeout
        bulk = self._bulks.get(lane.health.destination, ONE)
        claimed = self._waiting.claim(
            lane.health.destination,
            # Those that linger are due as soon as the first of them is.
            now + bulk.linger,
            min(room * bulk.size, _MOST_CLAIMED),
            # An attempt may be two requests: the delivery, and its reply sent on.
            2 * timeout + _LEASE_MARGIN + bulk.linger,
        )
        if not claimed:
            lane.due = now + _TICK
        # Just now: nothing is started as its owner, who was told so, does not want it any more.
        elif self._here.recalled(self._version).touches(parked.route for parked in claimed):
            self._read_routes()
        self._start_all(lane, claimed)
        return len(claimed)

    def _expire(self, lane: Lane, now: float) -> None:
        if lane.health.state is not State.DOWN or now < lane.expire_after:
            return
        late = self._waiting.expire(lane.health.destination, now, _MOST_CLAIMED)
        # To look takes the write lock of the ledger: not more often than there is reason to.
        lane.expire_after = now if len(late) == _MOST_CLAIMED else now + _REFRESH
        for parked in late:
            delivery = self._delivery(parked)
            if delivery is not None:
                self._account.abandoned(delivery, "its time has passed")

    def _route_of(self, lane: Lane) -> Route:
        return self._owners.get(lane.health.destination, _NOBODY)

    def _start_all(self, lane: Lane, claimed: Sequence[Parked]) -> None:
        careful: dict[str, list[Delivery]] = {}
        for parked in claimed:
            delivery = self._delivery(parked)
            if delivery is None:
                continue
            route = delivery.route
            # What is asked of the way to a sink is not asked of the way to its dead letters.
            if route.target.handling is None or delivery.leg is not Leg.SUBSCRIBER:
                request = Packer(delivery.entry.event).request(route, delivery.leg)
                self._launch(lane, Parcel([delivery], request))
            else:
                careful.setdefault(route.id, []).append(delivery)
        for deliveries in careful.values():
            self._start_special(lane, deliveries)

    def _start_special(self, lane: Lane, deliveries: Sequence[Delivery]) -> None:
        """Send what may be sent now, and let the rest wait."""
        route, gate = deliveries[0].route, self._here.gate
        self._account.now = time.time()
        hold = gate.hold(route)
        if hold is not None:
            self._bar(lane, deliveries, hold)
            return
        for parcel in batching.parcels(deliveries, gate.origin):
            turn = gate.turn(route)
            if turn <= time.time():
                self._launch(lane, parcel)
                continue
            for delivery in parcel.deliveries:
                self._account.paced(delivery, turn, PACED)

    def _bar(self, lane: Lane, deliveries: Sequence[Delivery], hold: Hold) -> None:
        """Let deliveries wait for the consent of their sink, but not for ever."""
        if hold.ask and not lane.asking:
            lane.asking = True
            self._watch(self._ask(lane, deliveries[0].route))
        for delivery in deliveries:
            parked = delivery.parked
            if not hold.ask and parked is not None and parked.deadline <= self._account.now:
                self._account.abandoned(delivery, hold.why)
            elif hold.ask:
                self._account.waits(delivery, hold.until, hold.why)
            else:
                self._account.barred(delivery, hold.until, hold.why)

    async def _ask(self, lane: Lane, route: Route) -> None:
        try:
            await self._here.gate.ask(route, self._here.sink(route.target.protocol))
        except PenstockError:
            _LOG.exception("the sink of route %s could not be asked for its consent", route.id)
        lane.asking = False
        if self._here.gate.hold(route) is None:
            self._settle()
            self._waiting.hasten(route.target.uri, time.time())
            self._here.gate.pacer.forget_promises()
            lane.due = 0.0

    def _launch(self, lane: Lane, parcel: Parcel) -> None:
        lane.open += 1
        self._watch(self._send(lane, parcel))

    def _watch(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _send(self, lane: Lane, parcel: Parcel) -> None:
        protocol = parcel.deliveries[0].route.target.protocol
        guarded = parcel.request.guard is not None
        sink = self._here.sender(protocol) if guarded else self._here.sink(protocol)
        response = await attempt(sink, parcel.request)
        lane.open -= 1
        lane.answered(response.elapsed)
        self._account.now = time.time()
        self._account.settled_together(parcel.deliveries, response)

    def _delivery(self, parked: Parked) -> Delivery | None:
        """Return what there is to send; None where there is no sense in it any more."""
        route = self._routes.get(parked.route)
        if route is None or (parked.leg is Leg.DEAD_LETTER and not route.policy.dead_letter):
            self._account.finished.append(parked.id)
            return None
        if route.held:
            self._account.parked.append(shelved(parked, time.time()))
            return None
        try:
            entry = self._entry(parked)
        except StoreError:
            # It stays leased and comes back later; the others must not wait for it.
            _LOG.exception("event %s cannot be read back from the log", parked.offset)
            return None
        if parked.entry is not None and parked.destination == route.reply_to != route.target.uri:
            # A reply that was given up, revived by hand: it goes on, and never back to its sender.
            parked = msgspec.structs.replace(parked, leg=Leg.REPLY)
        delivery = Delivery(route, entry, parked.partition, parked.offset, parked)
        if route.stopped and parked.leg is Leg.SUBSCRIBER:
            self._account.abandoned(delivery, "the sink is gone for good")
            return None
        if delivery.destination != parked.destination:
            self._account.moved(delivery, parked)
            return None
        return delivery

    def _entry(self, parked: Parked) -> Entry:
        if parked.entry is not None:
            return arrow.thaw(parked.entry)
        chunk = self._chunk
        # Deliveries that were parked together lie together: one chunk serves many of them.
        if (
            chunk is None
            or chunk.partition != parked.partition
            or not chunk.offset <= parked.offset < chunk.offset + chunk.batch.num_rows
        ):
            chunk = self._chunk = self._read(parked)
        return arrow.entry_at(chunk.batch, parked.offset - chunk.offset)

    def _read(self, parked: Parked) -> Chunk:
        head = self._here.desk.log.bounds()[1][parked.partition]
        end = min(parked.offset + 256, head)
        chunks = self._here.desk.log.read(Span(parked.partition, parked.offset, end))
        return next(iter(chunks))

    def _settle(self) -> None:
        account = self._account
        if not (account.finished or account.parked or account.dead):
            return
        found = replies.entries(account)
        if found:
            self._here.desk.log.append(found)
        health = [self._patient(one) for one in self._judged(account)]
        self._here.desk.ledger.settle(
            Settlement(
                self._generation,
                outcomes=rows.outcomes([rows.OutcomeRow(*row) for row in account.outcomes]),
                parked=account.parked,
                finished=account.finished,
                dead=account.dead,
                tallies=account.tallies(),
                health=health,
            )
        )
        stop(self._here.desk, account.stopped)
        self._account = Account(time.time())
        self._learn(health, account)

    def _judged(self, account: Account) -> list[Health]:
        known = {destination: lane.health for destination, lane in self._lanes.items()}
        return account.health(known, self._pace.batch_seconds)

    def _patient(self, health: Health) -> Health:
        """Call a destination up only when no more is open there than the share of retries."""
        lane = self._lanes.setdefault(health.destination, Lane(health.destination))
        lane.leaving = (
            health.state is State.UP
            and lane.health.state is State.SLOW
            and lane.open > retry_share(self._route_of(lane))
        )
        return lane.health if lane.leaving else health

    def _learn(self, health: list[Health], account: Account) -> None:
        for one in health:
            lane = self._lanes[one.destination]
            back = lane.health.state is State.DOWN and one.state is not State.DOWN
            lane.health = one
            if back:
                self._waiting.hasten(one.destination, time.time())
                self._here.gate.pacer.forget_promises()
        for parked in account.parked:
            if parked.destination in self._lanes:
                lane = self._lanes[parked.destination]
                lane.due = min(lane.due, parked.due)
            elif parked.leg is Leg.DEAD_LETTER:
                self._lanes[parked.destination] = Lane(parked.destination)


# Who is asked about a destination that no route has any more.
_NOBODY = Route("", "", Target(""))
