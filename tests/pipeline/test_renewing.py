"""Access tokens renewed once for all, over a real store."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qs

import msgspec
import pytest

from penstock.delivery.tokens import PURPOSE, Obstacle, Secrets
from penstock.pipeline.renewing import Renewals
from penstock.ports import Credential, Drop, Request, Response
from penstock.routing import TOKEN
from penstock.store import KeyVault, SqlResourceStore
from penstock.testing import FakeClock, MemorySink

NOW = 1_000_000.0


@dataclass
class Office:
    """A store, and processes that share it."""

    folder: Path
    store: SqlResourceStore
    vault: KeyVault
    clock: FakeClock

    def process(self, sink: MemorySink) -> Renewals:
        return Renewals(self.store, self.vault, sink, self.clock)

    def credential(self, expires: float = NOW, access: str = "old") -> Credential:
        secrets = Secrets(access_token=access, refresh_token="first")
        sealed = self.vault.seal(msgspec.json.encode(secrets).decode(), PURPOSE)
        kind, endpoint = "REFRESHTOKEN", "https://id.example/token"
        return Credential(kind, sealed, token_type="bearer", expires=expires, endpoint=endpoint)


@pytest.fixture
def office(tmp_path: Path) -> Iterator[Office]:
    store = SqlResourceStore(f"sqlite:///{tmp_path / 'store.db'}")
    yield Office(tmp_path, store, KeyVault(tmp_path / "key"), FakeClock(NOW))
    store.close()


def token(text: str, seconds: float = 3_600.0, refresh: str = "") -> Response:
    body = {"access_token": text, "expires_in": seconds, "refresh_token": refresh}
    return Response(200, body=msgspec.json.encode(body))


def traded(request: Request) -> str:
    return parse_qs(request.body.decode())["refresh_token"][0]


def access(renewals: Renewals, found: Credential | Obstacle | None) -> str:
    assert isinstance(found, Credential)
    return renewals.unsealed(found).access_token


def renewed(
    renewals: Renewals, credential: Credential, refused: Credential | None = None
) -> Credential | Obstacle:
    return asyncio.run(renewals.renewed("r", credential, refused))


def test_token_with_time_left_is_used_as_it_is(office: Office) -> None:
    renewals = office.process(MemorySink())
    credential = office.credential(NOW + 61.0)

    assert renewals.current("r", credential) == credential


def test_token_is_renewed_before_it_expires(office: Office) -> None:
    sink = MemorySink(token("new"))
    renewals = office.process(sink)
    credential = office.credential(NOW + 59.0)

    assert renewals.current("r", credential) is None
    assert access(renewals, renewed(renewals, credential)) == "new"
    assert access(renewals, renewals.current("r", credential)) == "new"
    assert [traded(request) for request in sink.requests] == ["first"]
    assert sink.requests[0].uri == "https://id.example/token"


def test_next_renewal_trades_the_newest_refresh_token(office: Office) -> None:
    sink = MemorySink(token("a", refresh="second"), token("b", refresh="third"), token("c"))
    renewals = office.process(sink)
    credential = office.credential()

    for _ in range(3):
        renewed(renewals, credential)
        office.clock.advance(3_600.0)

    assert [traded(request) for request in sink.requests] == ["first", "second", "third"]


def test_many_processes_renew_once(office: Office) -> None:
    sinks = [MemorySink(token("new"), seconds=0.1) for _ in range(4)]
    processes = [office.process(sink) for sink in sinks for _ in range(3)]
    credential = office.credential()

    async def all_at_once() -> list[Credential | Obstacle]:
        return await asyncio.gather(*(one.renewed("r", credential) for one in processes))

    found = asyncio.run(all_at_once())

    assert {access(processes[0], one) for one in found} == {"new"}
    assert sum(len(sink.requests) for sink in sinks) == 1


def test_process_that_died_while_it_renewed_is_replaced(office: Office) -> None:
    credential = office.credential()

    async def cut_off() -> None:
        dead = office.process(MemorySink(token("lost"), seconds=60.0))
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(dead.renewed("r", credential), 0.1)

    asyncio.run(cut_off())
    office.clock.advance(41.0)
    renewals = office.process(MemorySink(token("new")))

    assert access(renewals, renewed(renewals, credential)) == "new"


def test_renewed_token_outlives_the_process_and_lies_sealed(office: Office) -> None:
    credential = office.credential()
    renewed(office.process(MemorySink(token("n3w-access", refresh="n3w-refresh"))), credential)

    other = office.process(MemorySink(Response(500)))

    assert access(other, other.current("r", credential)) == "n3w-access"
    stored = b"".join(path.read_bytes() for path in office.folder.glob("store.db*"))
    assert b"n3w-" not in stored


def test_new_credential_makes_the_renewed_token_void(office: Office) -> None:
    renewals = office.process(MemorySink(token("new")))
    renewed(renewals, office.credential())

    other = office.credential(NOW + 600.0, access="given")

    assert access(renewals, renewals.current("r", other)) == "given"


def test_failure_is_an_obstacle_and_not_repeated_at_once(office: Office) -> None:
    sink = MemorySink(Response(400), token("new"))
    renewals = office.process(sink)
    credential = office.credential()

    first, second = renewed(renewals, credential), renewed(renewals, credential)
    office.clock.advance(11.0)

    assert first == second == Obstacle("the access token cannot be renewed: it answered 400")
    assert len(sink.requests) == 1
    assert access(renewals, renewed(renewals, credential)) == "new"


def test_failure_of_an_early_renewal_is_no_obstacle_yet(office: Office) -> None:
    renewals = office.process(MemorySink(Response(503)))
    credential = office.credential(NOW + 30.0)

    assert renewed(renewals, credential) == credential
    office.clock.advance(31.0)
    assert isinstance(renewed(renewals, credential), Obstacle)


def test_refused_token_is_renewed_though_it_has_time_left(office: Office) -> None:
    renewals = office.process(MemorySink(token("new")))
    credential = office.credential(NOW + 3_600.0)

    assert access(renewals, renewed(renewals, credential, refused=credential)) == "new"


def test_token_that_another_process_renewed_meanwhile_is_taken(office: Office) -> None:
    credential = office.credential(NOW + 3_600.0)
    renewed(office.process(MemorySink(token("new"))), credential, refused=credential)
    sink = MemorySink(Response(500))
    renewals = office.process(sink)

    assert access(renewals, renewed(renewals, credential, refused=credential)) == "new"
    assert not sink.requests


def test_token_that_is_refused_right_after_its_renewal_is_not_renewed_again(
    office: Office,
) -> None:
    sink = MemorySink(token("new"))
    renewals = office.process(sink)
    credential = office.credential()
    fresh = renewed(renewals, credential)
    assert isinstance(fresh, Credential)

    found = renewed(renewals, credential, refused=fresh)

    assert isinstance(found, Obstacle)
    assert found.final
    assert len(sink.requests) == 1


def test_subscription_deleted_meanwhile_does_no_harm(office: Office) -> None:
    credential = office.credential()

    class Deleting(MemorySink):
        async def send(self, request: Request) -> Response:
            office.store.write([Drop(TOKEN, "r")])
            return await super().send(request)

    renewals = office.process(Deleting(token("new")))

    assert access(renewals, renewed(renewals, credential)) == "new"
    assert office.store.get(TOKEN, "r") is None
