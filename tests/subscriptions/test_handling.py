from __future__ import annotations

from typing import Any

import pytest

from penstock.errors import ResourceError
from penstock.routing import Handling, Handshake
from penstock.subscriptions.handling import is_secret, marked
from penstock.subscriptions.subscription import Subscription, read

SINK = {"protocol": "HTTP", "sink": "https://example.com/"}


def seal(text: str, purpose: str) -> str:
    return f"{purpose}:{text[::-1]}"


def taken(**settings: object) -> Subscription:
    return read({**SINK, "protocolsettings": settings}, seal=seal)


def handling(**settings: object) -> Handling | None:
    return taken(**settings).route(()).target.handling


def problems(**settings: object) -> list[str]:
    with pytest.raises(ResourceError) as raised:
        taken(**settings)
    return [one.path.removeprefix("protocolsettings.") for one in raised.value.problems]


def test_plain_subscription_has_no_special_handling() -> None:
    assert handling() is None
    assert handling(contentmode="structured", maxinflight=1, headers={"X-A": "1"}) is None


def test_batches_have_defaults_that_are_shown() -> None:
    found = taken(contentmode="batch")

    shown = found.document()["protocolsettings"]
    assert isinstance(shown, dict)
    assert (shown["batchsize"], shown["batchbytes"], shown["linger"]) == (100, 1 << 20, 0)
    assert found.route(()).target.handling == Handling(batch=100)


def test_settings_reach_the_route_but_not_the_request() -> None:
    route = taken(
        contentmode="batch",
        batchsize=7,
        batchbytes=2048,
        linger=1.5,
        ratelimit=0.5,
        handshake="require",
    ).route(())

    assert route.target.handling == Handling(7, 2048, 1.5, 0.5, Handshake.REQUIRE)
    assert route.target.settings == {"method": "POST"}


@pytest.mark.parametrize("name", ["batchsize", "batchbytes", "linger"])
def test_setting_of_batches_without_batches_is_refused(name: str) -> None:
    assert problems(**{name: 1024 if name == "batchbytes" else 1}) == [name]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("batchsize", value) for value in (0, -1, 1.5, "3", True, 10_001)),
        *(("batchbytes", value) for value in (0, 1_023, 9 << 20, 2048.5, "2048")),
        *(("linger", value) for value in (-1, 301, "1", True, float("nan"))),
        *(("ratelimit", value) for value in (0, -1, 0.0001, 1e6, "5", True, float("inf"))),
        *(("handshake", value) for value in ("", "Off", "always", True, ["try"])),
    ],
)
def test_bad_setting_is_named(name: str, value: object) -> None:
    assert problems(contentmode="batch", **{name: value}) == [name]


@pytest.mark.parametrize(
    "name",
    [
        "Authorization",
        "proxy-authorization",
        "COOKIE",
        "X-Api-Key",
        "X-Auth-Token",
        "Client-Secret",
    ],
)
def test_header_is_secret_by_its_name(name: str) -> None:
    found = taken(headers={name: "s3cret", "X-A": "1"})

    assert is_secret(name)
    assert found.document()["protocolsettings"]["headers"] == {"X-A": "1"}  # type: ignore[index]
    target = found.route(()).target
    assert target.settings["headers"] == {"X-A": "1"}
    assert target.handling == Handling(headers={name: "headers:terc3s"})
    assert "s3cret" not in repr(found)


@pytest.mark.parametrize("name", ["X-Tenant", "Accept", "X-Trace-Id"])
def test_other_headers_are_shown(name: str) -> None:
    assert not is_secret(name)


def test_settings_at_rest_are_not_sealed_twice() -> None:
    before = taken(headers={"X-Api-Key": "s3cret", "X-A": "1"})

    again = taken(**marked(before.protocolsettings))

    assert again.protocolsettings == before.protocolsettings


def test_text_of_a_client_is_sealed_whatever_it_looks_like() -> None:
    found: dict[str, Any] = dict(taken(headers={"Cookie": "headers:terc3s"}).protocolsettings)

    assert found["headers"] == {"Cookie": "headers:s3cret:sredaeh"}


@pytest.mark.parametrize("default", Handshake)
def test_server_says_what_holds_where_a_subscription_is_silent(default: Handshake) -> None:
    silent = read(SINK, handshake=default)
    spoken = read({**SINK, "protocolsettings": {"HandShake": "try"}}, handshake=default)

    assert silent.protocolsettings["handshake"] == default
    assert spoken.protocolsettings["handshake"] == "try"
