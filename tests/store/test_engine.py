from __future__ import annotations

from pathlib import Path

import pytest

from penstock.errors import StoreError
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


@pytest.mark.skipif(postgres.tools() is None, reason="needs psycopg")
def test_password_is_in_no_error() -> None:
    with pytest.raises(StoreError) as refusal:
        SqlResourceStore("postgresql+psycopg://me:secret@127.0.0.1:1/x")

    assert "secret" not in f"{refusal.value} {refusal.value.address}"
