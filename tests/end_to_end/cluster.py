"""Resources of Knative, created through the API of a running server."""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tests.end_to_end.harness import Reply, Server
from tests.end_to_end.receiver import Answer, Received

_APIS = {
    "Broker": "eventing.knative.dev/v1",
    "Trigger": "eventing.knative.dev/v1",
    "Channel": "messaging.knative.dev/v1",
    "Subscription": "messaging.knative.dev/v1",
}


@dataclass(frozen=True, slots=True)
class Namespace:
    """One namespace of a server, which nobody else uses."""

    server: Server
    name: str

    def make(self, kind: str, name: str, **spec: Any) -> dict[str, Any]:  # noqa: ANN401 - any JSON
        """Create an object, see that it is ready, and return it."""
        made = {"apiVersion": _APIS[kind], "kind": kind, "metadata": {"name": name}, "spec": spec}
        headers = {"content-type": "application/json"}
        answer = self.server.call("POST", self._path(kind), json.dumps(made).encode(), headers)
        assert answer.status == 201, answer.body
        document = answer.document()
        conditions = {one["type"]: one["status"] for one in document["status"]["conditions"]}
        assert conditions["Ready"] == "True", document["status"]
        return document

    def delete(self, kind: str, name: str) -> None:
        answer = self.server.call("DELETE", f"{self._path(kind)}/{name}")
        assert answer.status == 200, answer.body

    def post(self, kind: str, name: str, **members: object) -> Reply:
        """Send an event to a Broker or a Channel, and return the answer."""
        event = {"specversion": "1.0", "id": "a", "source": "/test", "type": "a", **members}
        headers = {"content-type": "application/cloudevents+json"}
        path = f"/{kind.lower()}s/{self.name}/{name}"
        return self.server.call("POST", path, json.dumps(event).encode(), headers)

    def publish(self, kind: str, name: str, **members: object) -> None:
        assert self.post(kind, name, **members).status == 202

    def _path(self, kind: str) -> str:
        return f"/apis/{_APIS[kind]}/namespaces/{self.name}/{kind.lower()}s"


def a_namespace(server: Server) -> Namespace:
    return Namespace(server, f"n{uuid.uuid4().hex}")


def channel(name: str) -> dict[str, str]:
    """A reference to a Channel, as a Subscription has it."""
    return {"apiVersion": _APIS["Channel"], "kind": "Channel", "name": name}


def replies(kind: str) -> Mapping[str, str]:
    """Headers of an answer that holds an event of some type."""
    attributes = {"specversion": "1.0", "id": "b", "source": "/function", "type": kind}
    return {f"ce-{name}": text for name, text in attributes.items()} | {
        "content-type": "text/plain"
    }


def function(kind: str, received: Received, delay: float = 0.0) -> Answer:
    """The answer of a function: an event of some type, with the id of the one it got."""
    headers = {**replies(kind), "ce-id": received.event}
    return Answer(200, delay, headers, b"done")
