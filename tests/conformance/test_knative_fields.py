"""Knative Eventing, control plane: the fields of each kind, and what is refused."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.api.served import Served, serving
from tests.knative.cluster import (
    EVENTING,
    MESSAGING,
    URI,
    Cluster,
    Json,
    a_cluster,
    broker,
    causes,
    channel,
    condition,
    ready,
    ref,
    service,
    subscription,
    trigger,
)

pytestmark = pytest.mark.network

REFERENCE = {"apiVersion": "v1", "kind": "ConfigMap", "name": "a", "namespace": "b"}
DELIVERY = {
    "deadLetterSink": {"ref": {"apiVersion": "v1", "kind": "Service", "name": "s"}, "uri": "x"},
    "retry": 3,
    "backoffDelay": "PT0.5S",
    "backoffPolicy": "linear",
}
FULL = [
    broker(config=REFERENCE, delivery=DELIVERY),
    trigger(
        filter={"attributes": {"type": "a", "subject": ""}},
        filters=[{"exact": {"type": "a"}}],
        delivery=DELIVERY,
    ),
    channel(channelTemplate={"any": [{"thing": None}, 1]}, delivery=DELIVERY),
    subscription(subscriber={"uri": URI}, reply={"uri": URI}, delivery=DELIVERY),
]
LEAST = [broker(), trigger(), channel(), subscription(subscriber={"uri": URI})]


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serving(tmp_path_factory.mktemp("data")) as running:
        yield running


@pytest.fixture
def cluster(served: Served) -> Cluster:
    return a_cluster(served)


def kind(document: Json) -> str:
    return str(document["kind"])


@pytest.mark.covers("KN-146", "KN-154", "KN-155", "KN-159", "KN-161", "KN-164", "KN-166", "KN-181")
@pytest.mark.parametrize("document", FULL, ids=kind)
def test_all_fields_come_back(cluster: Cluster, document: Json) -> None:
    cluster.made(document)

    assert cluster.get(document)["spec"] == document["spec"]


@pytest.mark.covers("KN-150", "KN-157", "KN-163", "KN-168", "KN-180")
@pytest.mark.parametrize("document", LEAST, ids=kind)
def test_required_fields_are_enough(cluster: Cluster, document: Json) -> None:
    bare = {name: value for name, value in document.items() if value != {}}

    made = cluster.made(bare)

    assert made["kind"] == document["kind"]
    assert cluster.create({**document, "metadata": {"name": "x"}}).status == 201
    with_delivery = {**document["spec"], "delivery": {}}
    assert cluster.replace({**document, "spec": with_delivery}).status == 200


@pytest.mark.covers("KN-151", "KN-158", "KN-160", "KN-169", "KN-181")
@pytest.mark.parametrize(
    ("document", "path"),
    [
        (trigger(), "broker"),
        (trigger(), "subscriber"),
        (subscription(subscriber={"uri": URI}), "channel"),
        (subscription(subscriber={"uri": URI}), "channel.name"),
        (subscription(subscriber={"uri": URI}), "channel.kind"),
        (subscription(subscriber={"uri": URI}), "channel.apiVersion"),
        (trigger(subscriber=ref(service())), "subscriber.ref.name"),
        (trigger(subscriber=ref(service())), "subscriber.ref.kind"),
        (trigger(subscriber=ref(service())), "subscriber.ref.apiVersion"),
        (broker(config=REFERENCE), "config.name"),
    ],
    ids=str,
)
def test_required_field_that_is_missing_is_named(
    cluster: Cluster, document: Json, path: str
) -> None:
    *holders, last = path.split(".")
    spec: Any = {**document["spec"]}
    at = spec
    for name in holders:
        at[name] = {**at[name]}
        at = at[name]
    del at[last]

    reply = cluster.create({**document, "spec": spec})

    assert causes(reply)[f"spec.{path}"] == "FieldValueRequired"


@pytest.mark.covers("KN-103", "KN-104", "KN-105", "KN-147", "KN-183")
@pytest.mark.parametrize(
    ("spec", "path"),
    [
        ({"delivery": {"retry": -1}}, "delivery.retry"),
        ({"delivery": {"retry": "3"}}, "delivery.retry"),
        ({"delivery": {"retry": 1.5}}, "delivery.retry"),
        ({"delivery": {"retry": True}}, "delivery.retry"),
        ({"delivery": {"backoffDelay": "500ms"}}, "delivery.backoffDelay"),
        ({"delivery": {"backoffDelay": 5}}, "delivery.backoffDelay"),
        ({"delivery": {"backoffPolicy": "random"}}, "delivery.backoffPolicy"),
        ({"delivery": {"timeout": "PT0S"}}, "delivery.timeout"),
        ({"delivery": []}, "delivery"),
        ({"delivery": {"deadLetterSink": {}}}, "delivery.deadLetterSink"),
        ({"filter": {"attributes": {"type": 5}}}, "filter.attributes.type"),
        ({"filter": {"attributes": {"Type": "a"}}}, "filter.attributes.Type"),
        ({"filter": {"attributes": []}}, "filter.attributes"),
        ({"filters": {"exact": {}}}, "filters"),
        ({"filters": [{"fuzzy": {}}]}, "filters[0].fuzzy"),
        ({"broker": 5}, "broker"),
        ({"subscriber": URI}, "subscriber"),
        ({"subscriber": {"uri": "http://a b/"}}, "subscriber.uri"),
    ],
    ids=str,
)
def test_wrong_value_is_refused_under_its_path(cluster: Cluster, spec: Json, path: str) -> None:
    reply = cluster.create(trigger(**spec))

    assert f"spec.{path}" in causes(reply)
    assert cluster.served.get(cluster.at(trigger())).status == 404


def test_all_faults_are_named_at_once(cluster: Cluster) -> None:
    wrong = trigger("T_", broker="", delivery={"retry": -1, "backoffPolicy": "x"}, more=1)

    found = causes(cluster.create(wrong))

    assert found == {
        "metadata.name": "FieldValueInvalid",
        "spec.broker": "FieldValueRequired",
        "spec.delivery.retry": "FieldValueInvalid",
        "spec.delivery.backoffPolicy": "FieldValueNotSupported",
        "spec.more": "FieldValueForbidden",
    }


@pytest.mark.covers("KN-149")
@pytest.mark.parametrize("document", LEAST, ids=kind)
def test_unknown_field_of_a_spec_is_refused(cluster: Cluster, document: Json) -> None:
    reply = cluster.create({**document, "spec": {**document["spec"], "unknown": 1}})

    assert causes(reply) == {"spec.unknown": "FieldValueForbidden"}


@pytest.mark.covers("KN-148")
@pytest.mark.parametrize("document", LEAST, ids=kind)
def test_labels_and_annotations_come_back_unchanged(cluster: Cluster, document: Json) -> None:
    kept = {"labels": {"a.b/c": "d", "empty": ""}, "annotations": {"x/y": "any {text}\n"}}
    cluster.made({**document, "metadata": {**document["metadata"], **kept}})

    found = cluster.get(document)["metadata"]

    assert {name: found[name] for name in kept} == kept


@pytest.mark.covers("KN-152")
@pytest.mark.parametrize("document", LEAST, ids=kind)
def test_metadata_is_that_of_kubernetes(cluster: Cluster, document: Json) -> None:
    found = cluster.made(document)["metadata"]

    assert len(found["uid"]) == 36
    assert found["generation"] == 1
    assert (found["name"], found["namespace"]) == (document["metadata"]["name"], cluster.namespace)
    assert found["creationTimestamp"].endswith("Z")
    assert int(found["resourceVersion"]) > 0


@pytest.mark.covers("KN-153", "KN-157", "KN-163", "KN-168")
@pytest.mark.parametrize("document", LEAST, ids=kind)
def test_other_version_is_refused(cluster: Cluster, document: Json) -> None:
    path = cluster.path(document["kind"], api=document["apiVersion"])
    group = document["apiVersion"].split("/")[0]

    other = cluster.served.post(path, {**document, "apiVersion": f"{group}/v1beta1"})
    elsewhere = cluster.served.post(path.replace("/v1/", "/v1beta1/"), document)

    assert (other.status, other.document["reason"]) == (400, "BadRequest")
    assert elsewhere.status == 404


def subscribers(cluster: Cluster) -> list[Json]:
    return list(cluster.get(channel())["spec"].get("subscribers", []))


@pytest.mark.covers("KN-165", "KN-175", "KN-177", "KN-178")
def test_channel_shows_its_subscriptions(cluster: Cluster) -> None:
    cluster.made(channel())
    cluster.made(service())
    dead = {"deadLetterSink": ref(service()), "retry": 2}

    one = cluster.made(subscription("one", subscriber=ref(service()), delivery=dead))
    two = cluster.made(subscription("two", subscriber={"uri": URI}, reply={"uri": URI}))
    both = subscribers(cluster)
    cluster.delete(subscription("one"))

    address = f"http://svc.{cluster.namespace}.svc/"
    assert both == [
        {
            "uid": one["metadata"]["uid"],
            "generation": 1,
            "subscriberUri": address,
            "delivery": {"deadLetterSink": {"uri": address}, "retry": 2},
        },
        {
            "uid": two["metadata"]["uid"],
            "generation": 1,
            "subscriberUri": URI,
            "replyUri": URI,
        },
    ]
    assert subscribers(cluster) == both[1:]


@pytest.mark.covers("KN-165")
def test_subscribers_from_a_client_do_not_survive(cluster: Cluster) -> None:
    forged = [{"uid": "x", "subscriberUri": "http://forged/"}]

    made = cluster.made(channel(subscribers=forged))
    replaced = cluster.replace(channel(subscribers=forged)).document

    assert "subscribers" not in made["spec"]
    assert "subscribers" not in replaced["spec"]
    assert replaced["metadata"]["generation"] == 1


def test_subscribers_do_not_grow_the_generation(cluster: Cluster) -> None:
    cluster.made(channel())

    cluster.made(subscription(subscriber={"uri": URI}))

    found = cluster.get(channel())
    assert (found["metadata"]["generation"], found["status"]["observedGeneration"]) == (1, 1)


@pytest.mark.covers("KN-176")
def test_recreated_subscription_has_another_uid(cluster: Cluster) -> None:
    cluster.made(channel())
    document = subscription(subscriber={"uri": URI})
    old = cluster.made(document)["metadata"]["uid"]
    cluster.delete(document)

    new = cluster.made(document)["metadata"]["uid"]

    assert [one["uid"] for one in subscribers(cluster)] == [new]
    assert new != old


@pytest.mark.covers("KN-167", "KN-179")
def test_channel_tells_which_subscriptions_are_served(cluster: Cluster) -> None:
    cluster.made(channel())
    fine = cluster.made(subscription("fine", subscriber={"uri": URI}))
    broken = cluster.made(subscription("gone", subscriber=ref(service("nowhere"))))

    found = cluster.get(channel())["status"]["subscribers"]

    assert found[0] == {"uid": fine["metadata"]["uid"], "generation": 1, "ready": "True"}
    assert (found[1]["uid"], found[1]["ready"]) == (broken["metadata"]["uid"], "False")
    assert found[1]["message"] == condition(broken)["message"]
    assert "'nowhere'" in found[1]["message"]


def test_two_namespaces_do_not_see_each_other(cluster: Cluster) -> None:
    other = a_cluster(cluster.served)
    cluster.made(broker())
    cluster.made(channel())

    made = [other.made(trigger()), other.made(subscription(subscriber={"uri": URI}))]

    assert [ready(one) for one in made] == ["False", "False"]
    assert "subscribers" not in cluster.get(channel())["spec"]


@pytest.mark.parametrize("name", ["apiVersion", "kind"])
def test_subscription_is_to_a_channel(cluster: Cluster, name: str) -> None:
    document = subscription(subscriber={"uri": URI})
    document["spec"]["channel"][name] = {"apiVersion": EVENTING, "kind": "Broker"}[name]

    assert causes(cluster.create(document)) == {f"spec.channel.{name}": "FieldValueNotSupported"}
    assert document["apiVersion"] == MESSAGING
