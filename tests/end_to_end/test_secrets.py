"""Secrets planted everywhere a client can put them, and found nowhere afterwards."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.end_to_end.harness import Server
from tests.end_to_end.loop import eventually
from tests.pipeline.receiver import Receiver, Reply, receiving

SECRETS = {
    "password": "pl4nted-password",
    "token": "pl4nted-access-token",
    "refresh": "pl4nted-refresh-token",
    "header": "pl4nted-header",
    "renewed": "pl4nted-renewed-token",
    "rotated": "pl4nted-rotated-token",
    "refused": "pl4nted-in-a-refused-document",
}
BASIC = base64.b64encode(f"u:{SECRETS['password']}".encode())


def utc(hours: float) -> str:
    return (datetime.now(UTC) + timedelta(hours=hours)).isoformat()


def tokens(kind: str, hours: float, **more: str) -> dict[str, str]:
    return {
        "credentialType": kind,
        "accessToken": SECRETS["token"],
        "accessTokenExpiresUtc": utc(hours),
        "accessTokenType": "bearer",
        **more,
    }


@pytest.fixture
def sinks() -> Iterator[Receiver]:
    with receiving() as opened:
        yield opened


def renewing(sinks: Receiver, path: str, *answers: Reply) -> dict[str, str]:
    """A credential that expired, and where it is renewed."""
    endpoint = sinks.answers(path, *answers)
    more = {"refreshToken": SECRETS["refresh"], "refreshTokenEndpoint": endpoint}
    return tokens("REFRESHTOKEN", -1.0, **more)


def planted(server: Server, sinks: Receiver, topic: str) -> dict[str, str]:
    """Subscribe with secrets to sinks of every kind; return the keys of the subscriptions."""
    renewed = {"access_token": SECRETS["renewed"], "refresh_token": SECRETS["rotated"]}
    good = Reply(200, body=json.dumps({**renewed, "expires_in": 3600}).encode())
    bad = Reply(400, body=SECRETS["refresh"].encode())
    echo = Reply(500, (("x-echo", SECRETS["token"]),), SECRETS["token"].encode())
    plain = {"credentialType": "PLAIN", "identifier": "u", "secret": SECRETS["password"]}
    wanted: dict[str, tuple[str, dict[str, str]]] = {
        "plain": (sinks.uri("/plain"), plain),
        "failing": (sinks.answers("/failing", echo), tokens("ACCESSTOKEN", 1.0)),
        "expired": (sinks.uri("/expired"), tokens("ACCESSTOKEN", -1.0)),
        "renewing": (sinks.uri("/renewing"), renewing(sinks, "/token", good)),
        "unable": (sinks.uri("/unable"), renewing(sinks, "/broken", bad)),
    }
    headers = {"X-Api-Key": SECRETS["header"], "Cookie": SECRETS["header"]}
    settings = {"headers": headers, "retry": 1, "backoffdelay": "PT0.1S"}
    return {
        name: server.subscribe(uri, settings, types=[topic], sinkCredential=credential)
        for name, (uri, credential) in wanted.items()
    }


def refused(server: Server) -> list[bytes]:
    """What the server says to documents that have a secret, and a fault."""
    secret = SECRETS["refused"]
    least = {"protocol": "HTTP", "sink": "https://h/"}
    documents: list[Any] = [
        {**least, "sinkCredential": {"credentialType": "PLAIN", "secret": secret}},
        {**least, "sinkCredential": {"credentialType": "X509", "secret": secret}},
        {**least, "sinkCredential": secret},
        {**least, "sinkCredential": {**tokens("ACCESSTOKEN", 1.0), "accessToken": f"{secret} x"}},
        {**least, "protocolsettings": {"headers": {"Authorization": f"{secret}\r\n"}}},
        {**least, "protocolsettings": {"headers": {"X-Api-Key": [secret]}}},
    ]
    bodies = [json.dumps(one).encode() for one in documents]
    bodies.append(bodies[0][:-4])
    answers = [server.call("POST", "/subscriptions", body) for body in bodies]
    assert [answer.status for answer in answers] == [400] * len(bodies)
    return [answer.body for answer in answers]


def told(server: Server, keys: dict[str, str]) -> list[bytes]:
    """All that the server tells of the subscriptions."""
    paths = ["/subscriptions", "/dead", "/metrics", "/services"]
    paths += [f"/subscriptions/{key}{part}" for key in keys.values() for part in ("", "/status")]
    return [server.call("GET", path).body for path in paths]


def files(folder: Path) -> Iterator[tuple[str, bytes]]:
    for path in folder.rglob("*"):
        try:
            if path.is_file():
                yield str(path.relative_to(folder)), path.read_bytes()
        except FileNotFoundError:
            continue


@pytest.mark.covers("SUB-114", "SUB-115", "SUB-116")
def test_planted_secrets_are_found_nowhere(server: Server, sinks: Receiver, topic: str) -> None:
    answers = refused(server)
    keys = planted(server, sinks, topic)
    server.publish(type=topic, data={"n": 1}, datacontenttype="application/json")

    def dead() -> set[str]:
        names = ("failing", "expired", "unable")
        return {name for name in names if server.status(keys[name])["deliveries"]["dead"]}

    eventually(lambda: bool(sinks.places["/renewing"].got), 30.0, "the renewed token is used")
    eventually(lambda: len(dead()) == 3, 30.0, "what cannot be delivered is dead")
    answers += told(server, keys)

    # They did reach those they are meant for.
    assert sinks.places["/plain"].got[0].headers["authorization"] == f"Basic {BASIC.decode()}"
    assert sinks.places["/plain"].got[0].headers["x-api-key"] == SECRETS["header"]
    bearer = sinks.places["/renewing"].got[0].headers["authorization"]
    assert bearer == f"Bearer {SECRETS['renewed']}"
    found = [*files(server.folder), *((f"answer {n}", body) for n, body in enumerate(answers))]
    assert any(name.endswith("store.db") for name, _ in found)
    assert any("spark" in name for name, _ in found)
    needles = [b"pl4nted", BASIC]
    assert [name for name, body in found if any(one in body for one in needles)] == []
