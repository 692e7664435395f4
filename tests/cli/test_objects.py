from __future__ import annotations

import itertools
import json
from pathlib import Path

import pytest

from penstock.config import Settings
from tests.cli.command import Done, run

pytestmark = pytest.mark.network

MANIFEST = """
apiVersion: eventing.knative.dev/v1
kind: Broker
metadata: {name: shop}
---
apiVersion: eventing.knative.dev/v1
kind: Trigger
metadata: {name: orders, labels: {team: a}}
spec:
  broker: shop
  subscriber: {uri: "http://orders.example/"}
---
apiVersion: v1
kind: List
items:
  - apiVersion: things.example.com/v1
    kind: Source
    metadata: {name: src, annotations: {on-day: 2026-11-16}}
    status: {address: {url: "http://source.example/"}}
"""
_numbers = itertools.count(1)


@pytest.fixture
def space(server: Settings) -> Space:
    return Space(server.address, f"cli{next(_numbers)}")


class Space:
    """Commands in a namespace of their own."""

    def __init__(self, url: str, name: str) -> None:
        self.url = url
        self.name = name

    def __call__(self, *arguments: str, stdin: str | None = None) -> Done:
        return run(*arguments, "--url", self.url, "-n", self.name, stdin=stdin)

    def apply(self, text: str = MANIFEST, *options: str) -> Done:
        return self("apply", "-f", "-", *options, stdin=text)


def test_apply_says_what_became_of_each_object(space: Space) -> None:
    first = space.apply()
    second = space.apply()
    third = space.apply(MANIFEST.replace("orders.example", "other.example"))

    assert first.out.splitlines() == [
        "broker.eventing.knative.dev/shop created",
        "trigger.eventing.knative.dev/orders created",
        "source.things.example.com/src created",
    ]
    assert [line.split()[1] for line in second.out.splitlines()] == ["unchanged"] * 3
    assert [line.split()[1] for line in third.out.splitlines()] == [
        "unchanged",
        "configured",
        "unchanged",
    ]


def test_apply_reads_directories(space: Space, tmp_path: Path) -> None:
    for number, text in enumerate(MANIFEST.split("---")[:2]):
        (tmp_path / f"{number}.yaml").write_text(text)
    (tmp_path / "notes.txt").write_text("no manifest")

    done = space("apply", "-f", str(tmp_path), "--json")

    assert [one["name"] for one in json.loads(done.out)] == ["shop", "orders"]


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("kind: Broker", "has no apiVersion"),
        ("- 1", "is no object"),
        ("a: [", "is not YAML"),
        (MANIFEST.replace("broker: shop", "broker: ''"), "spec.broker: Required value"),
    ],
)
def test_wrong_manifest_is_refused(space: Space, text: str, complaint: str) -> None:
    done = space.apply(text)

    assert done.code == 1
    assert complaint in done.err


def test_apply_without_files_is_wrong_usage(space: Space) -> None:
    assert space("apply").code == 2


def test_field_of_somebody_else_is_taken_only_by_force(space: Space, server: Settings) -> None:
    from penstock.client import Client
    from penstock.client.call import Call

    space.apply()
    path = f"/apis/eventing.knative.dev/v1/namespaces/{space.name}/triggers/orders"
    body = b'{"spec": {"subscriber": {"uri": "http://else.example/"}}}'
    headers = (("content-type", "application/merge-patch+json"),)
    with Client(server.address) as client:
        client.send(Call("PATCH", path, lambda answer: answer.status, headers, body))

    refused = space.apply()
    forced = space.apply(MANIFEST, "--force")

    assert (refused.code, forced.code) == (1, 0)
    assert ".spec.subscriber.uri" in refused.err


def test_get_shows_a_table(space: Space) -> None:
    space.apply()

    head, row = (line.split() for line in space("get", "triggers").out.splitlines())
    everywhere = space("get", "trigger", "--all-namespaces", "-l", "team=a").out

    assert head == ["NAME", "BROKER", "SUBSCRIBER_URI", "READY", "REASON", "AGE"]
    assert row[:4] == ["orders", "shop", "http://orders.example/", "True"]
    assert space.name in everywhere


def test_get_prints_json(space: Space) -> None:
    space.apply()

    one = json.loads(space("get", "brokers", "shop", "--json").out)
    all_ = json.loads(space("get", "brokers", "--json").out)

    assert one["metadata"]["name"] == "shop"
    assert all_ == [one]


def test_unknown_kind_is_named_with_those_that_are_known(space: Space) -> None:
    done = space("get", "pods")

    assert done.code == 1
    assert "triggers" in done.err


def test_describe_says_why_an_object_is_not_ready(space: Space) -> None:
    space.apply(MANIFEST.split("---")[1])

    done = space("describe", "trigger", "orders")

    assert "broker: shop" in done.out
    assert "BrokerNotFound" in done.out
    assert "there is no Broker 'shop'" in done.out


def test_missing_object_cannot_be_described(space: Space) -> None:
    done = space("describe", "trigger", "nothing")

    assert done.code == 1
    assert "nothing" in done.err


def test_delete_by_name_and_by_manifest(space: Space) -> None:
    space.apply()

    by_name = space("delete", "trigger", "orders")
    by_file = space("delete", "-f", "-", stdin=MANIFEST.split("---", maxsplit=1)[0])

    assert by_name.out == "trigger.eventing.knative.dev/orders deleted\n"
    assert by_file.out == "broker.eventing.knative.dev/shop deleted\n"
    assert space("delete", "trigger", "orders").code == 1


@pytest.mark.parametrize("arguments", [(), ("trigger",), ("trigger", "a", "-f", "x")], ids=str)
def test_delete_wants_names_or_files(space: Space, arguments: tuple[str, ...]) -> None:
    assert space("delete", *arguments).code == 2
