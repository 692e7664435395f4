"""Knative Eventing, control plane: how destinations become addresses."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.api.served import Served, serving
from tests.knative.cluster import (
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
    source,
    trigger,
)

pytestmark = pytest.mark.network


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serving(tmp_path_factory.mktemp("data")) as running:
        yield running


@pytest.fixture
def cluster(served: Served) -> Cluster:
    made = a_cluster(served)
    made.made(broker())
    return made


def resolved(cluster: Cluster, subscriber: Json) -> str:
    """Return the address of a subscriber; empty where there is none."""
    made = cluster.made(trigger(subscriber=subscriber))
    uri = str(made["status"]["subscriberUri"])
    assert (ready(made) == "True") is bool(uri)
    return uri


@pytest.mark.covers("KN-046", "KN-057", "KN-172")
@pytest.mark.parametrize(
    "target", [broker("other"), channel(), source()], ids=["broker", "channel", "unknown kind"]
)
def test_reference_means_the_address_of_the_object(cluster: Cluster, target: Json) -> None:
    url = cluster.made(target)["status"]["address"]["url"]

    assert resolved(cluster, ref(target)) == url


@pytest.mark.covers("KN-047")
def test_service_has_the_address_of_its_name(cluster: Cluster) -> None:
    cluster.made(service("s"))

    assert resolved(cluster, ref(service("s"))) == f"http://s.{cluster.namespace}.svc/"


@pytest.mark.covers("KN-048")
def test_uri_is_relative_to_the_reference(cluster: Cluster) -> None:
    cluster.made(service("s"))

    found = resolved(cluster, {**ref(service("s")), "uri": "a/b?x=1"})

    assert found == f"http://s.{cluster.namespace}.svc/a/b?x=1"


@pytest.mark.covers("KN-049", "KN-050", "KN-174")
@pytest.mark.parametrize(
    ("uri", "address"),
    [
        ("x", "http://h/p/x"),
        ("/x", "http://h/x"),
        ("../x", "http://h/x"),
        ("?k=v", "http://h/p/q?k=v"),
        ("//other/x", "http://other/x"),
        ("http://other/x", "http://other/x"),
    ],
)
def test_relative_uris_follow_the_rules_for_references(
    cluster: Cluster, uri: str, address: str
) -> None:
    cluster.made(source(url="http://h/p/q"))

    assert resolved(cluster, {**ref(source()), "uri": uri}) == address


@pytest.mark.covers("KN-051")
@pytest.mark.parametrize(
    ("uri", "address"),
    [("http://sink/x", "http://sink/x"), ("/x", ""), ("sink/x", ""), ("ftp://sink/", "")],
)
def test_uri_alone_must_be_absolute(cluster: Cluster, uri: str, address: str) -> None:
    assert resolved(cluster, {"uri": uri}) == address


@pytest.mark.covers("KN-052", "KN-053")
@pytest.mark.parametrize(
    ("document", "reason"),
    [
        (None, "SubscriberNotFound"),
        (source(url=None), "SubscriberNoAddress"),
        (source(url=""), "SubscriberNoAddress"),
        (source(url="/relative"), "SubscriberNotAbsolute"),
    ],
    ids=["missing", "no status", "empty", "relative"],
)
def test_reference_without_an_address_says_what_is_wrong(
    cluster: Cluster, document: Json | None, reason: str
) -> None:
    if document is not None:
        cluster.made(document)

    made = cluster.made(trigger(subscriber=ref(source())))

    assert (ready(made), condition(made)["reason"]) == ("False", reason)


@pytest.mark.covers("KN-055", "KN-056")
def test_namespace_of_a_reference_is_the_own_one_or_the_named_one(cluster: Cluster) -> None:
    other = a_cluster(cluster.served)
    for each in (cluster, other):
        each.made(service("s"))

    own = resolved(cluster, ref(service("s")))
    cluster.delete(trigger())
    foreign = resolved(cluster, ref(service("s"), namespace=other.namespace))

    assert own == f"http://s.{cluster.namespace}.svc/"
    assert foreign == f"http://s.{other.namespace}.svc/"


@pytest.mark.covers("KN-055")
def test_service_of_another_namespace_is_not_found_by_its_name_alone(cluster: Cluster) -> None:
    a_cluster(cluster.served).made(service("s"))

    assert resolved(cluster, ref(service("s"))) == ""


@pytest.mark.covers("KN-058")
def test_changed_address_is_followed(cluster: Cluster) -> None:
    cluster.made(source())
    made = cluster.made(trigger(subscriber=ref(source())))

    cluster.patch(source(), {"status": {"address": {"url": "http://moved.example/"}}})

    route = cluster.route(made)
    assert cluster.get(trigger())["status"]["subscriberUri"] == "http://moved.example/"
    assert route is not None
    assert route.target.uri == "http://moved.example/"


def test_address_can_be_written_through_the_status_of_an_unknown_kind(cluster: Cluster) -> None:
    cluster.made(source(url=None))
    cluster.made(trigger(subscriber=ref(source())))
    path = cluster.at(source()) + "/status"
    document = {**source(url="http://late.example/"), "spec": {"ignored": True}}

    reply = cluster.served.request("PUT", path, document, {"content-type": "application/json"})

    assert reply.status == 200
    assert "spec" not in reply.document
    assert cluster.get(trigger())["status"]["subscriberUri"] == "http://late.example/"


def test_service_that_is_an_external_name_is_reached_there(cluster: Cluster) -> None:
    external = {"type": "ExternalName", "externalName": "localhost", "ports": [{"port": 9000}]}
    cluster.made(service("s", **external))

    made = cluster.made(trigger(subscriber={**ref(service("s")), "uri": "in"}))

    route = cluster.route(made)
    assert made["status"]["subscriberUri"] == f"http://s.{cluster.namespace}.svc/in"
    assert route is not None
    assert route.target.uri == "http://localhost:9000/in"


def test_destination_of_nothing_is_refused(cluster: Cluster) -> None:
    reply = cluster.create(trigger(subscriber={}))

    assert "spec.subscriber" in causes(reply)
