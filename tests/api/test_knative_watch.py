"""Watches: every change once, in order, from any version that is still known."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.api.served import Served
from tests.knative.cluster import (
    EVENTING,
    URI,
    Cluster,
    a_cluster,
    broker,
    ready,
    trigger,
    watching,
)

pytestmark = pytest.mark.network

TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"


@pytest.fixture
def cluster(served: Served) -> Cluster:
    return a_cluster(served)


def path(cluster: Cluster, query: str = "", kind: str = "Broker") -> str:
    return f"{cluster.path(kind, api=EVENTING)}?watch=1{query}"


def version(cluster: Cluster) -> str:
    reply = cluster.served.get(cluster.path("Broker", api=EVENTING))
    return str(reply.document["metadata"]["resourceVersion"])


def test_watch_goes_on_from_a_version(cluster: Cluster) -> None:
    cluster.made(broker("old"))
    since = version(cluster)
    made = cluster.made(broker())
    changed = cluster.changed(broker(), delivery={"retry": 1})
    cluster.delete(broker())

    watch = watching(cluster.served, path(cluster, f"&resourceVersion={since}"))
    events = [watch.next() for _ in range(3)]
    watch.close()

    assert [one["type"] for one in events] == ["ADDED", "MODIFIED", "DELETED"]
    assert [one["object"] for one in events[:2]] == [made, changed]
    gone = events[2]["object"]["metadata"]
    assert int(gone["resourceVersion"]) == int(changed["metadata"]["resourceVersion"]) + 1


def test_watch_without_a_version_starts_with_what_is_there(cluster: Cluster) -> None:
    made = [cluster.made(broker(name)) for name in ("a", "b")]

    watch = watching(cluster.served, path(cluster))
    first = [watch.next() for _ in range(2)]
    cluster.delete(broker("a"))
    after = watch.next()
    watch.close()

    assert first == [{"type": "ADDED", "object": one} for one in made]
    assert (after["type"], after["object"]["metadata"]["name"]) == ("DELETED", "a")


def test_initial_events_end_with_a_bookmark(cluster: Cluster) -> None:
    cluster.made(broker())
    query = "&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true"

    watch = watching(cluster.served, path(cluster, query))
    added, mark = watch.next(), watch.next()
    watch.close()

    assert (added["type"], mark["type"]) == ("ADDED", "BOOKMARK")
    assert mark["object"]["kind"] == "Broker"
    assert mark["object"]["metadata"]["annotations"] == {"k8s.io/initial-events-end": "true"}


def test_watch_ends_in_time_with_a_bookmark(cluster: Cluster) -> None:
    since = version(cluster)
    query = f"&resourceVersion={since}&timeoutSeconds=1&allowWatchBookmarks=true"

    watch = watching(cluster.served, path(cluster, query))
    (mark,) = list(watch)
    watch.close()

    assert mark["type"] == "BOOKMARK"
    assert int(mark["object"]["metadata"]["resourceVersion"]) >= int(since)


def test_watch_from_a_forgotten_version_is_gone(cluster: Cluster) -> None:
    since = version(cluster)
    cluster.made(broker())
    cluster.delete(broker())
    store = cluster.served.control.store
    store.forget(store.version())  # type: ignore[attr-defined]

    reply = cluster.served.get(path(cluster, f"&resourceVersion={since}"))

    assert (reply.status, reply.document["code"]) == (410, 410)
    assert reply.document["reason"] == "Expired"


@pytest.mark.parametrize("text", ["x", "-1", "1.5"])
def test_version_that_is_none_is_refused(cluster: Cluster, text: str) -> None:
    assert cluster.served.get(path(cluster, f"&resourceVersion={text}")).status == 422


def test_object_that_leaves_the_selection_is_deleted_from_it(cluster: Cluster) -> None:
    watch = watching(cluster.served, path(cluster, "&labelSelector=team%3Da"))
    cluster.made(broker())
    for team in ("a", "b", "a"):
        cluster.patch(broker(), {"metadata": {"labels": {"team": team}}})

    events = [watch.next()["type"] for _ in range(3)]
    watch.close()

    assert events == ["ADDED", "DELETED", "ADDED"]


def test_watch_of_one_object_tells_of_nothing_else(cluster: Cluster) -> None:
    watch = watching(cluster.served, path(cluster, "&fieldSelector=metadata.name%3Db"))
    cluster.made(broker("other"))
    cluster.made(broker())

    event = watch.next()
    watch.close()

    assert event["object"]["metadata"]["name"] == "b"


def test_watch_of_a_namespace_tells_of_no_other(cluster: Cluster) -> None:
    watch = watching(cluster.served, path(cluster))
    a_cluster(cluster.served).made(broker())
    made = cluster.made(broker())

    event = watch.next()
    watch.close()

    assert event["object"] == made


def test_watch_shows_tables(cluster: Cluster) -> None:
    watch = watching(cluster.served, path(cluster), TABLE)
    made = cluster.made(broker())

    event = watch.next()
    watch.close()

    (row,) = event["object"]["rows"]
    assert event["object"]["kind"] == "Table"
    assert row["cells"][:3] == ["b", made["status"]["address"]["url"], "True"]


def test_thousand_triggers_are_ready_and_watched_once_each_and_in_order(cluster: Cluster) -> None:
    watch = watching(cluster.served, path(cluster, kind="Trigger"))
    cluster.made(broker())
    documents = [trigger(f"t{number}", subscriber={"uri": URI}) for number in range(1000)]

    with ThreadPoolExecutor(4) as pool:
        made = list(pool.map(cluster.made, documents))
    events = [watch.next() for _ in range(1000)]
    cluster.delete(broker())
    lost = [watch.next() for _ in range(1000)]
    watch.close()

    assert {ready(one) for one in made} == {"True"}
    seen = [one["object"]["metadata"] for one in events]
    assert {one["type"] for one in events} == {"ADDED"}
    assert len({one["name"] for one in seen}) == 1000
    versions = [int(one["resourceVersion"]) for one in seen]
    assert versions == sorted(set(versions))
    assert {(one["type"], ready(one["object"])) for one in lost} == {("MODIFIED", "False")}
    assert len({one["object"]["metadata"]["name"] for one in lost}) == 1000
