"""What clients ask before they speak of objects: discovery, OpenAPI, tables."""

from __future__ import annotations

from typing import Any

import pytest

from penstock.api.knative_table import age
from tests.api.served import Served
from tests.knative.cluster import (
    EVENTING,
    MESSAGING,
    URI,
    a_cluster,
    an_object,
    broker,
    channel,
    service,
    source,
    subscription,
    trigger,
)

pytestmark = pytest.mark.network

TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"
AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"


def asked(served: Served, path: str, accept: str) -> Any:  # noqa: ANN401 - any JSON value
    reply = served.request("GET", path, headers={"accept": accept})
    assert reply.status == 200
    return reply.document


def test_version_is_one_that_clients_can_read(served: Served) -> None:
    found = served.get("/version").document

    assert (found["major"], found["minor"].isdigit()) == ("1", True)


def test_groups_and_versions_lead_to_kinds(served: Served) -> None:
    assert served.get("/api").document["versions"] == ["v1"]
    groups = {one["name"]: one for one in served.get("/apis").document["groups"]}
    group = served.get("/apis/eventing.knative.dev").document
    kinds = served.get(f"/apis/{EVENTING}").document

    assert groups["eventing.knative.dev"]["preferredVersion"]["groupVersion"] == EVENTING
    assert (group["kind"], group["versions"][0]["version"]) == ("APIGroup", "v1")
    names = {one["name"]: one["verbs"] for one in kinds["resources"]}
    assert names.keys() == {"brokers", "brokers/status", "triggers", "triggers/status"}
    assert {"create", "deletecollection", "patch", "watch"} <= set(names["triggers"])
    assert names["triggers/status"] == ["get"]


def test_discovery_comes_in_one_piece_if_asked_for(served: Served) -> None:
    core = asked(served, "/api", AGGREGATED)
    others = asked(served, "/apis", AGGREGATED)

    assert [one["metadata"]["name"] for one in core["items"]] == [""]
    messaging = next(
        one for one in others["items"] if one["metadata"]["name"] == "messaging.knative.dev"
    )
    kinds = {one["responseKind"]["kind"] for one in messaging["versions"][0]["resources"]}
    assert kinds == {"Channel", "Subscription"}


def test_openapi_describes_every_kind(served: Served) -> None:
    a_cluster(served).made(source())
    index = served.get("/openapi/v3").document["paths"]
    documents = [served.get(one["serverRelativeURL"]).document for one in index.values()]
    older = served.get("/openapi/v2").document

    described = {
        (one["group"], one["kind"])
        for document in documents
        for found in document["components"]["schemas"].values()
        for one in found["x-kubernetes-group-version-kind"]
    }
    assert {
        ("eventing.knative.dev", "Trigger"),
        ("", "Service"),
        ("things.example.com", "Source"),
    } <= (described)
    assert len(older["definitions"]) == len(described)


def test_openapi_says_that_fields_are_checked(served: Served) -> None:
    paths = served.get(f"/openapi/v3/apis/{EVENTING}").document["paths"]

    patch = paths[f"/apis/{EVENTING}/namespaces/{{namespace}}/triggers/{{name}}"]["patch"]
    assert "fieldValidation" in [one["name"] for one in patch["parameters"]]


def test_older_clients_get_openapi_in_protocol_buffers(served: Served) -> None:
    accept = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf"

    reply = served.request("GET", "/openapi/v2", headers={"accept": accept})

    assert reply.headers["content-type"].endswith("+protobuf")
    assert reply.body.startswith(b"\x0a\x032.0")
    assert b"dev.knative.eventing.v1.Trigger" in reply.body


@pytest.mark.parametrize(
    ("document", "columns"),
    [
        (broker(), ["Name", "URL", "Ready", "Reason", "Age"]),
        (trigger(), ["Name", "Broker", "Subscriber_URI", "Ready", "Reason", "Age"]),
        (channel(), ["Name", "URL", "Ready", "Reason", "Age"]),
        (
            subscription(subscriber={"uri": URI}),
            ["Name", "Channel", "Subscriber_URI", "Reply_URI", "Ready", "Reason", "Age"],
        ),
        (service(), ["Name", "Type", "Cluster-IP", "External-IP", "Port(s)", "Age"]),
        (source(), ["Name", "URL", "Age"]),
        (an_object("v1", "ConfigMap", "m"), ["Name", "Data", "Age"]),
    ],
    ids=lambda one: one.get("kind") if isinstance(one, dict) else "",
)
def test_table_has_the_columns_of_its_kind(
    served: Served, document: dict[str, Any], columns: list[str]
) -> None:
    cluster = a_cluster(served)
    cluster.made(document)

    found = asked(served, cluster.path(document["kind"], api=document["apiVersion"]), TABLE)
    one = asked(served, cluster.at(document), TABLE)

    assert [column["name"] for column in found["columnDefinitions"]] == columns
    assert len(found["rows"][0]["cells"]) == len(columns)
    assert found["rows"] == one["rows"]
    assert found["rows"][0]["object"]["kind"] == "PartialObjectMetadata"


def test_table_says_why_something_is_not_ready(served: Served) -> None:
    cluster = a_cluster(served)
    cluster.made(trigger())

    found = asked(served, cluster.path("Trigger", api=EVENTING), TABLE)

    assert found["rows"][0]["cells"][:5] == ["t", "b", URI, "False", "BrokerNotFound"]


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "0s"), (119, "119s"), (120, "2m"), (7_199, "119m"), (7_200, "2h"), (3 * 86_400, "3d")],
)
def test_age_is_short(seconds: int, text: str) -> None:
    found = {"metadata": {"creationTimestamp": "1970-01-01T00:00:00Z"}}

    assert age(found, float(seconds)) == text


def test_kinds_have_their_groups(served: Served) -> None:
    found = served.get(f"/apis/{MESSAGING}").document

    assert {one["kind"] for one in found["resources"]} == {"Channel", "Subscription"}
