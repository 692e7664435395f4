from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from penstock.errors import ResourceError
from penstock.subscriptions.credentials import SinkCredential, read

PLAIN = {"credentialType": "PLAIN", "identifier": "u", "secret": "p4ss"}
ACCESS = {
    "credentialType": "ACCESSTOKEN",
    "accessToken": "t0ken",
    "accessTokenExpiresUtc": "2030-01-01T00:00:00+02:00",
    "accessTokenType": "bearer",
}
REFRESH = {
    **ACCESS,
    "credentialType": "REFRESHTOKEN",
    "refreshToken": "r3fresh",
    "refreshTokenEndpoint": "https://id.example/token",
}


def seal(text: str, purpose: str) -> str:
    return f"{purpose}:{text[::-1]}"


def taken(document: object, before: SinkCredential | None = None) -> SinkCredential:
    return read(document, "sinkCredential", seal, before)


def problems(document: object, before: SinkCredential | None = None) -> list[str]:
    with pytest.raises(ResourceError) as raised:
        taken(document, before)
    assert not any(word in str(raised.value) for word in ("p4ss", "t0ken", "r3fresh"))
    return [problem.path.removeprefix("sinkCredential.") for problem in raised.value.problems]


@pytest.mark.parametrize(
    "document", [PLAIN, ACCESS, REFRESH], ids=lambda one: one["credentialType"]
)
def test_secrets_are_sealed_and_the_rest_is_shown(document: dict[str, str]) -> None:
    found = taken(document)

    hidden = {"secret", "accessToken", "refreshToken"} & document.keys()
    assert found.shown == {name: document[name] for name in document.keys() - hidden}
    unsealed = json.loads(found.sealed.removeprefix("credential:")[::-1])
    assert unsealed == {name: document[name] for name in hidden}


def test_member_names_are_compared_without_case() -> None:
    found = taken({"CREDENTIALTYPE": "PLAIN", "Identifier": "u", "SECRET": "p4ss"})

    assert found.shown == {"credentialType": "PLAIN", "identifier": "u"}


@pytest.mark.parametrize(
    "document", [PLAIN, ACCESS, REFRESH], ids=lambda one: one["credentialType"]
)
def test_every_missing_member_is_named(document: dict[str, str]) -> None:
    missing = problems({"credentialType": document["credentialType"]})

    assert sorted(missing) == sorted(document.keys() - {"credentialType"})


@pytest.mark.parametrize(
    ("changes", "path"),
    [
        ({"credentialType": None}, "credentialType"),
        ({"credentialType": "X509"}, "credentialType"),
        ({"credentialType": "plain"}, "credentialType"),
        ({"accessToken": "t0ken t0ken"}, "accessToken"),
        ({"accessToken": "t0ken\r\nX: y"}, "accessToken"),
        ({"accessToken": 5}, "accessToken"),
        ({"accessToken": ""}, "accessToken"),
        ({"refreshToken": ["r3fresh"]}, "refreshToken"),
        ({"accessTokenExpiresUtc": "tomorrow"}, "accessTokenExpiresUtc"),
        ({"accessTokenType": "bear er"}, "accessTokenType"),
        ({"refreshTokenEndpoint": "/token"}, "refreshTokenEndpoint"),
        ({"refreshTokenEndpoint": "ftp://h/"}, "refreshTokenEndpoint"),
        ({"secret": "p4ss"}, "secret"),
        ({"passphrase": "p4ss"}, "passphrase"),
    ],
)
def test_wrong_member_is_named_but_its_value_is_not(changes: dict[str, Any], path: str) -> None:
    assert problems({**REFRESH, **changes}) == [path]


@pytest.mark.parametrize("value", [None, [], "PLAIN p4ss", 5])
def test_what_is_no_object_is_refused(value: object) -> None:
    assert problems(value) == ["sinkCredential"]


@pytest.mark.parametrize(
    "document", [PLAIN, ACCESS, REFRESH], ids=lambda one: one["credentialType"]
)
def test_what_was_read_can_be_written_back(document: dict[str, str]) -> None:
    before = taken(document)

    assert taken(before.shown, before) == before


def test_time_may_change_while_the_secrets_are_kept() -> None:
    before = taken(ACCESS)

    after = taken({**before.shown, "accessTokenExpiresUtc": "2031-01-01T00:00:00Z"}, before)

    assert after.sealed == before.sealed
    assert after.shown["accessTokenExpiresUtc"] == "2031-01-01T00:00:00Z"


@pytest.mark.parametrize(
    ("before", "changes", "missing"),
    [
        (PLAIN, {"identifier": "v"}, ["secret"]),
        (
            REFRESH,
            {"refreshTokenEndpoint": "https://evil.example/"},
            ["accessToken", "refreshToken"],
        ),
        (REFRESH, {"accessToken": "new"}, ["refreshToken"]),
    ],
)
def test_secrets_do_not_follow_another_name_or_address(
    before: dict[str, str], changes: dict[str, str], missing: list[str]
) -> None:
    known = taken(before)

    assert problems({**known.shown, **changes}, known) == missing


def test_delivery_gets_the_moment_not_the_text() -> None:
    found = taken(REFRESH).credential()

    moment = datetime(2029, 12, 31, 22, tzinfo=UTC)
    assert (found.kind, found.expires) == ("REFRESHTOKEN", moment.timestamp())
    assert (found.token_type, found.endpoint) == ("bearer", "https://id.example/token")
