from __future__ import annotations

import socket
from collections.abc import Iterator

import msgspec
import pytest

from penstock import runtime
from penstock.client import Client, CloudEvent, Mode, Subscription, event
from penstock.config import Settings
from penstock.errors import (
    EventError,
    LimitError,
    NotFoundError,
    ResourceError,
    StoreError,
)
from penstock.formats import arrow
from penstock.ports import Span
from tests.client.server import free_port

pytestmark = pytest.mark.network


def logged(settings: Settings) -> dict[str, CloudEvent]:
    """All events in the log by their ids."""
    log = runtime.open_log(settings)
    try:
        (first,), (head,) = log.bounds()
        chunks = list(log.read(Span(0, first, head)))
    finally:
        log.close()
    events = [entry.event for chunk in chunks for entry in arrow.unpack(chunk.batch)]
    return {event.id: event for event in events}


@pytest.mark.parametrize("mode", list(Mode))
def test_published_event_is_in_the_log(client: Client, server: Settings, mode: Mode) -> None:
    made = event(type="t", source="/s", subject="ä %", data=b"\x00\xff", myext="x")

    assert client.publish(made, mode=mode) == made.id

    assert logged(server)[made.id] == made


def test_batch_is_published_together(client: Client, server: Settings) -> None:
    events = [event(type="t", source="/s", data={"n": number}) for number in range(3)]

    ids = client.publish_batch(events, "default/default")

    assert ids == [one.id for one in events]
    assert set(ids) <= logged(server).keys()


def test_wrong_event_is_refused_before_it_is_sent() -> None:
    wrong = msgspec.structs.replace(event(type="t", source="/s"), type="", source="")

    with Client("http://127.0.0.1:1") as client, pytest.raises(EventError) as caught:
        client.publish_batch([wrong])

    assert [problem.path for problem in caught.value.problems] == ["[0].source", "[0].type"]


def test_unknown_broker_is_not_found(client: Client) -> None:
    with pytest.raises(NotFoundError):
        client.publish(event(type="t", source="/s"), "nobody/nothing")


def test_event_beyond_the_limit_is_a_limit_error(client: Client) -> None:
    large = event(type="t", source="/s", data=bytes(2 << 20))

    with pytest.raises(LimitError) as caught:
        client.publish(large)

    assert caught.value.retry_after is None


def test_subscription_lives_from_create_to_delete(client: Client) -> None:
    wanted = Subscription(
        sink="http://127.0.0.1:9/in",
        types=("a", "b"),
        source="/s",
        filters=({"prefix": {"subject": "x"}},),
        protocolsettings={"retry": 2},
    )

    made = client.create_subscription(wanted)

    assert made.id
    assert (made.sink, made.types, made.filters) == (wanted.sink, wanted.types, wanted.filters)
    assert made.protocolsettings["retry"] == 2
    assert client.subscription(made.id) == made
    assert client.delete_subscription(made.id) == msgspec.structs.replace(made, etag="")
    with pytest.raises(NotFoundError):
        client.subscription(made.id)


def test_subscription_may_be_a_document_of_the_servers_own_words(client: Client) -> None:
    document = {"protocol": "HTTP", "sink": "http://h/", "filter": {"exact": {"type": "t"}}}

    made = client.create_subscription(document)

    assert made.filters == ({"exact": {"type": "t"}},)


def test_problems_of_a_subscription_come_back_with_their_paths(client: Client) -> None:
    wrong = Subscription(sink="nowhere", filters=({"exact": {"Bad": "x"}},))

    with pytest.raises(ResourceError) as caught:
        client.create_subscription(wrong)

    paths = {problem.path for problem in caught.value.problems}
    assert {"sink", "filters[0].exact.Bad"} <= paths


def test_all_pages_are_listed(client: Client) -> None:
    made = {client.create_subscription(Subscription(sink="http://h/")).id for _ in range(5)}

    found = [one.id for one in client.subscriptions(limit=2)]

    assert sorted(found) == sorted(made)


def test_status_of_a_new_subscription_is_clean(client: Client) -> None:
    made = client.create_subscription(Subscription(sink="http://h/"))

    status = client.subscription_status(made.id)

    assert (status.id, status.stopped, status.sink.state) == (made.id, False, "up")
    assert status.deliveries.matched == 0


def test_readiness_names_what_is_missing(client: Client) -> None:
    found = client.readiness()

    assert not found.ready
    assert [line.partition(":")[0] for line in found.missing] == ["pipeline"]


def test_nobody_there_is_said_with_what_to_do() -> None:
    url = f"http://127.0.0.1:{free_port()}"

    with Client(url) as client, pytest.raises(NotFoundError, match="penstock up"):
        client.readiness()


@pytest.fixture
def silent() -> Iterator[str]:
    """The address of a server that takes connections and never answers."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"


def test_silence_is_not_taken_for_a_refusal(silent: str) -> None:
    made = event(type="t", source="/s")

    with Client(silent, timeout=0.2) as client, pytest.raises(StoreError, match="may have taken"):
        client.publish(made)


def test_client_of_no_address_is_refused() -> None:
    with pytest.raises(ResourceError, match="nonsense"):
        Client("nonsense")
