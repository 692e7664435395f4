"""Answers turned into what the ledger writes: one account per batch, or per group of retries."""

from __future__ import annotations

import msgspec

from penstock.delivery import health as healths
from penstock.delivery.health import Sample
from penstock.delivery.judge import Outcome, cause, judge, retry_after
from penstock.delivery.policy import deadline, next_attempt
from penstock.events.entry import Entry
from penstock.formats import arrow
from penstock.ports import Dead, Health, Leg, Parked, Response, Tally
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
        if self.leg is Leg.DEAD_LETTER:
            return self.route.policy.dead_letter or ""
        return self.route.target.uri

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

    def settled(self, delivery: Delivery, response: Response) -> None:
        """Take the answer to one attempt."""
        if delivery.parked is not None and delivery.attempts:
            self._sum(delivery).retried += 1
        outcome = judge(delivery.route.rules, response)
        self._sample(delivery, response, outcome)
        if outcome is Outcome.DELIVERED:
            self._delivered(delivery, response)
            return
        self._failed(delivery, response, outcome)

    def unfinished(self, delivery: Delivery) -> None:
        """Take note of an attempt that was cut off: it counts for nothing and is made again."""
        self._sight(delivery).unfinished += 1
        self.held(delivery, self.now)

    def held(self, delivery: Delivery, until: float) -> None:
        """Park a delivery without an attempt."""
        parked = self._waiting(delivery, max(until, self.now), delivery.attempts, 0, _HELD)
        self._park(delivery, parked, 0)

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
        answer = Response(200, error=f"it is number {reply.hops} in a chain of replies")
        self._sum(delivery).dead += 1
        self._bury(msgspec.structs.replace(delivery, entry=reply), answer, 0)

    def _delivered(self, delivery: Delivery, response: Response) -> None:
        self.answered.append((delivery, response))
        self._finish(delivery)
        self._note(delivery, DELIVERED, response.status, delivery.attempts + 1)
        if delivery.leg is Leg.SUBSCRIBER:
            found = self._sum(delivery)
            found.delivered += 1
            found.last_success = self.now

    def _failed(self, delivery: Delivery, response: Response, outcome: Outcome) -> None:
        policy = delivery.route.policy
        attempts = delivery.attempts + 1
        first = deadline(policy, self.now) if delivery.parked is None else delivery.parked.deadline
        due = None
        if outcome is Outcome.RETRY:
            asked = retry_after(response, self.now)
            due = next_attempt(policy, attempts, self.now, first, asked)
        if due is None:
            self._die(delivery, response, attempts)
            # A dead letter sink that is gone says nothing of the subscriber.
            if outcome is Outcome.STOPPED and delivery.leg is Leg.SUBSCRIBER:
                self.stopped.append(delivery.route.id)
            return
        parked = self._waiting(delivery, due, attempts, response.status, cause(response))
        self._park(delivery, parked, response.status)
        self._sum(delivery).failed(cause(response), self.now)

    def _die(self, delivery: Delivery, response: Response, attempts: int) -> None:
        self._finish(delivery)
        if delivery.leg is Leg.DEAD_LETTER:
            return  # KA-08: a dead letter is never dead-lettered again; it is in the list already.
        self._note(delivery, DEAD, response.status, attempts)
        self._sum(delivery).dead += 1
        self._sum(delivery).failed(cause(response), self.now)
        self._bury(delivery, response, attempts)

    def _bury(self, delivery: Delivery, response: Response, attempts: int) -> None:
        """Keep the event with the cause, and send it to the dead letter sink if there is one."""
        self.dead.append(
            Dead(
                delivery.route.id,
                delivery.destination,
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
                entry=arrow.freeze(delivery.entry),
            )
        )

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
            if delivery.leg is Leg.SUBSCRIBER:
                self._sum(delivery).parked -= 1

    def _note(self, delivery: Delivery, outcome: int, status: int, attempts: int) -> None:
        if delivery.leg is Leg.SUBSCRIBER:
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

    def failed(self, why: str, now: float) -> None:
        self.last_error, self.last_error_at = why, now

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
