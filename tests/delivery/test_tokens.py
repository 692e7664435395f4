from __future__ import annotations

import base64
from urllib.parse import parse_qs

import msgspec
import pytest

from penstock.delivery import tokens
from penstock.delivery.tokens import Obstacle, Secrets
from penstock.ports import Credential, Response

NOW = 1_000_000.0
TOKENS = Secrets(access_token="old", refresh_token="r3fresh")
CREDENTIAL = Credential(
    "REFRESHTOKEN",
    "sealed",
    token_type="bearer",
    expires=NOW,
    endpoint="https://id.example/token",
)


def answer(body: object, status: int = 200) -> Response:
    return Response(status, body=msgspec.json.encode(body))


def granted(response: Response) -> tuple[Credential, Secrets] | Obstacle:
    return tokens.granted(response, CREDENTIAL, TOKENS, NOW)


def test_password_is_basic_authentication() -> None:
    value = tokens.authorization(Credential("PLAIN", "", "Aladdin"), Secrets(secret="open ü"))

    scheme, _, text = value.partition(" ")
    assert (scheme, base64.b64decode(text).decode()) == ("Basic", "Aladdin:open ü")


@pytest.mark.covers("CE-129")
@pytest.mark.parametrize(
    ("given", "written"), [("bearer", "Bearer"), ("BEARER", "Bearer"), ("MAC", "MAC")]
)
def test_token_is_written_with_its_type(given: str, written: str) -> None:
    credential = msgspec.structs.replace(CREDENTIAL, kind="ACCESSTOKEN", token_type=given)

    assert tokens.authorization(credential, TOKENS) == f"{written} old"


@pytest.mark.parametrize(("kind", "expired"), [("PLAIN", False), ("ACCESSTOKEN", True)])
def test_token_expires_and_a_password_does_not(kind: str, expired: bool) -> None:  # noqa: FBT001
    credential = msgspec.structs.replace(CREDENTIAL, kind=kind)

    assert tokens.is_expired(credential, NOW) is expired
    assert not tokens.is_expired(credential, NOW - 0.1)


@pytest.mark.parametrize(
    ("since", "ripe"), [(0.0, NOW - 60.0), (NOW - 3_600.0, NOW - 60.0), (NOW - 20.0, NOW - 4.0)]
)
def test_token_is_renewed_before_it_expires_a_short_one_later(since: float, ripe: float) -> None:
    assert tokens.is_ripe(CREDENTIAL, since, ripe)
    assert not tokens.is_ripe(CREDENTIAL, since, ripe - 0.1)


def test_refresh_token_is_traded_as_a_form() -> None:
    request = tokens.grant("https://id.example/token", "r&=ü")

    assert dict(request.headers)["content-type"] == "application/x-www-form-urlencoded"
    form = parse_qs(request.body.decode())
    assert form == {"grant_type": ["refresh_token"], "refresh_token": ["r&=ü"]}


def test_answer_may_bring_a_new_refresh_token() -> None:
    found = granted(
        answer({"access_token": "a", "token_type": "x", "expires_in": 60, "refresh_token": "b"})
    )

    assert isinstance(found, tuple)
    credential, secrets = found
    assert (credential.token_type, credential.expires, credential.sealed) == ("x", NOW + 60.0, "")
    assert (secrets.access_token, secrets.refresh_token) == ("a", "b")


def test_what_an_answer_leaves_out_stays_as_it_was() -> None:
    found = granted(answer({"access_token": "a"}))

    assert isinstance(found, tuple)
    credential, secrets = found
    assert (credential.token_type, credential.expires) == ("bearer", NOW + 3_600.0)
    assert secrets.refresh_token == "r3fresh"


@pytest.mark.parametrize(
    "response",
    [
        answer({"error": "r3fresh is wrong"}, 400),
        answer({"access_token": "s3cret\r\nX: y"}),
        answer({"access_token": ""}),
        answer({"access_token": 5}),
        answer(["s3cret"]),
        Response(200, body=b"s3cret"),
        Response(0, error="the sink cannot be reached"),
    ],
)
def test_answer_without_a_token_is_an_obstacle_that_repeats_no_word_of_it(
    response: Response,
) -> None:
    found = granted(response)

    assert isinstance(found, Obstacle)
    assert "cannot be renewed" in found.why
    assert "s3cret" not in found.why
    assert "r3fresh" not in found.why


def test_name_of_a_credential_changes_with_its_secrets_and_its_endpoint() -> None:
    other = [
        msgspec.structs.replace(CREDENTIAL, sealed="other"),
        msgspec.structs.replace(CREDENTIAL, endpoint="https://other.example/"),
    ]

    names = {tokens.fingerprint(one) for one in (CREDENTIAL, *other)}
    assert len(names) == 3
    assert not any("sealed" in name for name in names)
