from __future__ import annotations

import pytest

from penstock.pipeline.bulk import Bulk, bulks
from penstock.routing import Handling, Route, Target

SINK = "https://sink.example/"


def a_route(handling: Handling | None) -> Route:
    return Route("r", "s", Target(SINK, handling=handling))


@pytest.mark.parametrize(
    ("handlings", "bulk"),
    [
        ([Handling(batch=10, linger=1.0)], Bulk(10, 1.0)),
        ([Handling(batch=10, linger=1.0), Handling(batch=5, linger=2.0)], Bulk(5, 1.0)),
        ([Handling(batch=10, linger=1.0), None], None),
        ([Handling(batch=10), Handling(rate=1.0)], None),
        ([None], None),
    ],
)
def test_destination_takes_what_all_its_routes_allow(
    handlings: list[Handling | None], bulk: Bulk | None
) -> None:
    assert bulks(map(a_route, handlings)) == ({} if bulk is None else {SINK: bulk})
