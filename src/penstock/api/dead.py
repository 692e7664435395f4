"""Dead letters: look at them, send them again, throw them away."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

import msgspec
from starlette.responses import Response
from starlette.routing import Route

from penstock.api.resource import Call, Resource, json
from penstock.bindings import Mode, http
from penstock.control import Control
from penstock.delivery import deadline
from penstock.errors import ConflictError, NotFoundError, Problem, ResourceError
from penstock.formats import arrow
from penstock.ports import Dead
from penstock.routing import ROUTE
from penstock.routing import Route as EventRoute

_PAGE = 100
_MOST = 1_000
_LARGEST = (1 << 63) - 1


def routes(control: Control) -> Sequence[Route]:
    """Return the routes below /dead."""
    facade = _DeadLetters(control)
    return (
        Route("/dead", Resource(control.url, GET=facade.query)),
        Route("/dead/retry", Resource(control.url, POST=facade.retry_many)),
        Route("/dead/{number}", Resource(control.url, GET=facade.retrieve, DELETE=facade.delete)),
        Route("/dead/{number}/retry", Resource(control.url, POST=facade.retry)),
    )


class _DeadLetters:
    def __init__(self, control: Control) -> None:
        self._control = control
        self._dead = control.dead

    def query(self, call: Call) -> Response:
        limit = call.number("limit", _PAGE, 1, _MOST) or _PAGE
        before = call.number("before", None, 1, _LARGEST)
        found = self._dead.page(before, limit + 1, call.query.get("route"))
        page = found[:limit]
        link = dict([call.link(before=page[-1].id)]) if len(found) > limit else {}
        return json([_summary(dead) for dead in page], headers=link)

    def retrieve(self, call: Call) -> Response:
        dead = self._find(call.names["number"])
        event = arrow.thaw(dead.entry).event
        document = msgspec.Raw(http.write(event, Mode.STRUCTURED).body)
        return json({**_summary(dead), "event": document})

    def delete(self, call: Call) -> Response:
        dead = self._find(call.names["number"])
        self._dead.drop([dead.id])
        return json(_summary(dead))

    def retry(self, call: Call) -> Response:
        dead = self._find(call.names["number"])
        if self._route(dead.route) is None:
            raise ConflictError(_gone(dead), address=str(dead.id))
        return json({"retried": self._send_again([dead])}, 202)

    def retry_many(self, call: Call) -> Response:
        numbers = _numbers(call.document())
        found = [dead for number in numbers if (dead := self._dead.get(number)) is not None]
        kept = {dead.route: self._route(dead.route) is not None for dead in found}
        why = {dead.id: _gone(dead) for dead in found if not kept[dead.route]}
        known = {dead.id for dead in found}
        why |= {number: _missing(number) for number in numbers if number not in known}
        skipped = [{"number": number, "why": reason} for number, reason in sorted(why.items())]
        retried = self._send_again(dead for dead in found if kept[dead.route])
        return json({"retried": retried, "skipped": skipped}, 202)

    def _send_again(self, found: Iterable[Dead]) -> int:
        numbers: dict[str, list[int]] = defaultdict(list)
        for dead in found:
            numbers[dead.route].append(dead.id)
        now = self._control.clock.now()
        return sum(
            self._dead.retry(some, now, deadline(route.policy, now))
            for key, some in numbers.items()
            if (route := self._route(key)) is not None
        )

    def _route(self, key: str) -> EventRoute | None:
        found = self._control.store.get(ROUTE, key)
        return None if found is None else msgspec.json.decode(found.body, type=EventRoute)

    def _find(self, number: str) -> Dead:
        known = number.isascii() and number.isdigit() and int(number) <= _LARGEST
        dead = self._dead.get(int(number)) if known else None
        if dead is None:
            raise NotFoundError(_missing(number), address=number)
        return dead


def _numbers(document: object) -> list[int]:
    numbers = document.get("numbers") if isinstance(document, dict) else None
    if not isinstance(numbers, list):
        raise ResourceError([Problem("numbers", "must be an array of numbers")])
    problems = [
        Problem(f"numbers[{index}]", "must be a whole number")
        for index, number in enumerate(numbers)
        if not isinstance(number, int) or isinstance(number, bool) or abs(number) > _LARGEST
    ]
    if len(numbers) > _MOST:
        problems.append(Problem("numbers", f"must not be more than {_MOST} at once"))
    if problems:
        raise ResourceError(problems)
    return list(dict.fromkeys(numbers))


def _missing(number: object) -> str:
    return f"there is no dead letter {number}"


def _gone(dead: Dead) -> str:
    return f"route {dead.route} is gone, so there is nobody to send dead letter {dead.id} to"


def _summary(dead: Dead) -> dict[str, object]:
    at = datetime.fromtimestamp(dead.at, UTC).isoformat(timespec="milliseconds")
    return {
        "number": dead.id,
        "route": dead.route,
        "destination": dead.destination,
        "attempts": dead.attempts,
        "status": dead.status,
        "cause": dead.cause,
        "at": at.replace("+00:00", "Z"),
    }
