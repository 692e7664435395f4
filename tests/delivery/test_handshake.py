from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from penstock.delivery import handshake
from penstock.delivery.handshake import Permission, Permissions
from penstock.delivery.rate import Limit
from penstock.errors import NotFoundError
from penstock.ports import Response
from penstock.routing import Handling, Handshake, Route, Target
from penstock.store import KeyVault, SqlResourceStore

NOW = 1_000_000.0
SINK = "https://sink.example/"
ASKED = Permission(SINK, "us.example")
CONSENT = (("webhook-allowed-origin", "us.example"), ("webhook-allowed-rate", "120"))


def after(*headers: tuple[str, str], status: int = 200, error: str = "") -> Permission:
    return handshake.answered(ASKED, Response(status, headers, error=error), NOW)


def held(mode: Handshake, permission: Permission, later: float = 0.0) -> str:
    """go, ask or hold."""
    found = handshake.hold(Handling(handshake=mode), permission, NOW + later)
    if found is None:
        return "go"
    return "ask" if found.ask else "hold"


@pytest.mark.parametrize("mode", [Handshake.TRY, Handshake.REQUIRE])
def test_sink_that_was_never_asked_is_asked(mode: Handshake) -> None:
    assert held(mode, ASKED) == "ask"


def test_sink_is_not_asked_where_nobody_wants_it() -> None:
    assert held(Handshake.OFF, ASKED) == "go"


@pytest.mark.parametrize("mode", [Handshake.TRY, Handshake.REQUIRE])
def test_consent_holds_for_a_day(mode: Handshake) -> None:
    permission = after(*CONSENT)

    assert held(mode, permission, 86_000.0) == "go"
    assert held(mode, permission, 86_401.0) == "ask"


@pytest.mark.parametrize("mode", [Handshake.TRY, Handshake.REQUIRE])
def test_refusal_holds_and_is_asked_again(mode: Handshake) -> None:
    permission = after(("webhook-allowed-origin", "other.example"))

    assert held(mode, permission) == "hold"
    assert permission.why == "the sink refuses events from this origin"
    assert held(mode, permission, 301.0) == "ask"


@pytest.mark.parametrize("status", [200, 204, 404, 405])
@pytest.mark.parametrize(("mode", "expected"), [(Handshake.TRY, "go"), (Handshake.REQUIRE, "hold")])
def test_silence_is_consent_only_where_one_tries(
    status: int, mode: Handshake, expected: str
) -> None:
    permission = after(status=status)

    assert held(mode, permission) == expected
    assert permission.why == "the sink did not consent to be sent events"


def test_sink_that_does_not_know_the_handshake_is_not_asked_again_the_same_day() -> None:
    permission = after(status=405)

    assert held(Handshake.TRY, permission, 86_000.0) == "go"
    assert held(Handshake.TRY, permission, 86_401.0) == "ask"
    assert held(Handshake.REQUIRE, permission, 301.0) == "ask"


@pytest.mark.parametrize(("status", "error"), [(0, "no answer"), (503, ""), (429, "")])
def test_sink_that_cannot_be_asked_is_asked_again_soon(status: int, error: str) -> None:
    permission = after(status=status, error=error)

    assert held(Handshake.REQUIRE, permission) == "hold"
    assert held(Handshake.REQUIRE, permission, 16.0) == "ask"
    assert (error or str(status)) in permission.why


def test_sink_and_subscription_both_limit_the_rate() -> None:
    route = Route("r", "s", Target(SINK, handling=Handling(rate=5.0, handshake=Handshake.TRY)))

    found = handshake.limits(route, after(*CONSENT))

    assert found == [Limit("route r", 5.0), Limit(f"sink {SINK}", 2.0)]


@pytest.mark.parametrize(("rate", "asked"), [(0.0, 0), (2.0, 120), (0.001, 1)])
def test_rate_is_asked_for_in_requests_per_minute(rate: float, asked: int) -> None:
    permission = handshake.asking(ASKED, Handling(rate=rate))

    headers = dict(handshake.question(permission, "").headers)
    assert headers.get("webhook-request-rate", "0") == str(asked)


@pytest.fixture
def permissions(tmp_path: Path) -> Iterator[Permissions]:
    store = SqlResourceStore(f"sqlite:///{tmp_path / 'store.db'}")
    yield Permissions(store, KeyVault(tmp_path / "key"))
    store.close()


def waiting(permissions: Permissions, asked: int = 0) -> str:
    """Put a permission that was asked for, and return the key that grants it."""
    permission, token = permissions.keyed(ASKED, lambda: "s3cret")
    silent = handshake.answered(permission, Response(200), NOW)
    permissions.put(msgspec.structs.replace(silent, asked=asked))
    return token


@pytest.mark.parametrize(
    ("header", "asked", "rate"), [("60", 120, 60), (None, 120, 120), ("*", 120, None)]
)
def test_callback_grants_the_rate_it_names_or_the_one_asked_for(
    permissions: Permissions, header: str | None, asked: int, rate: int | None
) -> None:
    token = waiting(permissions, asked)

    permissions.grant(token, header, NOW + 5.0)

    found = permissions.get(SINK, "us.example")
    assert held(Handshake.REQUIRE, found, 80_000.0) == "go"
    assert found.rate == rate


@pytest.mark.parametrize("change", [str.upper, lambda text: text[:-1], lambda text: text + "x"])
def test_callback_that_nobody_was_given_grants_nothing(
    permissions: Permissions,
    change: object,
) -> None:
    token = waiting(permissions)
    assert callable(change)

    with pytest.raises(NotFoundError):
        permissions.grant(change(token), None, NOW)

    assert held(Handshake.REQUIRE, permissions.get(SINK, "us.example")) == "hold"


@pytest.mark.parametrize("token", ["", "-", "nosuch-s3cret", "ü-ü"])
def test_nonsense_grants_nothing(permissions: Permissions, token: str) -> None:
    with pytest.raises(NotFoundError):
        permissions.grant(token, None, NOW)


def test_callback_stays_good_while_the_sink_is_asked_again(permissions: Permissions) -> None:
    token = waiting(permissions)
    stored = permissions.get(SINK, "us.example")

    again, same = permissions.keyed(stored, lambda: "another")

    assert same == token
    assert again.key == stored.key


def test_key_of_a_callback_does_not_lie_open_in_the_store(
    permissions: Permissions, tmp_path: Path
) -> None:
    waiting(permissions)

    assert not any(b"s3cret" in path.read_bytes() for path in tmp_path.glob("store.db*"))


def test_grant_that_came_meanwhile_is_not_undone_by_silence() -> None:
    granted = after(*CONSENT)

    assert handshake.newer(granted, after()) == granted
    assert handshake.newer(granted, after(("webhook-allowed-origin", "x"))).consent == "REFUSED"
    assert handshake.newer(ASKED, after()).consent == "SILENT"
