from __future__ import annotations

import pytest

from penstock.discovery.places import stream_at, subscriptions_at

BASE = "http://events.example.com:8080"
DEFAULT = "brokers/default/default"


@pytest.mark.parametrize(
    ("address", "base", "stream"),
    [
        (f"{BASE}/subscriptions", BASE, DEFAULT),
        (f"{BASE}/subscriptions/", BASE, DEFAULT),
        ("HTTP://Events.Example.com:8080/subscriptions", BASE, DEFAULT),
        (f"{BASE}/brokers/shop/orders/subscriptions", BASE, "brokers/shop/orders"),
        ("http://localhost:80/subscriptions", "http://127.0.0.1", DEFAULT),
        ("https://[::1]/subscriptions", "https://localhost", DEFAULT),
        (f"{BASE}/prefix/subscriptions", f"{BASE}/prefix", DEFAULT),
    ],
)
def test_own_address_is_known_in_any_spelling(address: str, base: str, stream: str) -> None:
    assert stream_at(address, base, DEFAULT) == stream


@pytest.mark.parametrize(
    "address",
    [
        "http://other.example.com:8080/subscriptions",
        "http://events.example.com/subscriptions",
        f"{BASE}/services",
        f"{BASE}/x/subscriptions",
        f"{BASE}/brokers//orders/subscriptions",
        f"{BASE}/brokers/shop/subscriptions",
        BASE,
        "mailto:a@b",
        "http://[::1/subscriptions",
        "http://h:x/subscriptions",
    ],
)
def test_other_address_is_not_ours(address: str) -> None:
    assert stream_at(address, BASE, DEFAULT) is None


def test_default_broker_takes_subscriptions_below_the_base() -> None:
    assert stream_at(subscriptions_at(BASE), BASE, DEFAULT) == DEFAULT
