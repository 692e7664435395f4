from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa

from penstock.store import SqlDeadLetters, SqlLedger, SqlResourceStore, SqlWaitingRoom
from tests.store import postgres

_NUMBERS = itertools.count(1)


@pytest.fixture(scope="session")
def postgres_server(needs: Callable[[str, bool], None]) -> Iterator[str]:
    programs = postgres.tools()
    needs("PostgreSQL and psycopg", programs is not None)
    assert programs is not None
    with postgres.server(programs) as address:
        yield address


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.network)])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of an empty database, of each engine in turn."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'store.db'}"
    address: str = request.getfixturevalue("postgres_server")
    name = f"test{next(_NUMBERS)}"
    engine = sa.create_engine(f"{address}postgres", isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(sa.text(f"CREATE DATABASE {name}"))
    engine.dispose()
    return f"{address}{name}"


@pytest.fixture
def store(url: str) -> Iterator[SqlResourceStore]:
    opened = SqlResourceStore(url)
    yield opened
    opened.close()


@pytest.fixture
def ledger(url: str) -> Iterator[SqlLedger]:
    opened = SqlLedger(url)
    yield opened
    opened.close()


@pytest.fixture
def room(ledger: SqlLedger, url: str) -> Iterator[SqlWaitingRoom]:  # noqa: ARG001 - makes tables
    opened = SqlWaitingRoom(url, 1)
    yield opened
    opened.close()


@pytest.fixture
def dead(url: str) -> Iterator[SqlDeadLetters]:
    opened = SqlDeadLetters(url)
    yield opened
    opened.close()
