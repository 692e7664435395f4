"""A served API as a client of Kubernetes sees it, each test in a namespace of its own."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPResponse
from typing import Any

import msgspec

from penstock.routing import ROUTE, Route
from tests.api.served import Reply, Served

Json = dict[str, Any]

EVENTING = "eventing.knative.dev/v1"
MESSAGING = "messaging.knative.dev/v1"
MERGE = "application/merge-patch+json"
JSON_PATCH = "application/json-patch+json"
STRATEGIC = "application/strategic-merge-patch+json"
APPLY = "application/apply-patch+yaml"
URI = "http://sink.example/in"
_PLURALS = {
    "Broker": "brokers",
    "Trigger": "triggers",
    "Channel": "channels",
    "Subscription": "subscriptions",
    "Service": "services",
    "ConfigMap": "configmaps",
    "Source": "sources",
}
_numbers = itertools.count(1)


@dataclass(frozen=True, slots=True)
class Cluster:
    """One namespace of a server."""

    served: Served
    namespace: str

    def path(self, kind: str, name: str = "", api: str = "") -> str:
        root = f"/api/{api}" if "/" not in api else f"/apis/{api}"
        tail = f"/{name}" if name else ""
        return f"{root}/namespaces/{self.namespace}/{_PLURALS[kind]}{tail}"

    def create(self, document: Json, query: str = "") -> Reply:
        path = self.path(document["kind"], api=document["apiVersion"])
        return self.served.post(path + query, document)

    def made(self, document: Json) -> Any:  # noqa: ANN401 - any JSON value
        """Create an object that is fine, and return it."""
        reply = self.create(document)
        assert reply.status == 201, reply.document
        return reply.document

    def get(self, document: Json) -> Any:  # noqa: ANN401
        """Return an object as it now is."""
        reply = self.served.get(self.at(document))
        assert reply.status == 200, reply.document
        return reply.document

    def at(self, document: Json) -> str:
        name = document["metadata"]["name"]
        return self.path(document["kind"], name, document["apiVersion"])

    def replace(self, document: Json) -> Reply:
        headers = {"content-type": "application/json"}
        return self.served.request("PUT", self.at(document), document, headers)

    def patch(
        self, document: Json, body: Json | list[Any], media: str = MERGE, query: str = ""
    ) -> Reply:
        path = self.at(document) + query
        return self.served.request("PATCH", path, json.dumps(body), {"content-type": media})

    def changed(self, document: Json, **spec: Any) -> Any:  # noqa: ANN401
        """Merge something into the spec of an object, and return it."""
        reply = self.patch(document, {"spec": spec})
        assert reply.status == 200, reply.document
        return reply.document

    def delete(self, document: Json) -> Reply:
        return self.served.request("DELETE", self.at(document))

    def route(self, document: Json) -> Route | None:
        """Return the route that an object stands for."""
        found = self.served.control.store.get(ROUTE, document["metadata"]["uid"])
        return None if found is None else msgspec.json.decode(found.body, type=Route)

    def publish(self, url: str) -> int:
        """Send an event to an address of the server, and return the answer's status."""
        headers = {
            "ce-specversion": "1.0",
            "ce-id": "1",
            "ce-source": "/s",
            "ce-type": "t",
        }
        return self.served.post("/" + url.split("/", 3)[3], b"", headers).status


def a_cluster(served: Served) -> Cluster:
    """Return a namespace that nobody used before."""
    return Cluster(served, f"n{next(_numbers)}")


def an_object(api: str, kind: str, name: str, spec: Mapping[str, Any] | None = None) -> Json:
    made: Json = {"apiVersion": api, "kind": kind, "metadata": {"name": name}}
    return made if spec is None else {**made, "spec": dict(spec)}


def broker(name: str = "b", **spec: Any) -> Json:  # noqa: ANN401 - any JSON value
    return an_object(EVENTING, "Broker", name, spec)


def trigger(name: str = "t", **spec: Any) -> Json:  # noqa: ANN401
    return an_object(EVENTING, "Trigger", name, {"broker": "b", "subscriber": {"uri": URI}} | spec)


def channel(name: str = "c", **spec: Any) -> Json:  # noqa: ANN401
    return an_object(MESSAGING, "Channel", name, spec)


def subscription(name: str = "s", **spec: Any) -> Json:  # noqa: ANN401
    of = {"apiVersion": MESSAGING, "kind": "Channel", "name": "c"}
    return an_object(MESSAGING, "Subscription", name, {"channel": of} | spec)


def service(name: str = "svc", **spec: Any) -> Json:  # noqa: ANN401
    return an_object("v1", "Service", name, spec)


def source(name: str = "src", url: str | None = "http://source.example/x") -> Json:
    """Return an object of a kind that nobody knows, with an address."""
    made = an_object("things.example.com/v1", "Source", name)
    return {**made, "status": {"address": {"url": url}}} if url is not None else made


def ref(document: Json, **more: str) -> Json:
    """Return a destination that refers to an object."""
    found = {key: document[key] for key in ("apiVersion", "kind")}
    return {"ref": {**found, "name": document["metadata"]["name"], **more}}


def condition(document: Json, kind: str = "Ready") -> Json:
    """Return a condition of an object."""
    found: list[Json] = [one for one in document["status"]["conditions"] if one["type"] == kind]
    assert len(found) == 1
    return found[0]


def ready(document: Json) -> str:
    return str(condition(document)["status"])


def causes(reply: Reply) -> dict[str, str]:
    """Return the reasons of a refusal by the path of the field."""
    assert reply.status == 422, reply.document
    return {one["field"]: one["reason"] for one in reply.document["details"]["causes"]}


@dataclass(slots=True)
class Watching:
    """An open watch."""

    connection: HTTPConnection
    response: HTTPResponse

    def __iter__(self) -> Iterator[Json]:
        for line in self.response:
            yield json.loads(line)

    def next(self) -> Json:
        return json.loads(self.response.readline())  # type: ignore[no-any-return]

    def close(self) -> None:
        self.response.close()
        self.connection.close()


def watching(served: Served, path: str, accept: str = "application/json") -> Watching:
    """Open a watch."""
    connection = HTTPConnection("127.0.0.1", served.port, timeout=20)
    connection.request("GET", path, headers={"accept": accept})
    return Watching(connection, connection.getresponse())
