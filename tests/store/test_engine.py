from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from penstock.errors import StoreError
from penstock.ports import Settlement, Tally
from penstock.store import SqlDeadLetters, SqlLedger, SqlResourceStore
from tests.store import postgres

KINDS = [SqlResourceStore, SqlLedger, SqlDeadLetters]


@pytest.mark.parametrize("kind", KINDS)
def test_file_of_something_else_is_an_error_of_the_store(
    kind: type[SqlResourceStore | SqlLedger | SqlDeadLetters], tmp_path: Path
) -> None:
    path = tmp_path / "store.db"
    path.write_bytes(b"no database at all" * 1_000)

    with pytest.raises(StoreError, match="not a database") as refusal:
        kind(f"sqlite:///{path}")

    assert refusal.value.address == f"sqlite:///{path}"
    assert refusal.value.__cause__ is not None


def test_damaged_file_is_an_error_of_the_store(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    ledger = SqlLedger(f"sqlite:///{path}")
    ledger.begin()
    ledger.close()
    path.write_bytes(path.read_bytes()[:100] + bytes(path.stat().st_size - 100))

    with pytest.raises(StoreError):
        SqlLedger(f"sqlite:///{path}")


def test_tables_of_an_older_version_get_what_came_later(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    with closing(sqlite3.connect(path)) as older:
        older.execute(
            "CREATE TABLE tallies (route VARCHAR(400) PRIMARY KEY, matched BIGINT NOT NULL, "
            "delivered BIGINT NOT NULL, parked BIGINT NOT NULL, dead BIGINT NOT NULL, "
            "retried BIGINT NOT NULL, last_success FLOAT, last_error TEXT, last_error_at FLOAT)"
        )
        older.execute("INSERT INTO tallies VALUES ('r', 5, 3, 2, 0, 0, NULL, NULL, NULL)")
        older.commit()

    with closing(SqlLedger(f"sqlite:///{path}")) as ledger:
        ledger.settle(Settlement(ledger.begin(), tallies=[Tally("r", matched=1)]))

        assert ledger.standing("r", "http://x/", 0.0).tally == Tally("r", 6, 3, 2)


@pytest.mark.skipif(postgres.tools() is None, reason="needs psycopg")
def test_password_is_in_no_error() -> None:
    with pytest.raises(StoreError) as refusal:
        SqlResourceStore("postgresql+psycopg://me:secret@127.0.0.1:1/x")

    assert "secret" not in f"{refusal.value} {refusal.value.address}"
