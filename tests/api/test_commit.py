from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from penstock.api.commit import GroupCommit
from penstock.errors import LimitError, StoreError
from penstock.events import CloudEvent
from penstock.events.entry import Entry
from penstock.formats import arrow
from penstock.log import SqliteLog
from penstock.ports import Position, Span
from penstock.telemetry import Telemetry


class CountingLog(SqliteLog):
    """A log that counts appends, and cannot take an event with the id `poison`."""

    appends = 0

    def append(self, entries: Sequence[Entry]) -> Position:
        self.appends += 1
        if any(entry.event.id == "poison" for entry in entries):
            raise TypeError
        return super().append(entries)


@asynccontextmanager
async def committing(log: SqliteLog) -> AsyncIterator[GroupCommit]:
    commits = GroupCommit(log, Telemetry())
    commits.start()
    yield commits
    await commits.close()


def entries(*ids: str) -> list[Entry]:
    return [Entry("brokers/default/default", CloudEvent(id, "/s", "t"), 1) for id in ids]  # noqa: A001


def ids_in(log: SqliteLog) -> list[str]:
    _, (head,) = log.bounds()
    chunks = log.read(Span(0, 0, head))
    return [entry.event.id for chunk in chunks for entry in arrow.unpack(chunk.batch)]


async def publish(commits: GroupCommit, clients: int, times: int) -> None:
    async def client(number: int) -> None:
        for turn in range(times):
            await commits.append(entries(f"{number}-{turn}"), 100)

    await asyncio.gather(*(client(number) for number in range(clients)))


@pytest.mark.parametrize("clients", [1, 5, 64, 600])
def test_every_acknowledged_event_is_in_the_log_once(tmp_path: Path, clients: int) -> None:
    log = CountingLog.open(tmp_path / "log.db")

    async def run() -> None:
        async with committing(log) as commits:
            await publish(commits, clients, 10)

    asyncio.run(run())

    found = ids_in(log)
    assert len(found) == len(set(found)) == clients * 10
    assert set(found) == {f"{client}-{turn}" for client in range(clients) for turn in range(10)}
    log.close()


def test_requests_that_arrive_together_share_a_commit(tmp_path: Path) -> None:
    log = CountingLog.open(tmp_path / "log.db")

    async def run() -> None:
        async with committing(log) as commits:
            await publish(commits, 64, 20)

    asyncio.run(run())

    assert log.appends < 64 * 20 / 8
    log.close()


def test_events_of_one_request_stay_together_and_in_order(tmp_path: Path) -> None:
    log = CountingLog.open(tmp_path / "log.db")

    async def run() -> None:
        async with committing(log) as commits:
            await asyncio.gather(
                commits.append(entries("a1", "a2", "a3"), 1), commits.append(entries("b1", "b2"), 1)
            )

    asyncio.run(run())

    assert ids_in(log) == ["a1", "a2", "a3", "b1", "b2"]
    log.close()


def test_failing_log_fails_every_request_of_the_group(tmp_path: Path) -> None:
    log = CountingLog.open(tmp_path / "log.db")
    log.close()

    async def run() -> list[BaseException | None]:
        async with committing(log) as commits:
            waiting = (commits.append(entries(str(number)), 1) for number in range(20))
            return await asyncio.gather(*waiting, return_exceptions=True)

    outcomes = asyncio.run(run())

    assert [type(outcome) for outcome in outcomes] == [StoreError] * 20


def test_one_request_does_not_spoil_the_others(tmp_path: Path) -> None:
    log = CountingLog.open(tmp_path / "log.db")

    async def run() -> list[BaseException | None]:
        async with committing(log) as commits:
            waiting = [commits.append(entries(text), 1) for text in ("1", "poison", "2")]
            return await asyncio.gather(*waiting, return_exceptions=True)

    outcomes = asyncio.run(run())

    assert [type(outcome) for outcome in outcomes] == [type(None), StoreError, type(None)]
    assert ids_in(log) == ["1", "2"]
    log.close()


def test_too_much_at_once_is_refused_and_stores_nothing(tmp_path: Path) -> None:
    log = CountingLog.open(tmp_path / "log.db")

    async def run() -> None:
        async with committing(log) as commits:
            with pytest.raises(LimitError) as raised:
                await commits.append(entries("1"), 1 << 30)
            assert raised.value.retry_after is not None
            await commits.append(entries("2"), 1)

    asyncio.run(run())

    assert ids_in(log) == ["2"]
    log.close()


def test_close_waits_for_what_is_being_written(tmp_path: Path) -> None:
    log = CountingLog.open(tmp_path / "log.db")

    async def run() -> None:
        commits = GroupCommit(log, Telemetry())
        commits.start()
        tasks = [asyncio.create_task(commits.append(entries(str(n)), 1)) for n in range(50)]
        await asyncio.sleep(0)
        await commits.close()
        await asyncio.gather(*tasks)

    asyncio.run(run())

    assert sorted(ids_in(log), key=int) == [str(number) for number in range(50)]
    log.close()


def test_client_that_gave_up_does_not_disturb_the_others(tmp_path: Path) -> None:
    log = CountingLog.open(tmp_path / "log.db")

    async def run() -> None:
        async with committing(log) as commits:
            first = asyncio.create_task(commits.append(entries("1"), 1))
            second = asyncio.create_task(commits.append(entries("2"), 1))
            await asyncio.sleep(0)
            first.cancel()
            await second

    asyncio.run(run())

    assert "2" in ids_in(log)
    log.close()
