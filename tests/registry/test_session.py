from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from penstock.errors import ConflictError
from penstock.registry.entities import GROUP, Group
from penstock.registry.session import Session
from penstock.store import SqlResourceStore


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqlResourceStore]:
    opened = SqlResourceStore(f"sqlite:///{tmp_path / 'store.db'}")
    yield opened
    opened.close()


def group(id_: str, epoch: int = 1) -> Group:
    return Group(id_, {}, epoch, "", "")


def put(store: SqlResourceStore, *keys: str) -> None:
    session = Session(store)
    for key in keys:
        session.put(GROUP, key, group(key))
    session.commit()


def test_session_sees_its_own_changes_before_they_are_written(store: SqlResourceStore) -> None:
    put(store, "a/1")
    session = Session(store)

    session.put(GROUP, "a/2", group("new"))
    session.drop(GROUP, "a/1")

    assert (session.group("a/1"), session.group("a/2")) == (None, group("new"))
    assert store.count(GROUP) == 1
    session.commit()
    assert [each.key for each in store.page(GROUP)] == ["a/2"]


def test_what_somebody_else_changed_meanwhile_is_not_overwritten(store: SqlResourceStore) -> None:
    put(store, "a")
    slow = Session(store)
    slow.put(GROUP, "a", group("slow"))
    put(store, "a")

    with pytest.raises(ConflictError):
        slow.commit()
    assert Session(store).group("a") == group("a")


def test_guarded_entity_must_stay_as_it_was_read(store: SqlResourceStore) -> None:
    put(store, "a")
    session = Session(store)
    session.group("a")
    session.guard(GROUP, "a")
    session.put(GROUP, "a/b", group("b"))
    put(store, "a")

    with pytest.raises(ConflictError):
        session.commit()
    assert store.count(GROUP) == 1


def test_cleared_prefix_hides_and_removes_what_is_below(store: SqlResourceStore) -> None:
    put(store, "a/1", "a/2", "b")
    session = Session(store)

    session.clear(GROUP, "a/")
    session.put(GROUP, "a/3", group("3"))

    assert session.group("a/1") is None
    session.commit()
    assert [each.key for each in store.page(GROUP)] == ["a/3", "b"]


def test_session_without_changes_writes_nothing(store: SqlResourceStore) -> None:
    put(store, "a")
    session = Session(store)
    session.group("a")

    session.commit()

    assert store.version() == 1
