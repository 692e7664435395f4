"""The operations of the Kubernetes API, as any of its clients uses them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.api.served import Served
from tests.knative.cluster import (
    APPLY,
    EVENTING,
    JSON_PATCH,
    STRATEGIC,
    URI,
    Cluster,
    Json,
    a_cluster,
    broker,
    causes,
    channel,
    ready,
    ref,
    service,
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


def test_json_patch_changes_what_it_names(cluster: Cluster) -> None:
    cluster.made(broker(delivery={"retry": 1}))
    operations = [
        {"op": "test", "path": "/spec/delivery/retry", "value": 1},
        {"op": "replace", "path": "/spec/delivery/retry", "value": 2},
        {"op": "add", "path": "/metadata/labels", "value": {"a~b": "c"}},
        {"op": "move", "from": "/metadata/labels/a~0b", "path": "/metadata/labels/d"},
    ]

    found = cluster.patch(broker(), operations, JSON_PATCH).document

    assert found["spec"]["delivery"] == {"retry": 2}
    assert found["metadata"]["labels"] == {"d": "c"}


@pytest.mark.parametrize(
    "operation",
    [
        {"op": "test", "path": "/spec/delivery/retry", "value": 2},
        {"op": "remove", "path": "/spec/nothing"},
        {"op": "replace", "path": "/spec/nothing", "value": 1},
        {"op": "add", "path": "no/pointer", "value": 1},
        {"op": "guess", "path": "/spec"},
        {"op": "add", "path": "/spec"},
        {"path": "/spec"},
        {"op": "move", "from": "/spec", "path": "/spec/below"},
        7,
    ],
    ids=str,
)
def test_json_patch_that_cannot_be_done_changes_nothing(cluster: Cluster, operation: Any) -> None:  # noqa: ANN401
    made = cluster.made(broker(delivery={"retry": 1}))

    reply = cluster.patch(broker(), [operation], JSON_PATCH)

    assert (reply.status, reply.document["reason"]) == (422, "Invalid")
    assert cluster.get(broker()) == made


def test_strategic_merge_is_for_core_kinds(cluster: Cluster) -> None:
    cluster.made(service(ports=[{"port": 1, "name": "a"}, {"port": 2, "name": "b"}]))
    cluster.made(broker())
    change = {"spec": {"ports": [{"port": 2, "name": "c"}, {"port": 1, "$patch": "delete"}]}}

    found = cluster.patch(service(), change, STRATEGIC)
    refused = cluster.patch(broker(), {"spec": {}}, STRATEGIC)

    assert found.document["spec"]["ports"] == [{"port": 2, "name": "c"}]
    assert (refused.status, refused.document["reason"]) == (415, "UnsupportedMediaType")


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


def applied(cluster: Cluster, document: Json, manager: str, query: str = "") -> Any:  # noqa: ANN401
    query = f"?fieldManager={manager}{query}"
    return cluster.patch(document, document, APPLY, query)


def test_apply_creates_and_changes(cluster: Cluster) -> None:
    created = applied(cluster, broker(delivery={"retry": 1}), "me")
    changed = applied(cluster, broker(delivery={"retry": 2}), "me")
    same = applied(cluster, broker(delivery={"retry": 2}), "me")

    assert [one.status for one in (created, changed, same)] == [201, 200, 200]
    assert changed.document["spec"]["delivery"]["retry"] == 2
    assert same.document == changed.document


def test_apply_removes_what_it_no_longer_names(cluster: Cluster) -> None:
    applied(cluster, broker(delivery={"retry": 1, "backoffDelay": "PT1S"}), "me")

    found = applied(cluster, broker(delivery={"retry": 1}), "me").document

    assert found["spec"] == {"delivery": {"retry": 1}}


def test_apply_keeps_what_others_set(cluster: Cluster) -> None:
    applied(cluster, broker(delivery={"retry": 1}), "me")
    cluster.patch(broker(), {"metadata": {"labels": {"a": "b"}}})

    found = applied(cluster, broker(delivery={"retry": 3}), "me").document

    assert found["metadata"]["labels"] == {"a": "b"}


def test_apply_of_what_somebody_else_owns_is_a_conflict(cluster: Cluster) -> None:
    applied(cluster, broker(delivery={"retry": 1}), "me")

    refused = applied(cluster, broker(delivery={"retry": 2}), "you")
    shared = applied(cluster, broker(delivery={"retry": 1}), "you")
    forced = applied(cluster, broker(delivery={"retry": 2}), "you", "&force=true")

    (cause,) = refused.document["details"]["causes"]
    assert (refused.status, refused.document["reason"]) == (409, "Conflict")
    assert (cause["reason"], cause["field"]) == ("FieldManagerConflict", ".spec.delivery.retry")
    assert '"me"' in cause["message"]
    assert shared.status == 200
    owners = {
        one["manager"]: one["fieldsV1"] for one in forced.document["metadata"]["managedFields"]
    }
    assert owners == {"you": {"f:spec": {"f:delivery": {"f:retry": {}}}}}


def test_apply_without_a_manager_is_refused(cluster: Cluster) -> None:
    reply = cluster.patch(broker(), broker(), APPLY)

    assert causes(reply) == {"fieldManager": "FieldValueRequired"}


def test_owner_of_a_field_is_who_changed_it(cluster: Cluster) -> None:
    cluster.create(broker(delivery={"retry": 1}), "?fieldManager=one")

    found = cluster.patch(
        broker(), {"spec": {"delivery": {"retry": 2}}}, query="?fieldManager=two"
    ).document

    entries = found["metadata"]["managedFields"]
    assert [(one["manager"], one["operation"]) for one in entries] == [("two", "Update")]
    assert entries[0]["fieldsType"] == "FieldsV1"


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


_NAMES = (
    "metadata spec name labels delivery ref uri retry filters broker subscriber finalizers "
    "managedFields fieldsV1 f:spec exact deadLetterSink channel kind apiVersion op path value"
)
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.sampled_from(["", "a", URI, "PT1S", "\0"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(_NAMES.split()), inner, max_size=5)
    ),
    max_leaves=12,
)


@given(body=_JSON, media=st.sampled_from(["POST", "PUT", APPLY, JSON_PATCH, STRATEGIC, "merge"]))
@settings(max_examples=150)
def test_nothing_that_is_sent_is_a_fault_of_the_server(
    served: Served, body: object, media: str
) -> None:
    cluster = Cluster(served, "fuzz")
    cluster.create(trigger())
    cluster.create(service())
    text = json.dumps(body)

    for document in (trigger(), service()):
        path = cluster.at(document)
        if media == "POST":
            reply = served.post(path.rpartition("/")[0], text)
        else:
            kind = {"merge": "application/merge-patch+json", "PUT": "application/json"}
            headers = {"content-type": kind.get(media, media)}
            method = "PUT" if media == "PUT" else "PATCH"
            reply = served.request(method, f"{path}?fieldManager=x&force=1", text, headers)
        assert reply.status < 500, reply.document
        found = served.get(path)
        assert found.status == 404 or found.document["metadata"]["name"] in ("t", "svc")
