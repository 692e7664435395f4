"""Requests with secrets: unsealed last of all, and what a 401 does."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import msgspec
import pytest

from penstock.delivery.tokens import PURPOSE, Secrets
from penstock.pipeline.renewing import Renewals
from penstock.pipeline.sender import HEADERS, Means, Sender
from penstock.ports import Credential, Guard, Request, Response
from penstock.store import KeyVault, SqlResourceStore
from penstock.testing import FakeClock, MemorySink

NOW = 1_000_000.0
OK, NO = Response(202), Response(401)


@dataclass
class Desk:
    """A sender with its sink, and the endpoint that renews tokens."""

    store: SqlResourceStore
    vault: KeyVault
    clock: FakeClock
    sink: MemorySink
    endpoint: MemorySink

    def send(self, guard: Guard, *, hasty: bool = False) -> Response:
        renewals = Renewals(self.store, self.vault, self.endpoint, self.clock)
        sender = Sender(Means(self.sink, self.vault, renewals, self.clock), hasty=hasty)
        return asyncio.run(sender.send(Request("https://h/", [("X-A", "1")], b"x", guard=guard)))

    def credential(self, kind: str, expires: float = NOW + 600.0) -> Credential:
        secrets = Secrets("p4ss", "t0ken", "r3fresh")
        sealed = self.vault.seal(msgspec.json.encode(secrets).decode(), PURPOSE)
        return Credential(kind, sealed, "u", "bearer", expires, "https://id.example/")

    def sent(self) -> list[str | None]:
        """The Authorization of each request."""
        return [dict(one.headers).get("authorization") for one in self.sink.requests]


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    store = SqlResourceStore(f"sqlite:///{tmp_path / 'store.db'}")
    new = Response(200, body=b'{"access_token": "n3w", "expires_in": 3600}')
    vault, clock = KeyVault(tmp_path / "key"), FakeClock(NOW)
    yield Desk(store, vault, clock, MemorySink(OK), MemorySink(new))
    store.close()


def test_request_without_a_guard_passes_as_it_is(desk: Desk) -> None:
    renewals = Renewals(desk.store, desk.vault, desk.endpoint, desk.clock)
    request = Request("https://h/", [], b"x")

    asyncio.run(Sender(Means(desk.sink, desk.vault, renewals, desk.clock)).send(request))

    assert desk.sink.requests == [request]


def test_password_and_secret_headers_are_unsealed(desk: Desk) -> None:
    headers = {"X-Api-Key": desk.vault.seal("k3y", HEADERS)}

    response = desk.send(Guard("r", headers, desk.credential("PLAIN")))

    (request,) = desk.sink.requests
    found = dict(request.headers)
    assert response == OK
    assert (found["X-A"], found["X-Api-Key"]) == ("1", "k3y")
    assert found["authorization"] == f"Basic {base64.b64encode(b'u:p4ss').decode()}"


def test_credential_wins_over_a_header_of_the_same_meaning(desk: Desk) -> None:
    headers = {"Authorization": desk.vault.seal("Bearer other", HEADERS)}

    desk.send(Guard("r", headers, desk.credential("ACCESSTOKEN")))

    names = [name.lower() for name, _ in desk.sink.requests[0].headers]
    assert names.count("authorization") == 1
    assert desk.sent() == ["Bearer t0ken"]


def test_expired_token_is_not_sent(desk: Desk) -> None:
    response = desk.send(Guard("r", {}, desk.credential("ACCESSTOKEN", NOW)))

    assert (response.status, response.ours) == (0, True)
    assert "expired" in response.error
    assert not desk.sink.requests


def test_expired_token_with_a_refresh_token_is_renewed_first(desk: Desk) -> None:
    response = desk.send(Guard("r", {}, desk.credential("REFRESHTOKEN", NOW - 60.0)))

    assert response == OK
    assert desk.sent() == ["Bearer n3w"]


def test_refused_token_is_renewed_once_and_the_request_made_once_more(desk: Desk) -> None:
    desk.sink = MemorySink(NO, OK)

    response = desk.send(Guard("r", {}, desk.credential("REFRESHTOKEN")))

    assert response == OK
    assert desk.sent() == ["Bearer t0ken", "Bearer n3w"]
    assert len(desk.endpoint.requests) == 1


def test_sink_that_refuses_every_token_ends_it_after_one_renewal(desk: Desk) -> None:
    desk.sink = MemorySink(NO)
    guard = Guard("r", {}, desk.credential("REFRESHTOKEN"))

    answers = [desk.send(guard) for _ in range(3)]

    assert answers == [NO, NO, NO]
    assert desk.sent() == ["Bearer t0ken", "Bearer n3w", "Bearer n3w", "Bearer n3w"]
    assert len(desk.endpoint.requests) == 1


@pytest.mark.covers("CE-130")
@pytest.mark.parametrize("kind", ["PLAIN", "ACCESSTOKEN"])
def test_refusal_of_what_cannot_be_renewed_is_final(desk: Desk, kind: str) -> None:
    challenge = Response(401, (("www-authenticate", 'Digest realm="x"'),))
    desk.sink = MemorySink(challenge)

    response = desk.send(Guard("r", {}, desk.credential(kind)))

    assert response == challenge
    assert len(desk.sink.requests) == 1


def test_endpoint_that_fails_is_our_own_obstacle(desk: Desk) -> None:
    desk.sink, desk.endpoint = MemorySink(NO), MemorySink(Response(503))

    response = desk.send(Guard("r", {}, desk.credential("REFRESHTOKEN")))

    assert (response.status, response.ours) == (0, True)
    assert "503" in response.error


@pytest.mark.parametrize("answer", [OK, NO])
def test_hasty_sender_renews_nothing(desk: Desk, answer: Response) -> None:
    desk.sink = MemorySink(answer)
    expires = NOW if answer is OK else NOW + 600.0

    response = desk.send(Guard("r", {}, desk.credential("REFRESHTOKEN", expires)), hasty=True)

    assert response.ours
    assert not desk.endpoint.requests


@pytest.mark.parametrize("guard", ["header", "credential"])
def test_secret_that_cannot_be_unsealed_is_our_own_obstacle(
    desk: Desk, guard: str, tmp_path: Path
) -> None:
    other = KeyVault(tmp_path / "other").seal("k3y", HEADERS)
    headers = {"X-Key": other} if guard == "header" else {}
    credential = Credential("PLAIN", other, "u") if guard == "credential" else None
    desk.vault.seal("x", "y")

    response = desk.send(Guard("r", headers, credential))

    assert (response.status, response.ours) == (0, True)
    assert "k3y" not in response.error
    assert not desk.sink.requests
