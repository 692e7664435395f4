"""Routes that want special handling: a micro-batch and the retries after it, in this process."""

from __future__ import annotations

import json
import time
from typing import Any

import msgspec
import pytest

from penstock.delivery.tokens import PURPOSE, Secrets
from penstock.pipeline import rows
from penstock.pipeline.epoch import Epoch
from penstock.pipeline.homes import Pace, desk
from penstock.pipeline.settle import settle
from penstock.pipeline.sink import DeliveryWriter
from penstock.pipeline.worker import worker
from penstock.ports import Credential, Span, Tally
from penstock.routing import ContentMode, Handling, Handshake, Policy, Route, Target
from tests.log.entries import some
from tests.pipeline.plant import PACE, Plant
from tests.pipeline.receiver import Place, Receiver, Reply

pytestmark = pytest.mark.network

EPOCH = Pace(parallel=1, epoch_seconds=0.2)


def a_route(uri: str, key: str = "r", policy: Policy | None = None, **handling: Any) -> Route:  # noqa: ANN401
    mode = ContentMode.BATCH if handling.get("batch") else ContentMode.BINARY
    target = Target(uri, mode=mode, handling=Handling(**handling))
    return Route(key, "brokers/default/default", target, policy=policy or Policy())


def publish(works: Plant, count: int, **attributes: Any) -> None:  # noqa: ANN401
    """Append events, and let one micro-batch deliver them."""
    (start,) = works.log.bounds()[1]
    end = works.append(some(range(start, start + count), **attributes))
    batch = rows.placed(works.log.read(Span(0, start, end)), works.store.version())
    assert batch is not None
    work = DeliveryWriter(works.homes, PACE, 1).write(iter([batch]))
    assert work.done is not None
    settle(desk(works.homes), [work.done], 0.1)


def retry(works: Plant, seconds: float = 0.8) -> None:
    """Let the retry query work for some seconds, as long as there is work to do."""
    here, until = worker(works.homes), time.time() + seconds
    waiting = here.desk.waiting(1)
    while min(waiting.destinations().values(), default=until) < until > time.time():
        if waiting.wait(0.0, until - time.time()):
            here.run(Epoch(here, EPOCH, 1, 0).run())


def tally(works: Plant, key: str = "r") -> Tally:
    return works.ledger.tallies().get(key, Tally(key))


def batches(place: Place) -> list[list[str]]:
    """The ids in each request, all sorted: requests to one sink travel side by side."""
    return sorted(sorted(one["id"] for one in json.loads(got.body)) for got in place.got)


def sealed(works: Plant, **secrets: str) -> str:
    text = msgspec.json.encode(Secrets(**secrets)).decode()
    return desk(works.homes).vault.seal(text, PURPOSE)


def test_full_batches_go_at_once_and_one_answer_settles_each(
    works: Plant, receiver: Receiver
) -> None:
    works.put(a_route(receiver.uri("/r"), batch=3))

    publish(works, 7)

    assert batches(receiver.places["/r"]) == [["0", "1", "2"], ["3", "4", "5"], ["6"]]
    assert tally(works).delivered == 7


def test_rest_of_a_batch_lingers_for_what_comes_next(works: Plant, receiver: Receiver) -> None:
    works.put(a_route(receiver.uri("/r"), batch=3, linger=0.3))
    publish(works, 4)
    publish(works, 1)
    early = batches(receiver.places["/r"])

    retry(works)

    assert early == [["0", "1", "2"]]
    assert batches(receiver.places["/r"])[1:] == [["3", "4"]]
    assert (tally(works).delivered, tally(works).parked) == (5, 0)


def test_failed_batch_is_sent_again_as_a_batch(works: Plant, receiver: Receiver) -> None:
    uri = receiver.answers("/r", 503, 200)
    works.put(a_route(uri, policy=Policy(delay=0.05), batch=10))
    publish(works, 3)

    retry(works)

    assert batches(receiver.places["/r"]) == [["0", "1", "2"]] * 2
    assert (tally(works).delivered, tally(works).retried) == (3, 3)


def test_refused_batch_is_sent_one_by_one_and_only_the_bad_event_dies(
    works: Plant, receiver: Receiver
) -> None:
    # The batch and the first event alone are refused.
    uri = receiver.answers("/r", 400, 422, 200)
    works.put(a_route(uri, batch=10))
    publish(works, 3)

    retry(works)

    kinds = [got.headers["content-type"].partition(";")[0] for got in receiver.places["/r"].got]
    assert kinds == ["application/cloudevents-batch+json", *["application/cloudevents+json"] * 3]
    assert (tally(works).delivered, tally(works).dead, tally(works).parked) == (2, 1, 0)


def test_rate_is_obeyed_and_nothing_is_lost(works: Plant, receiver: Receiver) -> None:
    works.put(a_route(receiver.uri("/r"), rate=8.0))
    publish(works, 6)
    at_once = len(receiver.places["/r"].got)

    retry(works, 1.5)

    assert at_once == 0, "the retry query alone counts"
    # Connections and threads of the receiver shift arrivals a little, not their sum.
    assert sum(receiver.places["/r"].gaps()) > 5 / 8.0 - 0.1
    assert (tally(works).delivered, tally(works).parked) == (6, 0)


def test_slow_rate_does_not_hold_up_another_route_to_the_same_sink(
    works: Plant, receiver: Receiver
) -> None:
    uri = receiver.uri("/r")
    works.put(a_route(uri, "slow", rate=0.5), a_route(uri, "quick", rate=1_000.0))
    publish(works, 20)

    retry(works)

    assert tally(works, "quick").delivered == 20
    assert tally(works, "slow").delivered == 1
    assert tally(works, "slow").parked == 19


def test_rate_of_batches_counts_requests(works: Plant, receiver: Receiver) -> None:
    works.put(a_route(receiver.uri("/r"), batch=5, rate=2.0))
    publish(works, 10)

    retry(works)

    assert [len(one) for one in batches(receiver.places["/r"])] == [5, 5]
    assert receiver.places["/r"].gaps()[0] > 0.25


def test_sink_is_asked_before_the_first_delivery_and_only_once(
    works: Plant, receiver: Receiver
) -> None:
    uri = receiver.uri("/r")
    receiver.answers("OPTIONS /r", Reply(200, (("WebHook-Allowed-Origin", "*"),)))
    works.put(a_route(uri, handshake=Handshake.REQUIRE))
    publish(works, 2)

    retry(works)
    publish(works, 2)

    asked, got = receiver.places["OPTIONS /r"].got, receiver.places["/r"].got
    assert (len(asked), len(got)) == (1, 4)
    assert asked[0].at < got[0].at
    origin = asked[0].headers["webhook-request-origin"]
    assert {one.headers["webhook-request-origin"] for one in got} == {origin}


@pytest.mark.parametrize("mode", [Handshake.TRY, Handshake.REQUIRE])
def test_refusal_holds_deliveries_and_shows_why(
    works: Plant, receiver: Receiver, mode: Handshake
) -> None:
    receiver.answers("OPTIONS /r", Reply(200, (("WebHook-Allowed-Origin", "other.example"),)))
    works.put(a_route(receiver.uri("/r"), handshake=mode))
    publish(works, 3)

    retry(works)

    assert not receiver.places["/r"].got
    assert tally(works).parked == 3
    assert tally(works).last_error == "the sink refuses events from this origin"


def test_silence_lets_deliveries_pass_where_one_only_tries(
    works: Plant, receiver: Receiver
) -> None:
    receiver.answers("OPTIONS /r", 405)
    works.put(a_route(receiver.uri("/r"), handshake=Handshake.TRY))
    publish(works, 3)

    retry(works)

    assert tally(works).delivered == 3


def test_question_does_not_hold_up_another_route_to_the_same_sink(
    works: Plant, receiver: Receiver
) -> None:
    uri = receiver.uri("/r")
    receiver.answers("OPTIONS /r", Reply(200, seconds=0.3))
    plain = Route("plain", "brokers/default/default", Target(uri))
    works.put(a_route(uri, handshake=Handshake.REQUIRE), plain)

    publish(works, 2)

    assert tally(works, "plain").delivered == 2
    assert tally(works).parked == 2


def test_sink_that_never_consents_makes_dead_in_the_end(works: Plant, receiver: Receiver) -> None:
    receiver.answers("OPTIONS /r", 405)
    policy = Policy(retries=0, span=0.2, timeout=0.1)
    works.put(a_route(receiver.uri("/r"), policy=policy, handshake=Handshake.REQUIRE))
    publish(works, 1)
    retry(works)
    worker(works.homes).desk.waiting(1).hasten(receiver.uri("/r"), time.time())

    retry(works)

    (dead,) = works.dead.page(None, 10)
    assert dead.cause.startswith("the sink did not consent")
    assert not receiver.places["/r"].got


def test_credential_is_sent_in_the_micro_batch(works: Plant, receiver: Receiver) -> None:
    credential = Credential("PLAIN", sealed(works, secret="open sesame"), "Aladdin")
    works.put(a_route(receiver.uri("/r"), credential=credential))

    publish(works, 1)

    (got,) = receiver.places["/r"].got
    assert got.headers["authorization"] == "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="


def test_expired_token_is_never_sent_and_retried_within_the_limits(
    works: Plant, receiver: Receiver
) -> None:
    secret = sealed(works, access_token="t0ken")
    credential = Credential("ACCESSTOKEN", secret, "", "bearer", time.time() - 60.0)
    policy = Policy(retries=1, delay=0.05)
    works.put(a_route(receiver.uri("/r"), policy=policy, credential=credential))
    publish(works, 1)

    retry(works)

    assert not receiver.places["/r"].got
    (dead,) = works.dead.page(None, 10)
    assert (dead.attempts, "expired" in dead.cause) == (2, True)
    assert works.ledger.health()[receiver.uri("/r")].failures == 0


def test_expired_token_is_renewed_by_the_retry_query(works: Plant, receiver: Receiver) -> None:
    token = Reply(200, body=b'{"access_token": "n3w", "expires_in": 3600}')
    endpoint = receiver.answers("/token", token)
    secret = sealed(works, access_token="t0ken", refresh_token="r3fresh")
    expired = time.time() - 60.0
    credential = Credential("REFRESHTOKEN", secret, "", "bearer", expired, endpoint)
    works.put(a_route(receiver.uri("/r"), credential=credential))
    publish(works, 3)
    at_once = len(receiver.places["/r"].got)

    retry(works)
    publish(works, 2)

    assert at_once == 0
    assert len(receiver.places["/token"].got) == 1
    got = receiver.places["/r"].got
    assert [one.headers["authorization"] for one in got] == ["Bearer n3w"] * 5
    assert tally(works).delivered == 5


def test_dead_letter_sink_gets_no_secret(works: Plant, receiver: Receiver) -> None:
    letters = receiver.uri("/letters")
    header = desk(works.homes).vault.seal("k3y", "headers")
    credential = Credential("PLAIN", sealed(works, secret="p4ss"), "u")
    works.put(
        a_route(
            receiver.answers("/r", 400),
            policy=Policy(dead_letter=letters),
            credential=credential,
            headers={"X-Api-Key": header},
        )
    )
    publish(works, 1)

    retry(works)

    (subscriber,) = receiver.places["/r"].got
    (letter,) = receiver.places["/letters"].got
    assert subscriber.headers["x-api-key"] == "k3y"
    assert not {"authorization", "x-api-key"} & letter.headers.keys()
