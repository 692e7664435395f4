"""The operations of the Kubernetes API, as any of its clients uses them."""

from __future__ import annotations

from typing import Any

import pytest

from tests.api.served import Served
from tests.knative.cluster import (
    EVENTING,
    Cluster,
    Json,
    a_cluster,
    broker,
    causes,
    channel,
    ready,
    ref,
    source,
    trigger,
)

pytestmark = pytest.mark.network

BROKERS = "/apis/eventing.knative.dev/v1/brokers"


@pytest.fixture
def cluster(served: Served) -> Cluster:
    return a_cluster(served)


def labelled(name: str, **labels: str) -> Json:
    return {**broker(name), "metadata": {"name": name, "labels": labels}}


def listed(cluster: Cluster, query: str = "", kind: str = "Broker") -> Any:  # noqa: ANN401
    return cluster.served.get(cluster.path(kind, api=EVENTING) + query).document


def names(found: Any) -> list[str]:  # noqa: ANN401 - any JSON value
    return [one["metadata"]["name"] for one in found["items"]]


def test_list_has_the_version_of_its_objects(cluster: Cluster) -> None:
    made = [cluster.made(broker(name)) for name in ("a", "b")]

    found = listed(cluster)

    assert (found["kind"], found["apiVersion"]) == ("BrokerList", EVENTING)
    assert found["items"] == made
    assert int(found["metadata"]["resourceVersion"]) >= int(made[1]["metadata"]["resourceVersion"])


def test_list_without_a_namespace_shows_all_of_them(cluster: Cluster) -> None:
    other = a_cluster(cluster.served)
    for each in (cluster, other):
        each.made(labelled("b", all="1"))

    found = cluster.served.get(f"{BROKERS}?labelSelector=all%3D1").document

    spaces = [one["metadata"]["namespace"] for one in found["items"]]
    assert sorted(spaces) == sorted([cluster.namespace, other.namespace])


@pytest.mark.parametrize(
    ("selector", "found"),
    [
        ("team=a", ["one"]),
        ("team==a", ["one"]),
        ("team!=a", ["three", "two"]),
        ("team in (a,b)", ["one", "two"]),
        ("team notin (a, b)", ["three"]),
        ("team", ["one", "two"]),
        ("!team", ["three"]),
        ("team,tier=x", ["two"]),
        ("", ["one", "three", "two"]),
    ],
)
def test_label_selectors(cluster: Cluster, selector: str, found: list[str]) -> None:
    for document in (
        labelled("one", team="a"),
        labelled("two", team="b", tier="x"),
        broker("three"),
    ):
        cluster.made(document)

    assert names(listed(cluster, f"?labelSelector={selector.replace(' ', '%20')}")) == found


@pytest.mark.parametrize(
    ("selector", "found"),
    [
        ("metadata.name=one", ["one"]),
        ("metadata.name!=one", ["two"]),
        ("spec.broker=x,metadata.name=two", ["two"]),
        ("spec.nothing=1", []),
    ],
)
def test_field_selectors(cluster: Cluster, selector: str, found: list[str]) -> None:
    cluster.made(trigger("one"))
    cluster.made(trigger("two", broker="x"))

    assert names(listed(cluster, f"?fieldSelector={selector}", "Trigger")) == found


@pytest.mark.parametrize("query", ["labelSelector=a(", "fieldSelector=a", "limit=-1", "limit=x"])
def test_wrong_query_is_refused(cluster: Cluster, query: str) -> None:
    reply = cluster.served.get(f"{BROKERS}?{query}")

    assert reply.document["kind"] == "Status"
    assert reply.status == 422


def test_pages_show_one_state_of_the_world(cluster: Cluster) -> None:
    for number in range(5):
        cluster.made(broker(f"b{number}"))

    first = listed(cluster, "?limit=2")
    cluster.delete(broker("b3"))
    cluster.made(broker("b9"))
    second = listed(cluster, f"?limit=2&continue={first['metadata']['continue']}")
    third = listed(cluster, f"?limit=2&continue={second['metadata']['continue']}")

    assert [names(page) for page in (first, second, third)] == [["b0", "b1"], ["b2", "b3"], ["b4"]]
    assert first["metadata"]["remainingItemCount"] == 3
    assert "continue" not in third["metadata"]
    assert third["metadata"]["resourceVersion"] == first["metadata"]["resourceVersion"]


def test_page_whose_state_is_forgotten_is_gone(cluster: Cluster) -> None:
    for number in range(3):
        cluster.made(broker(f"b{number}"))
    token = listed(cluster, "?limit=1")["metadata"]["continue"]
    cluster.delete(broker("b2"))
    cluster.served.control.store.forget(cluster.served.control.store.version())  # type: ignore[attr-defined]

    reply = cluster.served.get(f"{cluster.path('Broker', api=EVENTING)}?continue={token}")

    assert (reply.status, reply.document["reason"]) == (410, "Expired")


def test_token_that_is_none_is_refused(cluster: Cluster) -> None:
    assert cluster.served.get(f"{BROKERS}?continue=nonsense").status == 400


def test_second_object_of_a_name_is_refused(cluster: Cluster) -> None:
    cluster.made(broker())

    reply = cluster.create(broker())

    assert (reply.status, reply.document["reason"]) == (409, "AlreadyExists")
    assert reply.document["message"] == 'brokers.eventing.knative.dev "b" already exists'


def test_missing_object_is_named(cluster: Cluster) -> None:
    reply = cluster.served.get(cluster.at(broker()))

    assert (reply.status, reply.document["reason"]) == (404, "NotFound")
    assert reply.document["details"] == {
        "name": "b",
        "group": "eventing.knative.dev",
        "kind": "brokers",
    }


def test_name_is_made_from_its_beginning(cluster: Cluster) -> None:
    document = {**broker(), "metadata": {"generateName": "made-"}}

    found = {cluster.made(document)["metadata"]["name"] for _ in range(3)}

    assert len(found) == 3
    assert all(len(name) == 10 and name.startswith("made-") for name in found)


def test_change_to_an_old_version_is_refused(cluster: Cluster) -> None:
    old = cluster.made(broker())
    cluster.changed(broker(), delivery={"retry": 1})

    reply = cluster.replace(old)
    fresh = cluster.replace({**cluster.get(broker()), "spec": {}})

    assert (reply.status, reply.document["reason"]) == (409, "Conflict")
    assert fresh.status == 200
    assert fresh.document["metadata"]["generation"] == 3


def test_change_that_changes_nothing_makes_no_version(cluster: Cluster) -> None:
    made = cluster.made(trigger())

    replaced = cluster.replace(made).document
    patched = cluster.patch(trigger(), {"spec": {"broker": "b"}}).document

    assert replaced == patched == made


@pytest.mark.parametrize("field", ["uid", "creationTimestamp", "generation"])
def test_metadata_of_the_server_cannot_be_set(cluster: Cluster, field: str) -> None:
    made = cluster.made(broker())
    forged = {**made, "metadata": {**made["metadata"], field: "x"}}

    reply = cluster.replace(forged)

    assert reply.status == (409 if field == "uid" else 200)
    assert cluster.get(broker())["metadata"] == made["metadata"]


def test_name_in_the_address_counts(cluster: Cluster) -> None:
    cluster.made(broker())

    reply = cluster.patch(broker(), {"metadata": {"name": "other"}})

    assert reply.status == 422


@pytest.mark.parametrize(
    ("change", "status"),
    [({"kind": "Trigger"}, 400), ({"metadata": {"name": "b", "namespace": "x"}}, 400),
     ({"metadata": []}, 422), ({"spec": []}, 422), ({"sepc": {}}, 422)],
    ids=str,
)  # fmt: skip
def test_object_in_the_wrong_place_or_shape_is_refused(
    cluster: Cluster, change: Json, status: int
) -> None:
    path = cluster.path("Broker", api=EVENTING)

    reply = cluster.served.post(path, {**broker(), **change})

    assert (reply.status, reply.document["kind"]) == (status, "Status")


@pytest.mark.parametrize("body", ["", "{", "[]", "5", '"x"', "null"])
def test_body_that_is_no_object_is_refused(cluster: Cluster, body: str) -> None:
    reply = cluster.served.post(cluster.path("Broker", api=EVENTING), body)

    assert (reply.status, reply.document["reason"]) == (400, "BadRequest")


def test_dry_run_answers_and_stores_nothing(cluster: Cluster) -> None:
    created = cluster.create(broker(), "?dryRun=All")
    cluster.made(trigger())
    patched = cluster.patch(trigger(), {"spec": {"subscriber": {"uri": "/x"}}}, query="?dryRun=All")
    deleted = cluster.served.request("DELETE", cluster.at(trigger()) + "?dryRun=All")

    assert (created.status, ready(created.document)) == (201, "True")
    assert patched.document["metadata"]["generation"] == 2
    assert deleted.status == 200
    assert cluster.served.get(cluster.at(broker())).status == 404
    assert cluster.get(trigger())["metadata"]["generation"] == 1


def test_deleted_object_is_gone_with_its_uid(cluster: Cluster) -> None:
    made = cluster.made(broker())

    reply = cluster.delete(broker())

    assert reply.document["status"] == "Success"
    assert reply.document["details"]["uid"] == made["metadata"]["uid"]
    assert cluster.delete(broker()).status == 404


@pytest.mark.parametrize(
    ("precondition", "status"), [({"uid": "x"}, 409), ({"resourceVersion": "1"}, 409), ({}, 200)]
)
def test_deletion_has_preconditions(cluster: Cluster, precondition: Json, status: int) -> None:
    cluster.made(broker())
    body = {"kind": "DeleteOptions", "propagationPolicy": "Foreground"}

    reply = cluster.served.request(
        "DELETE", cluster.at(broker()), {**body, "preconditions": precondition}
    )

    assert reply.status == status


def test_object_with_finalizers_stays_until_they_are_gone(cluster: Cluster) -> None:
    held = {"name": "b", "finalizers": ["example.com/wait"]}
    cluster.made({**broker(), "metadata": held})

    waiting = cluster.delete(broker()).document
    again = cluster.delete(broker()).document
    cluster.patch(broker(), {"metadata": {"finalizers": None}})

    assert waiting["metadata"]["deletionTimestamp"]
    assert again["metadata"]["deletionTimestamp"] == waiting["metadata"]["deletionTimestamp"]
    assert cluster.served.get(cluster.at(broker())).status == 404


def test_collection_is_deleted_by_selector(cluster: Cluster) -> None:
    for document in (labelled("one", team="a"), labelled("two", team="b")):
        cluster.made(document)
    path = cluster.path("Broker", api=EVENTING)

    cluster.served.request("DELETE", f"{path}?labelSelector=team%3Da")

    assert names(listed(cluster)) == ["two"]


def test_namespace_goes_with_everything_in_it(cluster: Cluster) -> None:
    cluster.made(broker())
    made = cluster.made(trigger())
    cluster.made(source())
    path = f"/api/v1/namespaces/{cluster.namespace}"

    shown = cluster.served.get(path)
    cluster.served.request("DELETE", path)

    assert shown.document["status"] == {"phase": "Active"}
    assert cluster.served.get(path).status == 404
    assert names(listed(cluster)) == names(listed(cluster, kind="Trigger")) == []
    assert cluster.route(made) is None


def test_default_namespace_stays(served: Served) -> None:
    reply = served.request("DELETE", "/api/v1/namespaces/default")

    assert (reply.status, reply.document["reason"]) == (403, "Forbidden")


def test_namespace_can_be_made_first(cluster: Cluster) -> None:
    document = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": cluster.namespace}}

    made = cluster.served.post("/api/v1/namespaces", document)
    cluster.made(broker())

    label = {"kubernetes.io/metadata.name": cluster.namespace}
    assert made.status == 201
    assert made.document["metadata"]["labels"] == label


def test_kind_is_known_once_it_was_defined_or_used(cluster: Cluster) -> None:
    names_ = {"plural": "widgets", "kind": "Widget", "shortNames": ["w"]}
    spec = {"group": "w.example.com", "names": names_, "versions": [{"name": "v1"}]}
    head = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition"}
    path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    cluster.made(source())

    made = cluster.served.post(path, {**head, "metadata": {"name": "w"}, "spec": spec})

    kinds = {
        group["name"]: cluster.served.get(f"/apis/{group['name']}/v1").document["resources"][0][
            "kind"
        ]
        for group in cluster.served.get("/apis").document["groups"]
    }
    assert made.document["status"]["conditions"][1]["type"] == "Established"
    assert (kinds["w.example.com"], kinds["things.example.com"]) == ("Widget", "Source")


@pytest.mark.parametrize(
    "path",
    ["/apis/nothing.example.com/v1", "/apis/x", "/api/v2", "/apis/x/v1/namespaces/a/things",
     "/api/v1/namespaces/a/pods", "/apis/eventing.knative.dev/v1/namespaces/a/brokers/b/scale/c",
     "/apis/eventing.knative.dev/v1/namespaces/a/brokers/b/scale", "/openapi/v3/apis/x/v1",
     "/openapi/v4", "/apis/eventing.knative.dev/v1/namespaces//brokers"],
)  # fmt: skip
def test_unknown_path_is_a_status(served: Served, path: str) -> None:
    reply = served.get(path)

    assert (reply.status, reply.document["reason"]) == (404, "NotFound")


@pytest.mark.parametrize("path", ["/apis", "/api", "/apis/x", "/version", "/openapi/v2"])
def test_discovery_takes_nothing(served: Served, path: str) -> None:
    reply = served.post(path, {})

    assert reply.status == 404
    assert reply.document["kind"] == "Status"


def test_unknown_method_is_a_status(cluster: Cluster) -> None:
    reply = cluster.served.request("PUT", cluster.path("Broker", api=EVENTING))

    assert (reply.status, reply.document["reason"]) == (405, "MethodNotAllowed")


def test_patch_of_an_unknown_type_is_refused(cluster: Cluster) -> None:
    cluster.made(broker())

    assert cluster.patch(broker(), {}, "text/plain").status == 415


def test_yaml_is_read_like_kubernetes_does(cluster: Cluster) -> None:
    text = "kind: Broker\nmetadata:\n  name: y\n  annotations: {at: 2026-11-16}\n"
    path = cluster.path("Broker", api=EVENTING)

    reply = cluster.served.post(path, text, {"content-type": "application/yaml"})

    assert reply.status == 201
    assert reply.document["metadata"]["annotations"] == {"at": "2026-11-16"}


def test_reply_to_head_has_no_body(cluster: Cluster) -> None:
    cluster.made(broker())

    reply = cluster.served.request("HEAD", cluster.at(broker()))

    assert (reply.status, reply.body) == (200, b"")


def test_too_large_object_is_refused(cluster: Cluster) -> None:
    reply = cluster.served.post(cluster.path("Broker", api=EVENTING), " " * (1 << 20) + "{}")

    assert (reply.status, reply.document["reason"]) == (413, "RequestEntityTooLarge")


def test_config_map_holds_texts(cluster: Cluster) -> None:
    document = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "m"}}

    good = cluster.create({**document, "data": {"a": "b"}})
    bad = cluster.create({**document, "metadata": {"name": "n"}, "data": {"a": 1}})

    assert "generation" not in good.document["metadata"]
    assert causes(bad) == {"data.a": "FieldValueInvalid"}


def test_dead_letters_of_a_channel_follow_a_broker_that_comes_later(cluster: Cluster) -> None:
    early = cluster.made(channel(delivery={"deadLetterSink": ref(broker())}))

    url = cluster.made(broker())["status"]["address"]["url"]

    assert (ready(early), early["status"]["deadLetterSinkUri"]) == ("False", "")
    assert cluster.get(channel())["status"]["deadLetterSinkUri"] == url
