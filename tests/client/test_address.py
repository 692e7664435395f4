from __future__ import annotations

import pytest

from penstock.client import address
from penstock.errors import ResourceError


def test_named_address_wins_over_the_environment() -> None:
    found = address.base("http://one:1", {"PENSTOCK_URL": "http://two:2"})

    assert found == "http://one:1"


def test_environment_wins_over_the_default() -> None:
    found = address.base(None, {"PENSTOCK_URL": "https://two.example/penstock/"})

    assert found == "https://two.example/penstock"


def test_server_of_this_machine_is_the_default() -> None:
    assert address.base(None, {}) == "http://127.0.0.1:8080"


@pytest.mark.parametrize(
    "text",
    [
        "localhost:8080",
        "ftp://host",
        "http://",
        "http://host:99999",
        "http://host?a=b",
        "http://[x",
    ],
)
def test_what_is_no_address_is_refused(text: str) -> None:
    with pytest.raises(ResourceError, match="no address of a server"):
        address.base(text, {})


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("http://127.0.0.1:8080", True),
        ("http://localhost", True),
        ("http://[::1]:80", True),
        ("http://10.0.0.1", False),
        ("http://localhost.example", False),
    ],
)
def test_local_servers_are_known(text: str, expected: bool) -> None:  # noqa: FBT001
    assert address.is_local(text) is expected
