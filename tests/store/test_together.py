from __future__ import annotations

import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import pytest

from penstock.errors import ConflictError, PenstockError, StoreError
from penstock.ports import Change, Put
from penstock.store import SqlResourceStore
from penstock.store.together import Together


def put(key: str, expected: int | None = None) -> Put:
    return Put("route", key, b"{}", expected)


def test_writes_that_wait_are_written_together() -> None:
    started, go = threading.Event(), threading.Event()
    groups: list[int] = []

    def write_each(writes: Sequence[Sequence[Change]]) -> list[int | PenstockError]:
        groups.append(len(writes))
        started.set()
        go.wait(10)
        return list(range(len(writes)))

    together = Together(write_each)
    with ThreadPoolExecutor(6) as pool:
        first = pool.submit(together.write, [])
        started.wait(10)
        rest = [pool.submit(together.write, []) for _ in range(5)]
        while together.waiting() < 5:
            threading.Event().wait(0.001)
        go.set()
        results = [each.result() for each in (first, *rest)]

    assert groups == [1, 5]
    assert sorted(results) == [0, 0, 1, 2, 3, 4]


def test_failure_of_the_store_reaches_everyone() -> None:
    def write_each(_writes: Sequence[Sequence[Change]]) -> list[int | PenstockError]:
        raise StoreError("full", address="x")

    with pytest.raises(StoreError):
        Together(write_each).write([])


def test_one_refused_write_does_not_hurt_its_neighbours(store: SqlResourceStore) -> None:
    def write(number: int) -> int | None:
        expected = 0 if number % 3 else None
        try:
            return store.write([put(f"own{number}"), put("shared", expected)])
        except ConflictError:
            return None

    store.write([put("shared")])
    with ThreadPoolExecutor(8) as pool:
        versions = list(pool.map(write, range(24)))

    done = [number for number, version in enumerate(versions) if version is not None]
    assert done == list(range(0, 24, 3))
    assert {each.key for each in store.page("route")} == {"shared", *(f"own{n}" for n in done)}
    assert store.version() == 1 + len(done)
    assert len({version for version in versions if version}) == len(done)
