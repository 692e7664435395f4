from __future__ import annotations

import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.bindings import http
from penstock.delivery.shipping import Packer
from penstock.events import CloudEvent
from penstock.ports import Leg, Request
from penstock.routing import ContentMode, Route, Target
from tests.events.strategies import events, old_events
from tests.routing.routes import URI, a_knative_route, a_route

EVENT = CloudEvent("1", "/a", "t", datacontenttype="text/plain", data=b"hello")


def structured(route: Route) -> Route:
    target = Target(route.target.uri, mode=ContentMode.STRUCTURED)
    return msgspec.structs.replace(route, target=target)


def received(request: Request) -> CloudEvent:
    """The event as the receiver of a request reads it."""
    headers = [(name.encode(), value.encode("latin-1")) for name, value in request.headers]
    (event,) = http.read(headers, request.body)
    return event


@pytest.mark.covers("KN-113", "KN-114")
def test_event_travels_in_binary_mode_by_default() -> None:
    request = Packer(EVENT).request(a_route())

    assert dict(request.headers) == {
        "ce-specversion": "1.0",
        "ce-id": "1",
        "ce-source": "/a",
        "ce-type": "t",
        "content-type": "text/plain",
    }
    assert (request.uri, request.body) == (URI, b"hello")


def test_event_travels_in_structured_mode_where_it_is_asked_for() -> None:
    request = Packer(EVENT).request(structured(a_route()))

    assert dict(request.headers) == {"content-type": "application/cloudevents+json; charset=utf-8"}
    assert json.loads(request.body)["data"] == "hello"


@pytest.mark.covers("CE-119")
def test_event_without_data_travels_structured() -> None:
    request = Packer(CloudEvent("1", "/a", "t")).request(a_route())

    assert dict(request.headers)["content-type"].startswith("application/cloudevents+json")
    assert request.body


@given(st.one_of(events(), old_events()), st.sampled_from([a_route(), structured(a_route())]))
def test_every_event_can_be_sent_and_is_received_with_its_data(
    event: CloudEvent, route: Route
) -> None:
    found = received(Packer(event).request(route))

    assert (found.id, found.source, found.type) == (event.id, event.source, event.type)
    assert found.specversion == event.specversion
    assert meaning(found) == meaning(event)


def meaning(event: CloudEvent) -> object:
    """The data; JSON may be written in another way when it is part of a JSON document."""
    try:
        return json.loads(event.data or b"")
    except ValueError:
        return event.data or b""


def test_packer_writes_each_mode_once() -> None:
    packer = Packer(EVENT)

    bodies = [packer.request(route).body for route in (a_route("a"), a_route("b"))]

    assert bodies[0] is bodies[1]


@pytest.mark.covers("KN-139")
def test_subscriber_of_knative_is_asked_for_a_reply_and_dead_letter_sink_is_not() -> None:
    route = a_knative_route(dead_letter="http://letters/")

    asked, letter = (Packer(EVENT).request(route, leg) for leg in (Leg.SUBSCRIBER, Leg.DEAD_LETTER))

    assert ("prefer", "reply") in asked.headers
    assert "prefer" not in dict(letter.headers)
    assert (asked.uri, letter.uri) == (URI, "http://letters/")
    assert "prefer" not in dict(Packer(EVENT).request(a_route()).headers)


def test_reply_is_read_only_where_somebody_wants_it() -> None:
    route = msgspec.structs.replace(a_route(), replies=True)

    assert Packer(EVENT).request(route).wants_body
    assert not Packer(EVENT).request(route, Leg.DEAD_LETTER).wants_body
    assert not Packer(EVENT).request(a_route()).wants_body


def test_reply_is_sent_on_where_the_address_is_not_a_stream_of_ours() -> None:
    route = msgspec.structs.replace(a_route(), reply_to="http://replies/")
    ours = msgspec.structs.replace(route, reply_stream="channels/n/next")

    assert Packer(EVENT).request(route).reply_to == "http://replies/"
    assert Packer(EVENT).request(route, Leg.DEAD_LETTER).reply_to == ""
    assert Packer(EVENT).request(ours).reply_to == ""
    assert Packer(EVENT).request(ours).wants_body


def test_words_of_a_refusal_are_read_where_a_dead_letter_quotes_them() -> None:
    quoting, silent = a_knative_route(dead_letter="http://letters/"), a_knative_route()

    assert Packer(EVENT).request(quoting).wants_error
    assert not Packer(EVENT).request(silent).wants_error
    assert not Packer(EVENT).request(a_route()).wants_error


def test_headers_settings_and_timeout_of_the_route_travel_along() -> None:
    chosen = {"method": "PUT", "headers": {"x-key": "k"}}
    route = msgspec.structs.replace(
        a_knative_route(timeout=7.0), target=Target(URI, settings=chosen)
    )

    request = Packer(EVENT).request(route)

    assert ("x-key", "k") in request.headers
    assert request.settings == chosen
    assert request.timeout == 7.0
