from __future__ import annotations

import pickle
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from penstock import runtime
from penstock.config import Settings
from penstock.pipeline.homes import Hook
from penstock.ports import Parked, Settlement
from tests.log.entries import ids, some
from tests.pipeline.plant import Plant, plant
from tests.routing.routes import a_route


@pytest.fixture
def works(tmp_path: Path) -> Iterator[Plant]:
    with plant(tmp_path) as made:
        made.ledger.begin()
        yield made


def old(works: Plant, *firsts: int) -> None:
    """Append three events each, all older than they may become."""
    for first in firsts:
        works.append(some(range(first, first + 3)))
    works.log._connection.execute("UPDATE batches SET appended = 1")  # noqa: SLF001


def trimmed(works: Plant) -> list[int]:
    runtime.trim(works.settings, works.log, works.ledger, works.store)
    return ids(works.log)


def settled(works: Plant, position: int, *waiting: int) -> None:
    parked = [Parked("r", "http://x/", 0, offset, 0.0, 0.0) for offset in waiting]
    works.ledger.settle(Settlement(1, position=(position,), parked=parked))


def test_nothing_is_trimmed_before_the_first_settlement(works: Plant) -> None:
    old(works, 0)

    assert trimmed(works) == [0, 1, 2]


def test_old_events_that_are_settled_are_trimmed(works: Plant) -> None:
    old(works, 0, 3)
    settled(works, 6)

    assert trimmed(works) == []


def test_old_events_that_are_not_settled_are_kept(works: Plant) -> None:
    old(works, 0, 3, 6)
    settled(works, 5)

    assert trimmed(works) == [3, 4, 5, 6, 7, 8]


def test_old_events_that_a_parked_delivery_needs_are_kept(works: Plant) -> None:
    old(works, 0, 3, 6)
    settled(works, 9, 4)

    assert trimmed(works) == [3, 4, 5, 6, 7, 8]


def test_young_events_are_kept_however_well_they_are_settled(works: Plant) -> None:
    works.append(some(range(3)))
    settled(works, 3)

    assert trimmed(works) == [0, 1, 2]


def test_too_many_bytes_are_trimmed_from_the_oldest_on(works: Plant) -> None:
    for number in range(4):
        works.append(some([number], data=bytes(600_000)))
    settled(works, 4)
    small = msgspec.structs.replace(works.settings, retention_bytes=1 << 20)

    runtime.trim(small, works.log, works.ledger, works.store)

    assert ids(works.log) == [3]


def test_old_events_that_a_pause_still_needs_are_kept(works: Plant) -> None:
    old(works, 0, 3, 6)
    works.ledger.plan((4,), (9,), works.put(a_route().hold()))
    settled(works, 9)

    assert trimmed(works) == [3, 4, 5, 6, 7, 8]


def test_pause_does_not_keep_more_than_the_log_may_hold(works: Plant) -> None:
    for number in range(4):
        works.append(some([number], data=bytes(600_000)))
    works.ledger.plan((0,), (4,), works.put(a_route().hold()))
    settled(works, 4)
    small = msgspec.structs.replace(works.settings, retention_bytes=1 << 20)

    runtime.trim(small, works.log, works.ledger, works.store)

    assert ids(works.log) == [3]


def test_clock_of_the_machine_is_the_time() -> None:
    assert abs(runtime.SystemClock().now() - time.time()) < 1.0


@pytest.mark.parametrize(
    ("settings", "xdg", "expected"),
    [
        (Settings(), "/conf", "/conf/penstock/penstock.key"),
        (Settings(), "", "/home/me/.config/penstock/penstock.key"),
        (Settings(), "relative", "/home/me/.config/penstock/penstock.key"),
        (Settings(key_file="/keys/mine"), "/conf", "/keys/mine"),
        (Settings(key_file="~/mine"), "/conf", "/home/me/mine"),
    ],
)
def test_keys_lie_apart_from_the_data(
    settings: Settings, xdg: str, expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", "/home/me")
    monkeypatch.setenv("XDG_CONFIG_HOME", xdg)

    assert runtime.key_file(settings) == Path(expected)


@pytest.mark.parametrize(
    ("settings", "origin", "callback"),
    [
        (Settings(origin="a.example"), "a.example", ""),
        (Settings(url="https://b.example:8/x/"), "b.example", "https://b.example:8/x/permissions"),
        (Settings(), socket.gethostname(), ""),
    ],
)
def test_sinks_are_told_who_asks(settings: Settings, origin: str, callback: str) -> None:
    assert runtime.hook(settings) == Hook(origin, callback)


def test_keys_are_no_part_of_what_spark_carries(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PENSTOCK_KEY", "s3cret")

    assert b"s3cret" not in pickle.dumps(runtime.homes(Settings()))
