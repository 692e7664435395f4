from __future__ import annotations

import json
from typing import Any

import pytest

from penstock.bindings import http
from penstock.delivery.accounts import Delivery
from penstock.delivery.batching import full, parcels
from penstock.events.event import CloudEvent
from penstock.ports import Credential, Parked, Request
from penstock.routing import ContentMode, Handling, Handshake, Policy, Route, Target
from tests.log.entries import an_entry

URI = "https://sink.example/"


def a_route(**handling: Any) -> Route:  # noqa: ANN401
    mode = ContentMode.BATCH if handling.get("batch") else ContentMode.BINARY
    settings = {"method": "PUT", "headers": {"X-A": "1"}}
    target = Target(URI, mode=mode, settings=settings, handling=Handling(**handling))
    return Route("r", "brokers/default/default", target, policy=Policy(timeout=7.0))


def some(route: Route, count: int, **attributes: Any) -> list[Delivery]:  # noqa: ANN401
    return [Delivery(route, an_entry(number, **attributes), 0, number) for number in range(count)]


def sent(deliveries: list[Delivery]) -> list[list[str]]:
    """The ids in each request."""
    return [[event.id for event in events(one.request)] for one in parcels(deliveries, "o.example")]


def events(request: Request) -> list[CloudEvent]:
    headers = [(name.lower().encode(), value.encode()) for name, value in request.headers]
    return http.read(headers, request.body)


def test_batch_is_a_json_array_with_its_own_media_type() -> None:
    (parcel,) = parcels(some(a_route(batch=10), 3), "o.example")

    headers = dict(parcel.request.headers)
    assert headers["content-type"] == "application/cloudevents-batch+json; charset=utf-8"
    assert [one["id"] for one in json.loads(parcel.request.body)] == ["0", "1", "2"]
    assert [one.offset for one in parcel.deliveries] == [0, 1, 2]


def test_request_of_a_batch_has_method_headers_and_timeout_of_the_route() -> None:
    (parcel,) = parcels(some(a_route(batch=10), 2), "o.example")

    request = parcel.request
    assert (request.uri, request.timeout, request.settings["method"]) == (URI, 7.0, "PUT")
    assert ("X-A", "1") in request.headers


def test_batch_has_no_more_events_than_asked() -> None:
    assert sent(some(a_route(batch=2), 5)) == [["0", "1"], ["2", "3"], ["4"]]


def test_batch_has_no_more_bytes_than_asked() -> None:
    route = a_route(batch=100, batch_bytes=2_000)
    deliveries = some(route, 6, data=b"x" * 600, datacontenttype="text/plain")

    found = list(parcels(deliveries, "o.example"))

    assert [len(one.deliveries) for one in found] == [2, 2, 2]
    assert all(len(one.request.body) <= 2_000 for one in found)


def test_event_larger_than_a_batch_may_be_travels_alone() -> None:
    route = a_route(batch=100, batch_bytes=1_024)
    large = Delivery(route, an_entry(9, data=b"x" * 5_000, datacontenttype="text/plain"), 0, 9)

    assert sent([*some(route, 1), large, *some(route, 1)]) == [["0"], ["9"], ["0"]]


@pytest.mark.covers("CE-061")
def test_versions_do_not_meet_in_a_batch() -> None:
    route = a_route(batch=10)
    old = Delivery(route, an_entry(9, specversion="0.2"), 0, 9)

    assert sent([*some(route, 2), old]) == [["0", "1"], ["9"]]


@pytest.mark.parametrize("status", [400, 413, 415, 422])
def test_event_of_a_refused_batch_is_sent_alone_and_structured(status: int) -> None:
    route = a_route(batch=10)
    waiting = Parked("r", URI, 0, 9, 1.0, 2.0, status=status)
    alone = Delivery(route, an_entry(9), 0, 9, waiting)

    first, *rest = parcels([*some(route, 2), alone], "o.example")

    assert dict(first.request.headers)["content-type"].startswith("application/cloudevents+json")
    assert [len(one.deliveries) for one in rest] == [2]


def test_without_batches_each_event_has_its_own_request() -> None:
    assert sent(some(a_route(rate=5.0), 3)) == [["0"], ["1"], ["2"]]


@pytest.mark.parametrize(
    ("handling", "count", "now"),
    [
        ({"batch": 10, "linger": 1.0}, 25, 20),
        ({"batch": 10, "linger": 1.0}, 9, 0),
        ({"batch": 10, "linger": 0.0}, 9, 9),
        ({"rate": 1.0}, 9, 9),
    ],
)
def test_only_the_rest_of_a_batch_lingers(handling: dict[str, Any], count: int, now: int) -> None:
    route = a_route(**handling)

    assert full(some(route, count), Handling(**handling)) == now


def test_request_carries_sealed_secrets_and_the_origin() -> None:
    credential = Credential("PLAIN", "sealed", "u")
    route = a_route(
        batch=2, credential=credential, headers={"X-Key": "sealed"}, handshake=Handshake.TRY
    )

    (parcel,) = parcels(some(route, 2), "o.example")

    assert ("webhook-request-origin", "o.example") in parcel.request.headers
    guard = parcel.request.guard
    assert guard is not None
    assert (guard.route, guard.credential, guard.headers) == ("r", credential, {"X-Key": "sealed"})


def test_request_without_secrets_is_not_guarded() -> None:
    (parcel,) = parcels(some(a_route(batch=2), 2), "o.example")

    assert parcel.request.guard is None
    assert "webhook-request-origin" not in dict(parcel.request.headers)
