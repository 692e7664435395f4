from __future__ import annotations

import random
import threading
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any

import pytest

from penstock.errors import ConflictError, NotFoundError
from penstock.ports import Change, Check, Clear, Document, Drop, Put
from penstock.store import SqlResourceStore
from tests.log.appending import starter

State = dict[str, bytes]


def put(key: str, body: bytes = b"{}", expected: int | None = None) -> Put:
    return Put("route", key, body, expected)


def drop(key: str, expected: int | None = None) -> Drop:
    return Drop("route", key, expected)


def applied(state: State, put: list[Document], dropped: list[str]) -> State:
    kept = {key: body for key, body in state.items() if key not in dropped}
    return kept | {document.key: document.body for document in put}


def test_new_store_has_version_0_and_nothing_in_it(store: SqlResourceStore) -> None:
    assert store.version() == 0
    assert store.get("route", "a") is None
    assert store.page("route") == []


def test_what_was_put_is_got_with_the_version_that_wrote_it(store: SqlResourceStore) -> None:
    version = store.write([put("a", b"\x00body")])

    assert version == store.version() == 1
    assert store.get("route", "a") == Document("route", "a", b"\x00body", 1)


def test_put_replaces_and_each_write_makes_one_version(store: SqlResourceStore) -> None:
    store.write([put("a", b"1"), put("b", b"1")])
    store.write([put("a", b"2")])

    assert store.get("route", "a") == Document("route", "a", b"2", 2)
    assert store.get("route", "b") == Document("route", "b", b"1", 1)


def test_dropped_resource_is_gone_and_can_come_back(store: SqlResourceStore) -> None:
    store.write([put("a", b"1")])
    store.write([drop("a")])

    gone = store.get("route", "a")
    store.write([put("a", b"2", expected=0)])

    assert gone is None
    assert store.get("route", "a") == Document("route", "a", b"2", 3)


def test_kinds_do_not_see_each_other(store: SqlResourceStore) -> None:
    store.write([put("a"), Put("stream", "a", b"stream")])

    assert [found.body for found in store.page("stream")] == [b"stream"]
    assert store.changes("stream", 0, 1)[0] == [Document("stream", "a", b"stream", 1)]


def test_one_write_may_change_one_resource_twice(store: SqlResourceStore) -> None:
    store.write([put("a", b"old")])

    store.write([put("a", b"1"), put("a", b"2"), put("b", b"1"), drop("b")])

    assert store.get("route", "a") == Document("route", "a", b"2", 2)
    assert store.get("route", "b") is None
    assert store.changes("route", 0, 1)[0] == [Document("route", "a", b"old", 1)]


def test_pages_follow_the_order_of_keys(store: SqlResourceStore) -> None:
    keys = ["a", "a/b", "b", "c", "ä"]
    store.write([put(key) for key in reversed(keys)])

    first = store.page("route", limit=2)
    rest = store.page("route", after=first[-1].key)

    assert [found.key for found in first] == ["a", "a/b"]
    assert sorted(found.key for found in first + rest) == sorted(keys)


@pytest.mark.parametrize(
    ("change", "error"),
    [
        (put("a", expected=0), ConflictError),
        (put("a", expected=7), ConflictError),
        (put("b", expected=1), NotFoundError),
        (drop("a", expected=2), ConflictError),
        (drop("b"), NotFoundError),
    ],
)
def test_change_that_expects_something_else_is_refused_with_all_others(
    store: SqlResourceStore, change: Change, error: type[Exception]
) -> None:
    store.write([put("a", b"1")])

    with pytest.raises(error) as refusal:
        store.write([put("c"), change])

    assert isinstance(change, Put | Drop)
    assert refusal.value.address == f"route/{change.key}"  # type: ignore[attr-defined]
    assert [(found.key, found.body) for found in store.page("route")] == [("a", b"1")]
    assert store.version() == 1


@pytest.mark.parametrize("change", [put("a", b"2", expected=1), drop("a", expected=1)])
def test_change_of_what_was_expected_is_made(store: SqlResourceStore, change: Change) -> None:
    store.write([put("a", b"1")])

    assert store.write([change]) == 2


@pytest.mark.parametrize("seed", range(3))
def test_changes_are_what_replaying_every_write_would_give(
    store: SqlResourceStore, seed: int
) -> None:
    history = random_history(store, random.Random(seed), 25)

    for since, before in enumerate(history):
        for until in range(since, len(history)):
            found = store.changes("route", since, until)
            assert applied(before, *found) == history[until]


@pytest.mark.parametrize("seed", range(3))
def test_changes_stay_true_or_are_refused_when_old_states_are_forgotten(
    store: SqlResourceStore, seed: int
) -> None:
    history = random_history(store, random.Random(seed), 25)

    assert store.forget(12) > 0

    for since, before in enumerate(history):
        for until in range(since, len(history)):
            if until < 12 or 0 < since < 12:
                with pytest.raises(ConflictError, match="forgotten"):
                    store.changes("route", since, until)
            else:
                assert applied(before, *store.changes("route", since, until)) == history[until]


def random_history(store: SqlResourceStore, chance: random.Random, versions: int) -> list[State]:
    """Write at random; return the state after every version."""
    history: list[State] = [{}]
    for number in range(versions):
        state, changes = dict(history[-1]), list[Change]()
        for _ in range(chance.randint(1, 3)):
            key = chance.choice("abcdef")
            if key in state and chance.random() < 0.4:
                changes.append(drop(key))
                del state[key]
            else:
                state[key] = f"{number} {len(changes)}".encode()
                changes.append(put(key, state[key]))
        store.write([*changes, Put("other", chance.choice("ab"), b"")])
        history.append(state)
    return history


def test_forgetting_twice_forgets_once(store: SqlResourceStore) -> None:
    for number in range(4):
        store.write([put("a", str(number).encode())])

    assert [store.forget(3), store.forget(3), store.forget(1)] == [2, 0, 0]
    assert store.changes("route", 3, 4)[0] == [Document("route", "a", b"3", 4)]


def test_store_survives_being_closed(url: str) -> None:
    first = SqlResourceStore(url)
    first.write([put("a", b"1")])
    first.close()

    second = SqlResourceStore(url)

    assert second.version() == 1
    assert second.get("route", "a") == Document("route", "a", b"1", 1)
    second.close()


def test_threads_that_write_at_once_each_get_a_version_of_their_own(
    store: SqlResourceStore,
) -> None:
    versions = together(4, lambda number: [store.write([put(f"{number}")]) for _ in range(10)])

    assert sorted(versions) == list(range(1, 41))
    assert len(store.page("route")) == 4


def test_of_two_who_expect_the_same_version_one_wins(store: SqlResourceStore) -> None:
    store.write([put("a")])

    def race(number: int) -> list[int]:
        try:
            return [store.write([put("a", str(number).encode(), expected=1)])]
        except ConflictError:
            return []

    assert together(6, race) == [2]


def together(count: int, work: Callable[[int], list[int]]) -> list[int]:
    """Run work in threads that start at the same moment; return all results."""
    start, found = threading.Barrier(count), list[int]()

    def run(number: int) -> None:
        start.wait()
        found.extend(work(number))

    threads = [threading.Thread(target=run, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found


@pytest.mark.network
def test_processes_that_open_and_write_at_once_each_get_versions_of_their_own(url: str) -> None:
    context = starter()
    start, count = context.Barrier(3), 3
    pipes = [context.Pipe(duplex=False) for _ in range(count)]
    workers = [context.Process(target=write_some, args=(url, start, sender)) for _, sender in pipes]
    for worker in workers:
        worker.start()
    versions = [version for receiver, _ in pipes for version in receiver.recv()]
    for worker in workers:
        worker.join()

    assert sorted(versions) == list(range(1, 31))


def write_some(url: str, start: Any, answers: Connection) -> None:  # noqa: ANN401
    start.wait()
    store = SqlResourceStore(url)
    answers.send([store.write([put("a")]) for _ in range(10)])
    store.close()


def test_page_and_count_keep_to_a_prefix(store: SqlResourceStore) -> None:
    store.write([put(key) for key in ("a/1", "a/2", "a/Ü", "a0", "a", "b/1", "a-/1")])

    found = store.page("route", prefix="a/")

    assert [document.key for document in found] == ["a/1", "a/2", "a/Ü"]
    assert store.count("route", "a/") == 3
    assert [each.key for each in store.page("route", "a/1", 1, "a/")] == ["a/2"]


def test_clear_removes_what_starts_with_a_prefix_and_nothing_else(store: SqlResourceStore) -> None:
    store.write([put("a/1"), put("a/2"), put("b")])

    version = store.write([put("a/3"), Clear("route", "a/"), put("a/4")])

    assert [document.key for document in store.page("route")] == ["a/4", "b"]
    assert store.changes("route", 1, version)[1] == ["a/1", "a/2"]
    assert {each.key for each in store.changes("route", 0, 1)[0]} == {"a/1", "a/2", "b"}


def test_check_refuses_the_whole_write_when_something_else_changed(
    store: SqlResourceStore,
) -> None:
    before = store.write([put("a")])
    store.write([put("b"), Check("route", "a", before), Check("route", "none", 0)])
    store.write([put("a", b"2")])

    with pytest.raises(ConflictError):
        store.write([put("c"), Check("route", "a", before)])
    assert [document.key for document in store.page("route")] == ["a", "b"]
