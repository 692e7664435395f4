from __future__ import annotations

import pytest

from penstock.delivery.handshake import Permission
from tests.api.served import Served

SINK = "https://sink.example/"


def asked(served: Served, rate: int = 0) -> str:
    """Ask a sink for its consent, and return the path of its callback."""
    permissions = served.control.permissions
    permission, token = permissions.keyed(
        Permission(SINK, "us.example", asked=rate), lambda: "s3cret"
    )
    permissions.put(permission)
    return f"/permissions/{token}"


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_callback_grants_permission(served: Served, method: str) -> None:
    answer = served.request(method, asked(served))

    assert (answer.status, answer.document) == (200, {"status": "granted", "rate": "*"})
    assert served.control.permissions.get(SINK, "us.example").consent == "GIVEN"


def test_rate_that_was_asked_for_is_granted_where_none_is_named(served: Served) -> None:
    assert served.get(asked(served, 120)).document["rate"] == 120


@pytest.mark.parametrize("path", ["/permissions/x", "/permissions/x-y", "/permissions/%00-%FF"])
def test_unknown_callback_is_not_found(served: Served, path: str) -> None:
    asked(served)

    assert served.get(path).status == 404
    assert served.control.permissions.get(SINK, "us.example").consent == ""


def test_methods_are_listed(served: Served) -> None:
    assert served.request("OPTIONS", "/permissions/x").headers["allow"] == "GET,POST,OPTIONS"
