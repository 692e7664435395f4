"""Knative resources, as a whole server keeps them through kill -9."""

from __future__ import annotations

import json

import pytest

from tests.end_to_end.harness import Server
from tests.end_to_end.receiver import Answer, Receiver
from tests.knative.cluster import Json, broker, channel, subscription, trigger

DOWN, UP = Answer(503), Answer(202)
REPLY = Answer(
    200,
    headers={
        "ce-specversion": "1.0",
        "ce-id": "reply",
        "ce-source": "/asked",
        "ce-type": "com.example.reply",
    },
)
PATIENT = {"retry": 1_000, "backoffDelay": "PT0.5S", "backoffPolicy": "linear"}


def created(server: Server, document: Json) -> str:
    """Create an object that is ready at once; return its address, if it has one."""
    plural = f"{document['kind'].lower()}s"
    path = f"/apis/{document['apiVersion']}/namespaces/restart/{plural}"
    headers = {"content-type": "application/json"}
    reply = server.call("POST", path, json.dumps(document).encode(), headers)
    assert reply.status == 201, reply.body
    status = reply.document()["status"]
    assert all(one["status"] == "True" for one in status["conditions"])
    return str(status.get("address", {}).get("url", ""))


def to(uri: str, **spec: object) -> Json:
    return {"subscriber": {"uri": uri}, "delivery": PATIENT, **spec}


@pytest.mark.covers("KN-061", "KN-068", "KN-081")
def test_events_and_replies_that_wait_outlive_everything(
    server: Server, receiver: Receiver
) -> None:
    asked, hearing, fed = (receiver.sink(name) for name in ("asked", "hearing", "fed"))
    asked.answers(REPLY)
    hearing.answers(DOWN)
    fed.answers(DOWN)
    to_broker = created(server, broker()).removeprefix(server.url)
    to_channel = created(server, channel()).removeprefix(server.url)
    a, b = ({"filter": {"attributes": {"type": f"com.example.{one}"}}} for one in ("a", "reply"))
    created(server, trigger("asks", **to(asked.url, **a)))
    created(server, trigger("hears", **to(hearing.url, **b)))
    created(server, subscription(**to(fed.url)))

    server.publish(to_broker, type="com.example.a")
    event = server.publish(to_channel, type="com.example.c")
    hearing.wait()
    fed.wait()
    server.kill()
    server.start()
    server.wait_ready()
    hearing.answers(UP)
    fed.answers(UP)

    # An event without data travels in structured mode.
    assert json.loads(hearing.wait_for("reply").body)["source"] == "/asked"
    assert json.loads(fed.wait_for(event).body)["type"] == "com.example.c"
