"""Knative Eventing, control plane: the lives of Brokers, Triggers, Channels and Subscriptions."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from tests.api.served import Served, serving
from tests.knative.cluster import (
    URI,
    Cluster,
    Json,
    a_cluster,
    an_object,
    broker,
    causes,
    channel,
    condition,
    ready,
    ref,
    service,
    subscription,
    trigger,
    watching,
)

pytestmark = pytest.mark.network

CLASS = "eventing.knative.dev/broker.class"
CONFIG = {"apiVersion": "v1", "kind": "ConfigMap", "name": "a"}
BROKEN = {"deadLetterSink": ref(service("nowhere"))}


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serving(tmp_path_factory.mktemp("data")) as running:
        yield running


@pytest.fixture
def cluster(served: Served) -> Cluster:
    return a_cluster(served)


@pytest.mark.covers("KN-001", "KN-020", "KN-054", "KN-059", "KN-079", "KN-173")
@pytest.mark.parametrize("document", [broker(), channel()], ids=["broker", "channel"])
def test_address_takes_events_as_soon_as_it_appears(cluster: Cluster, document: Json) -> None:
    made = cluster.made(document)

    url = made["status"]["address"]["url"]
    assert ready(made) == "True"
    assert url.startswith(f"http://127.0.0.1:{cluster.served.port}/")
    assert cluster.publish(url) == 202


@pytest.mark.covers("KN-003", "KN-018")
def test_trigger_follows_its_broker(cluster: Cluster) -> None:
    early = cluster.made(trigger())
    cluster.made(broker())
    served = cluster.get(trigger())
    cluster.delete(broker())
    left = cluster.get(trigger())
    cluster.made(broker())

    assert [ready(one) for one in (early, served, left)] == ["False", "True", "False"]
    assert condition(early)["reason"] == "BrokerNotFound"
    assert "'b'" in condition(early)["message"]
    assert ready(cluster.get(trigger())) == "True"


@pytest.mark.covers("KN-022", "KN-028", "KN-030")
def test_subscription_follows_its_channel(cluster: Cluster) -> None:
    early = cluster.made(subscription(subscriber={"uri": URI}))
    cluster.made(channel())
    served = cluster.get(subscription())
    cluster.delete(channel())
    left = cluster.get(subscription())
    cluster.made(channel())

    assert [ready(one) for one in (early, served, left)] == ["False", "True", "False"]
    assert condition(left)["reason"] == "ChannelNotFound"
    assert ready(cluster.get(subscription())) == "True"


@pytest.mark.covers("KN-029", "KN-030")
def test_subscription_of_a_channel_that_is_not_ready_is_not_ready(cluster: Cluster) -> None:
    cluster.made(channel())
    cluster.made(subscription(subscriber={"uri": URI}))

    cluster.changed(channel(), delivery=BROKEN)

    assert ready(cluster.get(channel())) == "False"
    found = condition(cluster.get(subscription()))
    assert (found["status"], found["reason"]) == ("False", "ChannelNotReady")


def test_trigger_of_a_broker_that_is_not_ready_is_not_ready(cluster: Cluster) -> None:
    cluster.made(broker(delivery=BROKEN))

    found = condition(cluster.made(trigger()))

    assert (found["status"], found["reason"]) == ("False", "BrokerNotReady")


@pytest.mark.covers("KN-006")
def test_class_of_a_broker_does_not_change(cluster: Cluster) -> None:
    given = {**broker(), "metadata": {"name": "b", "annotations": {CLASS: "one"}}}
    cluster.made(given)

    replies = [
        cluster.replace({**broker(), "metadata": {"name": "b", "annotations": {CLASS: "two"}}}),
        cluster.replace(broker()),
        cluster.patch(broker(), {"metadata": {"annotations": {CLASS: "two"}}}),
    ]

    assert [list(causes(one)) for one in replies] == [[f"metadata.annotations[{CLASS}]"]] * 3
    assert cluster.get(broker())["metadata"]["annotations"] == {CLASS: "one"}


@pytest.mark.covers("KN-007")
@pytest.mark.parametrize(
    ("before", "after"),
    [({"config": CONFIG}, {"config": {**CONFIG, "name": "b"}}), ({"config": CONFIG}, {}),
     ({}, {"config": CONFIG})],
    ids=["changed", "removed", "added"],
)  # fmt: skip
def test_config_of_a_broker_does_not_change(cluster: Cluster, before: Json, after: Json) -> None:
    cluster.made(broker(**before))

    reply = cluster.replace(broker(**after))

    assert causes(reply) == {"spec.config": "FieldValueInvalid"}
    assert cluster.get(broker())["spec"] == before


@pytest.mark.covers("KN-008", "KN-025")
@pytest.mark.parametrize(
    ("before", "after"),
    [
        (broker(config=CONFIG), broker(config={**CONFIG, "name": "b"})),
        (channel(channelTemplate={"a": 1}), channel(channelTemplate={"a": 2})),
    ],
    ids=["broker", "channel"],
)
def test_deleted_object_is_created_again_with_another_config(
    cluster: Cluster, before: Json, after: Json
) -> None:
    old = cluster.made(before)
    refused = cluster.replace(after)
    cluster.delete(before)

    made = cluster.made(after)

    assert refused.status == 422
    assert made["spec"] == after["spec"]
    assert made["metadata"]["uid"] != old["metadata"]["uid"]


@pytest.mark.covers("KN-009")
def test_delivery_and_labels_of_a_broker_change(cluster: Cluster) -> None:
    cluster.made(broker())
    made = cluster.made(trigger())

    cluster.changed(broker(), delivery={"retry": 7})
    labelled = cluster.patch(broker(), {"metadata": {"labels": {"a": "b"}}})

    route = cluster.route(made)
    assert route is not None
    assert route.policy.retries == 7
    assert labelled.document["metadata"]["labels"] == {"a": "b"}


@pytest.mark.covers("KN-011")
def test_no_state_is_ready_without_the_address_of_the_subscriber(cluster: Cluster) -> None:
    path = f"{cluster.path('Trigger', api='eventing.knative.dev/v1')}?watch=1"
    watch = watching(cluster.served, path)
    cluster.made(trigger(subscriber=ref(service())))
    cluster.made(broker())
    cluster.made(service())
    cluster.delete(service())

    states = [watch.next()["object"] for _ in range(4)]
    watch.close()

    shown = [(ready(one), one["status"]["subscriberUri"]) for one in states]
    address = f"http://svc.{cluster.namespace}.svc/"
    assert shown == [("False", ""), ("False", ""), ("True", address), ("False", "")]


@pytest.mark.covers("KN-012", "KN-013", "KN-014")
def test_trigger_loses_its_address_with_its_subscriber(cluster: Cluster) -> None:
    cluster.made(broker())
    cluster.made(service())
    made = cluster.made(trigger(subscriber=ref(service())))

    cluster.delete(service())
    left = cluster.get(trigger())

    assert made["status"]["subscriberUri"] == f"http://svc.{cluster.namespace}.svc/"
    assert (ready(left), left["status"]["subscriberUri"]) == ("False", "")
    found = condition(left, "SubscriberResolved")
    assert found["reason"] == "SubscriberNotFound"
    assert "'svc'" in found["message"]


@pytest.mark.covers("KN-015", "KN-101", "KN-162")
def test_dead_letter_sink_of_a_trigger_is_resolved(cluster: Cluster) -> None:
    cluster.made(broker())
    cluster.made(service())
    by_ref = cluster.made(trigger(delivery={"deadLetterSink": ref(service())}))
    by_uri = cluster.changed(trigger(), delivery={"deadLetterSink": {"ref": None, "uri": URI}})
    broken = cluster.changed(
        trigger(), delivery=BROKEN | {"deadLetterSink": BROKEN["deadLetterSink"] | {"uri": None}}
    )

    shown = [(ready(one), one["status"]["deadLetterSinkUri"]) for one in (by_ref, by_uri, broken)]
    address = f"http://svc.{cluster.namespace}.svc/"
    assert shown == [("True", address), ("True", URI), ("False", "")]
    assert condition(broken)["reason"] == "DeadLetterSinkNotFound"


@pytest.mark.covers("KN-016", "KN-158")
def test_broker_of_a_trigger_does_not_change(cluster: Cluster) -> None:
    cluster.made(trigger())

    reply = cluster.replace(trigger(broker="other"))

    assert causes(reply) == {"spec.broker": "FieldValueInvalid"}
    assert cluster.get(trigger())["spec"]["broker"] == "b"


@pytest.mark.covers("KN-038", "KN-169")
def test_channel_of_a_subscription_does_not_change(cluster: Cluster) -> None:
    cluster.made(subscription(subscriber={"uri": URI}))
    other = {"apiVersion": "messaging.knative.dev/v1", "kind": "Channel", "name": "other"}

    reply = cluster.replace(subscription(subscriber={"uri": URI}, channel=other))

    assert causes(reply) == {"spec.channel": "FieldValueInvalid"}
    assert cluster.get(subscription())["spec"]["channel"]["name"] == "c"


def test_ready_object_has_its_route_from_the_same_write_on(cluster: Cluster) -> None:
    store = cluster.served.control.store
    cluster.made(broker())
    cluster.made(channel())

    for document in (trigger(), subscription(subscriber={"uri": URI})):
        made = cluster.made(document)
        route = cluster.route(made)
        stored = store.get("route", made["metadata"]["uid"])

        assert route is not None
        assert stored is not None
        assert str(stored.version) == made["metadata"]["resourceVersion"]
        assert route.start == cluster.served.control.log.bounds()[1]
        assert route.target.uri == URI


@pytest.mark.covers("KN-027")
@pytest.mark.parametrize(("namespace", "status"), [("other", 422), ("", 201)])
def test_channel_of_a_subscription_is_in_the_same_namespace(
    cluster: Cluster, namespace: str, status: int
) -> None:
    document = subscription(subscriber={"uri": URI})
    document["spec"]["channel"]["namespace"] = namespace

    assert cluster.create(document).status == status


def test_namespace_of_a_channel_is_refused_even_where_it_is_the_own_one(cluster: Cluster) -> None:
    document = subscription(subscriber={"uri": URI})
    document["spec"]["channel"]["namespace"] = cluster.namespace

    assert list(causes(cluster.create(document))) == ["spec.channel.namespace"]


@pytest.mark.covers("KN-031", "KN-171", "KN-182")
def test_ready_subscription_shows_all_its_addresses(cluster: Cluster) -> None:
    cluster.made(channel())
    cluster.made(broker())
    cluster.made(service())

    made = cluster.made(
        subscription(
            subscriber=ref(service()),
            reply=ref(broker()),
            delivery={"deadLetterSink": {"uri": URI}},
        )
    )

    assert ready(made) == "True"
    assert made["status"]["physicalSubscription"] == {
        "subscriberUri": f"http://svc.{cluster.namespace}.svc/",
        "replyUri": cluster.get(broker())["status"]["address"]["url"],
        "deadLetterSinkUri": URI,
    }


@pytest.mark.covers("KN-032", "KN-033", "KN-034")
@pytest.mark.parametrize(
    ("part", "reason"),
    [
        ("subscriber", "SubscriberNotFound"),
        ("reply", "ReplyNotFound"),
        ("deadLetterSink", "DeadLetterSinkNotFound"),
    ],
)
def test_each_broken_address_of_a_subscription_is_named(
    cluster: Cluster, part: str, reason: str
) -> None:
    cluster.made(channel())
    given: Json = {part: {"uri": URI} for part in ("subscriber", "reply", "deadLetterSink")}
    given[part] = ref(service("nowhere"))
    dead_letter = given.pop("deadLetterSink")

    made = cluster.made(subscription(**given, delivery={"deadLetterSink": dead_letter}))

    found = condition(made)
    physical = made["status"]["physicalSubscription"]
    assert (found["status"], found["reason"]) == ("False", reason)
    assert part in found["message"]
    assert [name for name, uri in physical.items() if not uri] == [f"{part}Uri"]


@pytest.mark.covers("KN-035", "KN-170")
def test_subscription_has_a_subscriber_or_a_reply(cluster: Cluster) -> None:
    cluster.made(channel())
    refused = cluster.create(subscription())
    made = [
        cluster.create(subscription("a", subscriber={"uri": URI})),
        cluster.create(subscription("b", reply={"uri": URI})),
        cluster.create(subscription("c", subscriber={"uri": URI}, reply={"uri": URI})),
        cluster.create(subscription("d", subscriber={"uri": URI}, delivery={"retry": 1})),
    ]

    assert causes(refused) == {"spec.subscriber": "FieldValueRequired"}
    assert [one.status for one in made] == [201] * 4


def test_lone_reply_gets_events_like_a_subscriber_and_advertises_nothing(cluster: Cluster) -> None:
    cluster.made(channel())

    made = cluster.made(subscription(reply={"uri": URI}))

    route = cluster.route(made)
    assert route is not None
    assert (route.target.uri, route.reply_to, route.advertises) == (URI, None, False)
    assert made["status"]["physicalSubscription"] == {"replyUri": URI}


def test_reply_to_one_of_our_streams_names_the_stream(cluster: Cluster) -> None:
    cluster.made(channel())
    cluster.made(broker())

    route = cluster.route(cluster.made(subscription(subscriber={"uri": URI}, reply=ref(broker()))))

    assert route is not None
    assert route.reply_stream == f"brokers/{cluster.namespace}/b"
    assert (route.replies, route.advertises) == (False, True)
    assert str(route.reply_to).endswith(f"/brokers/{cluster.namespace}/b")


@pytest.mark.covers("KN-041", "KN-156", "KN-167")
def test_every_kind_has_conditions(cluster: Cluster) -> None:
    documents = [broker(), channel(), trigger(), subscription(subscriber={"uri": URI})]

    made = [cluster.made(one) for one in documents]

    for one in made:
        found = condition(one)
        assert found["status"] == "True"
        assert found["lastTransitionTime"].endswith("Z")
        assert one["status"]["observedGeneration"] == 1


@pytest.mark.covers("KN-042", "KN-045")
def test_generation_is_observed_even_when_it_cannot_be_served(cluster: Cluster) -> None:
    cluster.made(broker())
    cluster.made(trigger())

    fine = cluster.changed(trigger(), filter={"attributes": {"type": "a"}})
    broken = cluster.changed(trigger(), subscriber={"uri": None, **ref(service("nowhere"))})
    labelled = cluster.patch(trigger(), {"metadata": {"labels": {"a": "b"}}}).document

    generations = [
        (one["metadata"]["generation"], one["status"]["observedGeneration"], ready(one))
        for one in (fine, broken, labelled)
    ]
    assert generations == [(2, 2, "True"), (3, 3, "False"), (3, 3, "False")]


@pytest.mark.covers("KN-043")
def test_no_write_moves_the_observed_generation_without_the_conditions(cluster: Cluster) -> None:
    cluster.made(broker())
    path = f"{cluster.path('Trigger', api='eventing.knative.dev/v1')}?watch=1"
    watch = watching(cluster.served, path)
    cluster.made(trigger())
    for uri in ("/relative", URI, "/again"):
        cluster.changed(trigger(), subscriber={"uri": uri})

    states = [watch.next()["object"] for _ in range(4)]
    watch.close()

    shown = [
        (one["metadata"]["generation"], one["status"]["observedGeneration"], ready(one))
        for one in states
    ]
    assert shown == [(1, 1, "True"), (2, 2, "False"), (3, 3, "True"), (4, 4, "False")]


@pytest.mark.covers("KN-044")
def test_status_from_a_client_is_ignored(cluster: Cluster) -> None:
    forged = {"status": {"address": {"url": "http://forged/"}, "conditions": []}}

    made = cluster.made({**broker(), **forged})
    replaced = cluster.replace({**made, **forged}).document
    patched = cluster.patch(broker(), forged).document
    put = cluster.served.request("PUT", cluster.at(broker()) + "/status", {**made, **forged})

    for one in (made, replaced, patched):
        assert one["status"]["address"]["url"].endswith(f"/brokers/{cluster.namespace}/b")
        assert one["metadata"]["resourceVersion"] == made["metadata"]["resourceVersion"]
    assert (put.status, put.headers["allow"]) == (405, "GET")


@pytest.mark.covers("KN-111")
@pytest.mark.parametrize(
    ("parent", "child"),
    [(broker, trigger()), (channel, subscription(subscriber={"uri": URI}))],
    ids=["broker", "channel"],
)
def test_any_delivery_option_hides_all_of_the_parent(
    cluster: Cluster, parent: Callable[..., Json], child: Json
) -> None:
    dead = {"uri": "http://dead.example/"}
    made = cluster.made(parent(delivery={"retry": 5, "deadLetterSink": dead}))

    inherited = cluster.route(cluster.made(child))
    own = cluster.route(cluster.changed(child, delivery={"retry": 1}))
    empty = cluster.route(cluster.changed(child, delivery={"retry": None}))

    policies = [
        (route.policy.retries, route.policy.dead_letter)
        for route in (inherited, own, empty)
        if route is not None
    ]
    assert policies == [(5, dead["uri"]), (1, None), (5, dead["uri"])]
    assert made["status"]["deadLetterSinkUri"] == dead["uri"]


def test_inherited_dead_letter_sink_is_shown(cluster: Cluster) -> None:
    dead = {"deadLetterSink": {"uri": "http://dead.example/"}}
    cluster.made(broker(delivery=dead))
    cluster.made(channel(delivery=dead))

    trigger_ = cluster.made(trigger())
    subscription_ = cluster.made(subscription(subscriber={"uri": URI}))

    assert trigger_["status"]["deadLetterSinkUri"] == "http://dead.example/"
    physical = subscription_["status"]["physicalSubscription"]
    assert physical["deadLetterSinkUri"] == "http://dead.example/"


def test_without_any_option_delivery_is_tried_ten_times(cluster: Cluster) -> None:
    cluster.made(broker())

    route = cluster.route(cluster.made(trigger()))

    assert route is not None
    policy = route.policy
    assert (policy.retries, policy.delay, policy.backoff) == (10, 0.2, "exponential")


def test_route_of_a_trigger_that_is_not_ready_rests(cluster: Cluster) -> None:
    cluster.made(broker())
    cluster.made(service())
    made = cluster.made(trigger(subscriber=ref(service())))
    cluster.delete(service())

    resting = cluster.route(made)
    cluster.publish(cluster.get(broker())["status"]["address"]["url"])
    cluster.made(service())

    again = cluster.route(made)
    assert resting is not None
    assert again is not None
    assert (resting.paused, again.paused) == (True, False)
    assert again.start == cluster.served.control.log.bounds()[1]


def test_route_ends_with_its_broker(cluster: Cluster) -> None:
    cluster.made(broker())
    made = cluster.made(trigger())

    cluster.delete(broker())

    assert cluster.route(made) is None


def test_address_of_a_deleted_broker_is_unknown(cluster: Cluster) -> None:
    url = cluster.made(broker())["status"]["address"]["url"]

    cluster.delete(broker())

    assert cluster.publish(url) == 404


def test_changed_filter_keeps_the_start_of_the_route(cluster: Cluster) -> None:
    url = cluster.made(broker())["status"]["address"]["url"]
    made = cluster.made(trigger())
    before = cluster.route(made)
    cluster.publish(url)

    cluster.changed(trigger(), filter={"attributes": {"type": "a"}})

    after = cluster.route(made)
    assert before is not None
    assert after is not None
    assert after.start == before.start
    assert after.filters == [{"attributes": {"type": "a"}}]


def test_filters_hide_the_older_filter(cluster: Cluster) -> None:
    cluster.made(broker())

    made = cluster.made(
        trigger(
            filter={"attributes": {"type": "a"}},
            filters=[{"any": [{"cesql": "type = 'b'"}, {"prefix": {"source": "/s"}}]}],
        )
    )

    route = cluster.route(made)
    assert route is not None
    assert route.filters == [{"any": [{"sql": "type = 'b'"}, {"prefix": {"source": "/s"}}]}]


def test_default_broker_is_an_object(served: Served) -> None:
    found = Cluster(served, "default").get(
        an_object("eventing.knative.dev/v1", "Broker", "default")
    )

    assert ready(found) == "True"
    assert found["status"]["address"]["url"].endswith("/brokers/default/default")
