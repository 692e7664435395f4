"""Ten thousand subscriptions: a change of one costs routing no more than a change of one."""

from __future__ import annotations

import itertools
import time

import msgspec
import pytest

from penstock.events import event
from penstock.pipeline.homes import desk
from penstock.pipeline.worker import Worker
from penstock.ports import Put
from penstock.routing import DEFAULT, STREAM
from penstock.subscriptions import SubscriptionManager
from tests.pipeline.plant import Plant
from tests.routing.routes import a_route

MANY = 10_000
SECONDS = 2.0
LEAST = {"protocol": "HTTP", "sink": "http://127.0.0.1:9/"}


def matched(here: Worker, version: int, type_: str) -> set[str]:
    found = here.index(version).matches(DEFAULT.key, event(type=type_, source="/s"))
    return {route.id for route in found}


@pytest.fixture
def manager(works: Plant) -> SubscriptionManager:
    numbers = itertools.count()
    works.store.write([Put(STREAM, DEFAULT.key, msgspec.json.encode(DEFAULT))])
    return SubscriptionManager(works.store, works.log, lambda: f"mine-{next(numbers)}")


def test_update_among_many_is_soon_visible_to_routing(
    works: Plant, manager: SubscriptionManager
) -> None:
    others = [a_route(f"r{number}", types=(f"t{number}",)) for number in range(MANY)]
    works.put(*others)
    made = manager.create(DEFAULT.key, {**LEAST, "types": ["old"]})
    here = Worker(desk(works.homes))
    assert matched(here, made.version, "old") == {made.id}

    changed = manager.update(DEFAULT.key, made.id, {**LEAST, "types": ["new"]})
    since = time.perf_counter()
    after = (matched(here, changed.version, "old"), matched(here, changed.version, "new"))

    assert after == (set(), {made.id})
    assert time.perf_counter() - since < SECONDS
    assert matched(here, changed.version, "t17") == {"r17"}
