"""A catalogue on a real store, with a clock that stands still."""

from __future__ import annotations

import itertools
import uuid
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from penstock.discovery import Advertisement, Services
from penstock.store import SqlResourceStore
from penstock.testing import FakeClock

BASE = "http://events.example.com"
HERE = f"{BASE}/subscriptions"
SAYS = Advertisement(
    name="penstock",
    description="Events of this server.",
    protocols=("HTTP",),
    specversions=("0.2", "1.0"),
    config={"startfrom": "String"},
    stream="brokers/default/default",
)


@dataclass(frozen=True, slots=True)
class Kept:
    """A catalogue with what is behind it."""

    services: Services
    store: SqlResourceStore
    clock: FakeClock


def a_service(name: str = "widgets", **more: object) -> dict[str, Any]:
    return {
        "name": name,
        "specversions": ["1.0"],
        "subscriptionurl": "https://elsewhere.example.com/subscriptions",
        "protocols": ["HTTP"],
        **more,
    }


@contextmanager
def catalogue(folder: Path, says: Advertisement = SAYS) -> Iterator[Kept]:
    numbers = itertools.count(1)
    clock = FakeClock()
    with closing(SqlResourceStore(f"sqlite:///{folder / 'store.db'}")) as store:
        services = Services(store, clock, lambda: str(uuid.UUID(int=next(numbers))), says)
        yield Kept(services, store, clock)
