"""Changes to objects: patches, server-side apply, and whatever else is sent."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.api.served import Served
from tests.knative.cluster import (
    APPLY,
    JSON_PATCH,
    STRATEGIC,
    URI,
    Cluster,
    Json,
    a_cluster,
    broker,
    causes,
    service,
    trigger,
)

pytestmark = pytest.mark.network

BROKERS = "/apis/eventing.knative.dev/v1/brokers"


@pytest.fixture
def cluster(served: Served) -> Cluster:
    return a_cluster(served)


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
