"""How many deliveries one claim may take for a destination, and how far ahead of their time."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from penstock.routing.route import Handling, Route


class Bulk(msgspec.Struct, frozen=True):
    """What all routes to one destination allow: events per request, seconds ahead of time."""

    size: int = 1
    linger: float = 0.0


ONE = Bulk()
_PLAIN = Handling()


def bulks(routes: Iterable[Route]) -> dict[str, Bulk]:
    """Return the destinations whose routes all send batches; any other takes one at a time."""
    found: dict[str, Bulk] = {}
    for route in routes:
        handling = route.target.handling or _PLAIN
        mine = Bulk(max(handling.batch, 1), handling.linger)
        known = found.get(route.target.uri, mine)
        found[route.target.uri] = Bulk(min(mine.size, known.size), min(mine.linger, known.linger))
    return {uri: bulk for uri, bulk in found.items() if bulk != ONE}
