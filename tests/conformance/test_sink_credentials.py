"""Subscriptions API: sink credentials, from the request that sets them to the sink."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import pytest

from tests.conformance.works import Works, working
from tests.pipeline.receiver import Receiver, Reply, receiving

pytestmark = pytest.mark.network

SECRETS = ("p4ss-secret", "t0ken-secret", "r3fresh-secret", "h3ader-secret")


def utc(seconds: float) -> str:
    return (datetime.now(UTC) + timedelta(seconds=seconds)).isoformat()


PLAIN = {"credentialType": "PLAIN", "identifier": "u", "secret": SECRETS[0]}


def access(seconds: float = 3_600.0, **changes: str) -> dict[str, str]:
    return {
        "credentialType": "ACCESSTOKEN",
        "accessToken": SECRETS[1],
        "accessTokenExpiresUtc": utc(seconds),
        "accessTokenType": "bearer",
        **changes,
    }


def refresh(endpoint: str = "https://id.example/token", seconds: float = 3_600.0) -> dict[str, str]:
    return access(
        seconds,
        credentialType="REFRESHTOKEN",
        refreshToken=SECRETS[2],
        refreshTokenEndpoint=endpoint,
    )


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as opened:
        yield opened


@pytest.fixture
def works(tmp_path: Path) -> Iterator[Works]:
    with working(tmp_path) as made:
        yield made


def proposed(works: Works, credential: object, **settings: object) -> Any:  # noqa: ANN401
    document = {
        "protocol": "HTTP",
        "sink": "https://sink.example/",
        "sinkCredential": credential,
        "protocolsettings": settings,
    }
    return works.served.post("/subscriptions", document)


def authorizations(receiver: Receiver, path: str = "/sink") -> list[str | None]:
    return [one.headers.get("authorization") for one in receiver.places[path].got]


@pytest.mark.covers("SUB-101", "SUB-103")
def test_password_is_sent_as_basic_authentication(works: Works, receiver: Receiver) -> None:
    works.subscribe(receiver.uri("/sink"), sinkCredential=PLAIN)

    works.deliver("1")

    expected = base64.b64encode(b"u:p4ss-secret").decode()
    assert authorizations(receiver) == [f"Basic {expected}"]


@pytest.mark.covers("SUB-103", "SUB-110", "CE-129", "CE-133")
def test_token_is_sent_in_the_header_with_its_type(works: Works, receiver: Receiver) -> None:
    works.subscribe(receiver.uri("/sink"), sinkCredential=access())

    works.deliver("1")

    assert authorizations(receiver) == ["Bearer t0ken-secret"]


@pytest.mark.covers("SUB-118")
def test_credential_wins_over_an_authorization_header(works: Works, receiver: Receiver) -> None:
    settings = {"headers": {"Authorization": "Basic h3ader-secret", "X-Api-Key": "h3ader-secret"}}
    works.subscribe(receiver.uri("/both"), sinkCredential=access(), protocolsettings=settings)
    works.subscribe(receiver.uri("/header"), protocolsettings=settings)

    works.deliver("1")

    assert authorizations(receiver, "/both") == ["Bearer t0ken-secret"]
    assert authorizations(receiver, "/header") == ["Basic h3ader-secret"]
    assert receiver.places["/both"].got[0].headers["x-api-key"] == "h3ader-secret"


@pytest.mark.covers("SUB-103")
@pytest.mark.parametrize(
    "credential", [PLAIN, access(), refresh()], ids=["plain", "access", "refresh"]
)
def test_every_type_is_accepted(works: Works, credential: dict[str, str]) -> None:
    assert proposed(works, credential).status == 201


@pytest.mark.covers("SUB-102", "SUB-104")
@pytest.mark.parametrize("kind", [None, "X509", "plain", ""])
def test_type_is_required_and_known(works: Works, kind: str | None) -> None:
    answer = proposed(works, {**PLAIN, "credentialType": kind})

    assert answer.status == 400
    assert answer.paths == ["sinkCredential.credentialType"]


@pytest.mark.parametrize(
    ("credential", "name"),
    [
        pytest.param(PLAIN, "identifier", marks=pytest.mark.covers("SUB-105")),
        pytest.param(PLAIN, "secret", marks=pytest.mark.covers("SUB-106")),
        pytest.param(access(), "accessToken", marks=pytest.mark.covers("SUB-107")),
        pytest.param(refresh(), "accessToken", marks=pytest.mark.covers("SUB-107")),
        pytest.param(access(), "accessTokenExpiresUtc", marks=pytest.mark.covers("SUB-108")),
        pytest.param(refresh(), "accessTokenExpiresUtc", marks=pytest.mark.covers("SUB-108")),
        pytest.param(access(), "accessTokenType", marks=pytest.mark.covers("SUB-110")),
        pytest.param(refresh(), "accessTokenType", marks=pytest.mark.covers("SUB-110")),
        pytest.param(refresh(), "refreshToken", marks=pytest.mark.covers("SUB-111")),
        pytest.param(refresh(), "refreshTokenEndpoint", marks=pytest.mark.covers("SUB-112")),
    ],
)
def test_missing_member_is_refused_by_its_name(
    works: Works, credential: dict[str, str], name: str
) -> None:
    answer = proposed(works, {key: value for key, value in credential.items() if key != name})

    assert (answer.status, answer.paths) == (400, [f"sinkCredential.{name}"])


@pytest.mark.covers("SUB-108")
@pytest.mark.parametrize("time", ["tomorrow", "2030-01-01", 5])
def test_expiry_is_a_time(works: Works, time: object) -> None:
    answer = proposed(works, {**access(), "accessTokenExpiresUtc": time})

    assert (answer.status, answer.paths) == (400, ["sinkCredential.accessTokenExpiresUtc"])


@pytest.mark.covers("SUB-109")
def test_expired_token_is_held_until_an_update_brings_a_new_one(
    works: Works, receiver: Receiver
) -> None:
    sink, settings = receiver.uri("/sink"), {"backoffdelay": "PT0.5S"}
    key = works.subscribe(sink, sinkCredential=access(-60.0), protocolsettings=settings)
    works.publish("1")
    works.retry(0.3)
    held, status = authorizations(receiver), works.status(key)["deliveries"]

    works.put(key, protocol="HTTP", sink=sink, sinkCredential=access(), protocolsettings=settings)
    works.retry(1.5)

    assert held == []
    assert (status["parked"], "expired" in status["last_error"]) == (1, True)
    assert authorizations(receiver) == ["Bearer t0ken-secret"]


@pytest.mark.covers("SUB-109", "SUB-112")
def test_expired_token_with_a_refresh_token_is_renewed_first(
    works: Works, receiver: Receiver
) -> None:
    token = Reply(200, body=b'{"access_token": "n3w", "token_type": "Bearer", "expires_in": 3600}')
    endpoint = receiver.answers("/token", token)
    works.subscribe(receiver.uri("/sink"), sinkCredential=refresh(endpoint, -60.0))

    works.deliver("1", "2", "3")

    (trade,) = receiver.places["/token"].got
    assert parse_qs(trade.body.decode()) == {
        "grant_type": ["refresh_token"],
        "refresh_token": ["r3fresh-secret"],
    }
    assert authorizations(receiver) == ["Bearer n3w"] * 3


@pytest.mark.covers("SUB-112")
def test_refused_token_is_renewed_once_and_the_delivery_made_again(
    works: Works, receiver: Receiver
) -> None:
    token = Reply(200, body=b'{"access_token": "n3w", "expires_in": 3600}')
    endpoint = receiver.answers("/token", token)
    # The micro-batch and the retry query each meet the refusal once.
    sink = receiver.answers("/sink", 401, 401, 202)
    key = works.subscribe(sink, sinkCredential=refresh(endpoint))

    works.deliver("1")

    old, new = "Bearer t0ken-secret", "Bearer n3w"
    assert authorizations(receiver) == [old, old, new]
    assert len(receiver.places["/token"].got) == 1
    assert works.status(key)["deliveries"]["delivered"] == 1


def test_sink_that_refuses_every_token_makes_dead_without_a_loop(
    works: Works, receiver: Receiver
) -> None:
    token = Reply(200, body=b'{"access_token": "n3w", "expires_in": 3600}')
    endpoint = receiver.answers("/token", token)
    key = works.subscribe(receiver.answers("/sink", 401), sinkCredential=refresh(endpoint))

    works.deliver("1")

    assert len(authorizations(receiver)) == 3
    assert len(receiver.places["/token"].got) == 1
    assert works.status(key)["deliveries"]["dead"] == 1


def everything(works: Works, credential: dict[str, str]) -> dict[str, str]:
    """Every response of the API that has to do with a subscription, by its name."""
    headers = {"Authorization": SECRETS[3], "X-Auth-Token": SECRETS[3], "X-A": "1"}
    made = proposed(works, credential, headers=headers)
    key = made.document["id"]
    path, shown = f"/subscriptions/{key}", made.document
    answers = {
        "create": made,
        "retrieve": works.served.get(path),
        "query": works.served.get("/subscriptions"),
        "status": works.served.get(f"{path}/status"),
        "update": works.served.request("PUT", path, {**shown, "sinkCredential": credential}),
        "patch": works.served.request("PATCH", path, {"sinkCredential": credential}),
        "bad": works.served.request(
            "PUT", path, {**shown, "sinkCredential": {**credential, "x": 1}}
        ),
        "conflict": works.served.request("PUT", path, {**shown, "sinkCredential": [credential]}),
        "broken": works.served.post("/subscriptions", json.dumps(credential)[:-3]),
        "metrics": works.served.get("/metrics"),
        "delete": works.served.request("DELETE", path),
    }
    return {name: answer.body.decode() for name, answer in answers.items()}


@pytest.mark.covers("SUB-114", "SUB-115", "SUB-116", "SUB-117", "SUB-118")
@pytest.mark.parametrize(
    "credential", [PLAIN, access(), refresh()], ids=["plain", "access", "refresh"]
)
def test_secrets_are_write_only(works: Works, credential: dict[str, str]) -> None:
    found = everything(works, credential)

    leaks = [(name, one) for name, body in found.items() for one in SECRETS if one in body]
    assert leaks == []
    hidden = {"secret", "accessToken", "refreshToken"}
    shown = json.loads(found["retrieve"])
    assert shown["sinkCredential"] == {
        name: value for name, value in credential.items() if name not in hidden
    }
    assert shown["protocolsettings"]["headers"] == {"X-A": "1"}


@pytest.mark.covers("SUB-116")
@pytest.mark.parametrize(
    "credential", [PLAIN, access(), refresh()], ids=["plain", "access", "refresh"]
)
def test_what_was_read_can_be_written_back_without_losing_secrets(
    works: Works, receiver: Receiver, credential: dict[str, str]
) -> None:
    settings = {"headers": {"X-Api-Key": SECRETS[3], "X-A": "1"}}
    sink = receiver.uri("/sink")
    key = works.subscribe(sink, sinkCredential=credential, protocolsettings=settings)

    shown = works.served.get(f"/subscriptions/{key}").document
    answer = works.put(key, **{**shown, "types": ["t"]})
    works.deliver("1")

    assert answer.status == 200
    (got,) = receiver.places["/sink"].got
    assert got.headers["x-api-key"] == SECRETS[3]
    assert any(one in got.headers["authorization"] for one in ("t0ken-secret", "Basic dTpw"))


def test_patch_beside_the_secrets_keeps_them(works: Works, receiver: Receiver) -> None:
    settings = {"headers": {"X-Api-Key": SECRETS[3], "X-A": "1"}}
    key = works.subscribe(receiver.uri("/sink"), sinkCredential=PLAIN, protocolsettings=settings)

    change = {"protocolsettings": {"headers": {"X-A": "2"}}}
    answer = works.served.request("PATCH", f"/subscriptions/{key}", change)
    works.deliver("1")

    (got,) = receiver.places["/sink"].got
    assert answer.status == 200
    assert (got.headers["x-api-key"], got.headers["x-a"]) == (SECRETS[3], "2")
    assert "authorization" in got.headers


def test_patch_removes_a_secret_header_by_its_name(works: Works, receiver: Receiver) -> None:
    settings = {"headers": {"X-Api-Key": SECRETS[3], "X-A": "1"}}
    key = works.subscribe(receiver.uri("/sink"), protocolsettings=settings)

    change = {"protocolsettings": {"headers": {"X-Api-Key": None}}}
    works.served.request("PATCH", f"/subscriptions/{key}", change)
    works.deliver("1")

    (got,) = receiver.places["/sink"].got
    assert "x-api-key" not in got.headers
    assert got.headers["x-a"] == "1"


def test_update_without_a_credential_removes_it(works: Works, receiver: Receiver) -> None:
    sink = receiver.uri("/sink")
    key = works.subscribe(sink, sinkCredential=PLAIN)

    works.put(key, protocol="HTTP", sink=sink)
    works.deliver("1")

    assert authorizations(receiver) == [None]
    assert "sinkCredential" not in works.served.get(f"/subscriptions/{key}").document
