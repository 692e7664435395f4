"""Answers turned into what the ledger writes: one account per batch, or per group of retries."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from penstock.delivery import health as healths
from penstock.delivery import letters
from penstock.delivery.health import Sample
from penstock.delivery.judge import Outcome, cause, is_apart, judge, retry_after
from penstock.delivery.policy import deadline, next_attempt
from penstock.events.entry import Entry
from penstock.formats import arrow
from penstock.ports import SHELVED, Dead, Health, Leg, Onward, Parked, Response, Tally
from penstock.routing.route import Route

DELIVERED, PARKED, DEAD = 0, 1, 2
_HELD = "the destination is not up; the delivery waits for it"


class Delivery(msgspec.Struct, frozen=True):
    """One event on its way to one route."""

    route: Route
    entry: Entry
    partition: int
    offset: int
    parked: Parked | None = None
    """How it waited, if it did."""

    @property
    def leg(self) -> Leg:
        return Leg.SUBSCRIBER if self.parked is None else self.parked.leg

    @property
    def destination(self) -> str:
        return self.route.address(self.leg)

    @property
    def attempts(self) -> int:
        return 0 if self.parked is None else self.parked.attempts


class Account:
    """Adds up answers; reading it twice gives the same."""

    def __init__(self, now: float) -> None:
        self.now = now
        self.outcomes: list[tuple[int, int, str, int, int, int, int]] = []
        self.parked: list[Parked] = []
        self.dead: list[Dead] = []
        self.finished: list[int] = []
        self.stopped: list[str] = []
        self.answered: list[tuple[Delivery, Response]] = []
        self._sums: dict[str, _Sum] = {}
        self._samples: dict[str, _Sight] = {}

    def tallies(self) -> list[Tally]:
        return [found.tally(route) for route, found in self._sums.items()]

    def health(self, known: dict[str, Health], patience: float) -> list[Health]:
        """Return the destinations whose health is other than it was."""
        changed = []
        for destination, sight in self._samples.items():
            before = known.get(destination, Health(destination))
            after = healths.after(before, sight.sample(), self.now, patience)
            if msgspec.structs.replace(after, cause="") != msgspec.structs.replace(
                before, cause=""
            ):
                changed.append(after)
        return changed

    def matched(self, route: Route) -> None:
        """Take note that an event goes to a route."""
        found = self._sums.get(route.id)
        if found is None:
            found = self._sums[route.id] = _Sum()
        found.matched += 1

    def settled(self, delivery: Delivery, response: Response, *, seen: bool = False) -> None:
        """Take the answer to one attempt; `seen` where the destination was judged by it already."""
        if delivery.parked is not None and delivery.attempts:
            self._sum(delivery).retried += 1
        outcome = judge(delivery.route.rules, response)
        if not seen:
            self._sample(delivery, response, outcome)
        if response.onward is not None and outcome is Outcome.DELIVERED:
            self._sent_on(delivery, response, response.onward)
        elif outcome is Outcome.DELIVERED:
            self._delivered(delivery, response)
        else:
            self._failed(delivery, response, outcome)

    def settled_together(self, deliveries: Sequence[Delivery], response: Response) -> None:
        """Take the answer to a request that carried several deliveries of one route."""
        first = deliveries[0]
        if len(deliveries) > 1 and is_apart(response.status):
            self._sample(first, response, judge(first.route.rules, response))
            for delivery in deliveries:
                self._part(delivery, response)
            return
        for delivery in deliveries:
            self.settled(delivery, response, seen=delivery is not first)

    def unfinished(self, delivery: Delivery) -> None:
        """Take note of an attempt that was cut off: it counts for nothing and is made again."""
        self._sight(delivery).unfinished += 1
        self.held(delivery, self.now)

    def held(self, delivery: Delivery, until: float) -> None:
        """Park a delivery without an attempt."""
        parked = self._waiting(delivery, max(until, self.now), delivery.attempts, 0, _HELD)
        self._park(delivery, parked, 0)

    def waits(self, delivery: Delivery, until: float, why: str) -> None:
        """Park a delivery that waits for something else than its destination, for a day at most."""
        parked = self._kept(delivery, until, why)
        if delivery.parked is None:
            last = max(parked.deadline, self.now + delivery.route.policy.span)
            parked = msgspec.structs.replace(parked, deadline=last)
        self._park(delivery, parked, 0)

    def paced(self, delivery: Delivery, until: float, why: str) -> None:
        """Park a delivery until its turn; its schedule starts only then."""
        parked = self._kept(delivery, until, why)
        last = max(parked.deadline, deadline(delivery.route.policy, until))
        self._park(delivery, msgspec.structs.replace(parked, deadline=last), 0)

    def barred(self, delivery: Delivery, until: float, why: str) -> None:
        """Let a delivery wait as `waits` does, and show the reason in the status of its route."""
        self.waits(delivery, until, why)
        self._sum(delivery).failed(why, self.now)

    def shelved(self, delivery: Delivery) -> None:
        """Park a delivery until its route is resumed."""
        parked = self._waiting(delivery, self.now, delivery.attempts, 0, "")
        self._park(delivery, shelved(parked, self.now), 0)

    def moved(self, delivery: Delivery, parked: Parked) -> None:
        """Let a delivery wait for the address that its route has by now."""
        self.parked.append(
            msgspec.structs.replace(parked, destination=delivery.destination, due=self.now)
        )

    def abandoned(self, delivery: Delivery, why: str) -> None:
        """Give up a delivery without another attempt."""
        status = delivery.parked.status if delivery.parked else 0
        last = f"; last: {delivery.parked.cause}" if delivery.parked else ""
        self._die(delivery, Response(status, error=f"{why}{last}"), delivery.attempts)

    def looped(self, delivery: Delivery, reply: Entry) -> None:
        """Give up a reply at the end of a long chain of replies (KA-38)."""
        answer = Response(0, error=f"it is number {reply.hops} in a chain of replies")
        self._sum(delivery).dead += 1
        self._bury(msgspec.structs.replace(delivery, entry=reply), answer, 0)

    def _part(self, delivery: Delivery, response: Response) -> None:
        """Park a delivery to be sent again on its own, which its status tells."""
        why = f"the batch was refused with {response.status}; its events are sent one by one"
        parked = self._waiting(delivery, self.now, delivery.attempts, response.status, why)
        self._park(delivery, parked, response.status)
        self._sum(delivery).failed(why, self.now, response.status)

    def _kept(self, delivery: Delivery, until: float, why: str) -> Parked:
        status = 0 if delivery.parked is None else delivery.parked.status
        return self._waiting(delivery, max(until, self.now), delivery.attempts, status, why)

    def _delivered(self, delivery: Delivery, response: Response) -> None:
        self.answered.append((delivery, response))
        self._finish(delivery)
        self._note(delivery, DELIVERED, response.status, delivery.attempts + 1)
        if delivery.leg is not Leg.DEAD_LETTER:
            found = self._sum(delivery)
            found.delivered += 1
            found.last_success = self.now

    def _sent_on(self, delivery: Delivery, response: Response, onward: Onward) -> None:
        """Take what became of a reply: while it can be retried, the whole delivery is (KN-095)."""
        outcome = judge(delivery.route.rules, onward.response)
        if outcome is Outcome.DELIVERED:
            self._delivered(delivery, response)
            return
        answer = onward.response
        why = f"the reply could not be delivered to {delivery.route.reply_to}: {cause(answer)}"
        answer = msgspec.structs.replace(answer, error=why, onward=onward)
        hops, received = delivery.entry.hops + 1, int(self.now * 1_000_000)
        reply = Entry(delivery.entry.stream, onward.event, received, hops)
        if outcome is Outcome.RETRY:
            self._failed(delivery, answer, outcome, reply)
            return
        # KA-06: what was asked for was done; only the reply is dead.
        self._delivered(delivery, response)
        self._sum(delivery).dead += 1
        self._sum(delivery).failed(why, self.now, answer.status)
        self._bury(msgspec.structs.replace(delivery, entry=reply), answer, delivery.attempts + 1)

    def _failed(
        self,
        delivery: Delivery,
        response: Response,
        outcome: Outcome,
        reply: Entry | None = None,
    ) -> None:
        policy = delivery.route.policy
        attempts = delivery.attempts + 1
        first = deadline(policy, self.now) if delivery.parked is None else delivery.parked.deadline
        due = None
        if outcome is Outcome.RETRY:
            asked = retry_after(response, self.now)
            due = next_attempt(policy, attempts, self.now, first, asked)
        if due is None:
            # KA-05: where the reply was what failed at last, the reply is dead.
            lost = delivery if reply is None else msgspec.structs.replace(delivery, entry=reply)
            self._die(lost, response, attempts)
            # A dead letter sink that is gone says nothing of the subscriber.
            if outcome is Outcome.STOPPED and delivery.leg is Leg.SUBSCRIBER:
                self.stopped.append(delivery.route.id)
            return
        parked = self._waiting(delivery, due, attempts, response.status, cause(response))
        self._park(delivery, parked, response.status)
        self._sum(delivery).failed(cause(response), self.now, response.status)

    def _die(self, delivery: Delivery, response: Response, attempts: int) -> None:
        self._finish(delivery)
        if delivery.leg is Leg.DEAD_LETTER:
            return  # KA-08: a dead letter is never dead-lettered again; it is in the list already.
        self._note(delivery, DEAD, response.status, attempts)
        self._sum(delivery).dead += 1
        self._sum(delivery).failed(cause(response), self.now, response.status)
        self._bury(delivery, response, attempts)

    def _bury(self, delivery: Delivery, response: Response, attempts: int) -> None:
        """Keep the event with the cause, and send it to the dead letter sink if there is one."""
        self.dead.append(
            Dead(
                delivery.route.id,
                _lost_at(delivery, response),
                delivery.partition,
                delivery.offset,
                attempts,
                response.status,
                cause(response),
                self.now,
                arrow.freeze(delivery.entry),
            )
        )
        if delivery.route.policy.dead_letter:
            self._letter(delivery, response)

    def _letter(self, delivery: Delivery, response: Response) -> None:
        policy = delivery.route.policy
        self.parked.append(
            Parked(
                delivery.route.id,
                policy.dead_letter or "",
                delivery.partition,
                delivery.offset,
                self.now,
                deadline(policy, self.now),
                leg=Leg.DEAD_LETTER,
                status=response.status,
                cause=cause(response),
                entry=arrow.freeze(self._marked(delivery, response)),
            )
        )

    def _marked(self, delivery: Delivery, response: Response) -> Entry:
        where = _lost_at(delivery, response)
        return letters.marked(delivery.entry, delivery.route.rules, where, response)

    def _waiting(
        self, delivery: Delivery, due: float, attempts: int, status: int, why: str
    ) -> Parked:
        if delivery.parked is not None:
            return msgspec.structs.replace(
                delivery.parked, due=due, attempts=attempts, status=status, cause=why
            )
        return Parked(
            delivery.route.id,
            delivery.destination,
            delivery.partition,
            delivery.offset,
            due,
            deadline(delivery.route.policy, self.now),
            attempts,
            status=status,
            cause=why,
        )

    def _park(self, delivery: Delivery, parked: Parked, status: int) -> None:
        self.parked.append(parked)
        if delivery.parked is None:
            self._note(delivery, PARKED, status, parked.attempts)
            self._sum(delivery).parked += 1

    def _finish(self, delivery: Delivery) -> None:
        if delivery.parked is not None:
            self.finished.append(delivery.parked.id)
            if delivery.leg is not Leg.DEAD_LETTER:
                self._sum(delivery).parked -= 1

    def _note(self, delivery: Delivery, outcome: int, status: int, attempts: int) -> None:
        if delivery.leg is not Leg.DEAD_LETTER:
            self.outcomes.append(
                (
                    delivery.partition,
                    delivery.offset,
                    delivery.route.id,
                    outcome,
                    status,
                    attempts,
                    int(self.now * 1_000_000),
                )
            )

    def _sum(self, delivery: Delivery) -> _Sum:
        found = self._sums.get(delivery.route.id)
        if found is None:
            found = self._sums[delivery.route.id] = _Sum()
        return found

    def _sight(self, delivery: Delivery) -> _Sight:
        found = self._samples.get(delivery.destination)
        if found is None:
            found = self._samples[delivery.destination] = _Sight()
        return found

    def _sample(self, delivery: Delivery, response: Response, outcome: Outcome) -> None:
        if response.ours:
            return
        sight = self._sight(delivery)
        if outcome is not Outcome.RETRY:
            sight.delivered += 1
            sight.slowest = max(sight.slowest, response.elapsed)
            return
        if response.status:
            sight.refused += 1
        else:
            sight.failed += 1
        sight.retry_after = max(sight.retry_after, retry_after(response, self.now))
        sight.cause = cause(response)


def shelved(parked: Parked, now: float) -> Parked:
    """Return a delivery as it waits for a resume: never due, with the time it has left."""
    left = parked.deadline - (SHELVED if parked.deadline >= SHELVED else now)
    return msgspec.structs.replace(parked, due=SHELVED, deadline=SHELVED + max(left, 0.0))


def _lost_at(delivery: Delivery, response: Response) -> str:
    """Return where an event could not go: a reply is lost elsewhere than at the subscriber."""
    return delivery.destination if response.onward is None else delivery.route.address(Leg.REPLY)


class _Sum(msgspec.Struct):
    """What is added up for a route; mutable, because it changes with every delivery."""

    matched: int = 0
    delivered: int = 0
    parked: int = 0
    dead: int = 0
    retried: int = 0
    last_success: float | None = None
    last_error: str | None = None
    last_error_at: float | None = None
    last_status: int | None = None

    def failed(self, why: str, now: float, status: int = 0) -> None:
        self.last_error, self.last_error_at, self.last_status = why, now, status

    def tally(self, route: str) -> Tally:
        return Tally(route, *msgspec.structs.astuple(self))


class _Sight(msgspec.Struct):
    """What is seen of a destination; mutable for the same reason."""

    delivered: int = 0
    failed: int = 0
    refused: int = 0
    unfinished: int = 0
    slowest: float = 0.0
    retry_after: float = 0.0
    cause: str = ""

    def sample(self) -> Sample:
        return Sample(*msgspec.structs.astuple(self))
