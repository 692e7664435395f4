"""Knative Eventing: what is applied decides what arrives, through the whole pipeline."""

from __future__ import annotations

import itertools
import json
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from penstock.events import CloudEvent, DataForm
from penstock.events.entry import Entry
from penstock.knative.kinds import BROKER, CHANNEL, KNOWN, Kind
from penstock.knative.meta import Object
from penstock.knative.patch import MERGE
from penstock.knative.resources import Options, Place, Resources
from penstock.runtime import SystemClock
from tests.knative.cluster import Json, broker, channel, ready, ref, subscription, trigger
from tests.pipeline.line import Line, running
from tests.pipeline.receiver import Got, Reply, eventually

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

OPTIONS = Options("http://penstock.example")
KINDS = {kind.kind: kind for kind in KNOWN if kind.controlled}
DATA = b'{ "a":\t1 }\x00'
QUICK = {"backoffDelay": "PT0.05S", "backoffPolicy": "linear"}
_numbers = itertools.count(1)


@dataclass(frozen=True)
class Space:
    """One namespace, with a pipeline behind it and receivers at its end."""

    name: str
    line: Line
    resources: Resources

    def made(self, document: Json) -> Object:
        place = Place(KINDS[document["kind"]], self.name)
        return self.resources.create(place, document, OPTIONS)

    def changed(self, document: Json, **spec: Any) -> Object:  # noqa: ANN401 - any JSON value
        place = Place(KINDS[document["kind"]], self.name, document["metadata"]["name"])
        return self.resources.patch(place, MERGE, {"spec": spec}, OPTIONS)

    def publish(self, kind: Kind, name: str, *types: str) -> None:
        """Publish an event of each type, as the API would."""
        entries = [
            Entry(
                f"{kind.plural}/{self.name}/{name}",
                CloudEvent(
                    f"{self.name} {number}",
                    "/s",
                    text,
                    datacontenttype="application/octet-stream",
                    data=DATA,
                    form=DataForm.BYTES,
                ),
                time.time_ns() // 1_000,
            )
            for number, text in enumerate(types)
        ]
        self.line.plant.append(entries)

    def uri(self, path: str, *replies: Reply | int) -> str:
        return self.line.receiver.answers(f"/{self.name}{path}", *(replies or (202,)))

    def got(self, path: str) -> list[Got]:
        return self.line.receiver.places[f"/{self.name}{path}"].got

    def types(self, path: str) -> list[str]:
        return sorted(one.event.type for one in self.got(path))

    def gets(self, path: str, count: int) -> list[Got]:
        """Wait until a path got so many requests."""
        assert eventually(lambda: len(self.got(path)) >= count), self.types(path)
        return self.got(path)

    def is_quiet(self) -> bool:
        """Wait until everything published so far came to its end."""
        mark = next(_numbers)
        self.made(broker(f"end{mark}"))
        ended = trigger(f"end{mark}", broker=f"end{mark}", subscriber={"uri": self.uri("/end")})
        self.made(ended)
        self.publish(BROKER, f"end{mark}", f"end{mark}")
        return eventually(lambda: f"end{mark}" in self.types("/end"))


@pytest.fixture(scope="module")
def line(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Line]:
    with running(spark, tmp_path_factory.mktemp("routing")) as started:
        yield started


@pytest.fixture
def space(line: Line) -> Space:
    resources = Resources(
        line.plant.store, line.plant.log, SystemClock(), lambda: str(uuid.uuid4()), threading.Lock()
    )
    return Space(f"n{next(_numbers)}", line, resources)


def to(uri: str, **spec: Any) -> Json:  # noqa: ANN401 - any JSON value
    return {"subscriber": {"uri": uri}, **spec}


def only(text: str) -> Json:
    return {"filter": {"attributes": {"type": text}}}


@pytest.mark.covers("KN-002", "KN-063")
def test_trigger_gets_the_events_of_its_broker_only(space: Space) -> None:
    for name in ("b1", "b2"):
        space.made(broker(name))
    space.made(trigger(broker="b1", **to(space.uri("/in"))))

    space.publish(BROKER, "b2", "wrong")
    space.publish(BROKER, "b1", "right")
    space.gets("/in", 1)

    assert space.is_quiet()
    assert space.types("/in") == ["right"]


@pytest.mark.covers("KN-005", "KN-010", "KN-064", "KN-067")
def test_event_goes_to_every_trigger_that_wants_it(space: Space) -> None:
    space.made(broker())
    for name in ("one", "two", "three"):
        space.made(trigger(name, **to(space.uri(f"/{name}"))))
    space.made(trigger("yes", **to(space.uri("/yes")), **only("a")))
    space.made(trigger("no", **to(space.uri("/no")), **only("b")))

    space.publish(BROKER, "b", "a")
    found = [space.gets(f"/{name}", 1)[0] for name in ("one", "two", "three", "yes")]

    assert space.is_quiet()
    assert space.got("/no") == []
    assert {one.body for one in found} == {DATA}


@pytest.mark.covers("KN-066")
def test_triggers_with_the_same_sink_each_deliver(space: Space) -> None:
    space.made(broker())
    for name in ("one", "two"):
        space.made(trigger(name, **to(space.uri("/same"))))

    space.publish(BROKER, "b", "a")
    space.gets("/same", 2)

    assert space.is_quiet()
    assert space.types("/same") == ["a", "a"]


@pytest.mark.covers("KN-017")
def test_event_right_after_a_trigger_is_ready_always_arrives(space: Space) -> None:
    space.made(broker())
    names = [f"t{number}" for number in range(100)]

    for name in names:
        made = space.made(trigger(name, **to(space.uri("/in")), **only(name)))
        assert ready(dict(made)) == "True"
        space.publish(BROKER, "b", name)

    space.gets("/in", 100)
    assert space.types("/in") == sorted(names)


@pytest.mark.covers("KN-039")
def test_event_right_after_a_subscription_is_ready_always_arrives(space: Space) -> None:
    names = [f"c{number}" for number in range(50)]

    for name in names:
        space.made(channel(name))
        document = subscription(name, **to(space.uri("/in")))
        document["spec"]["channel"] = {**document["spec"]["channel"], "name": name}
        assert ready(dict(space.made(document))) == "True"
        space.publish(CHANNEL, name, name)

    space.gets("/in", 50)
    assert space.types("/in") == sorted(names)


@pytest.mark.covers("KN-019")
def test_changed_filter_decides_over_later_events(space: Space) -> None:
    space.made(broker())
    space.made(trigger(**to(space.uri("/in")), **only("a")))
    space.publish(BROKER, "b", "a", "b")
    space.gets("/in", 1)

    space.changed(trigger(), **only("b"))
    space.publish(BROKER, "b", "a", "b")
    space.gets("/in", 2)

    assert space.is_quiet()
    assert space.types("/in") == ["a", "b"]


@pytest.mark.covers("KN-021", "KN-024", "KN-026", "KN-083", "KN-084")
def test_channel_gives_every_event_to_every_subscription(space: Space) -> None:
    for name in ("c", "other"):
        space.made(channel(name))
    for name in ("one", "two"):
        space.made(subscription(name, **to(space.uri("/same"))))
    space.made(subscription("three", **to(space.uri("/three"))))

    space.publish(CHANNEL, "other", "wrong")
    space.publish(CHANNEL, "c", "a", "b")
    space.gets("/same", 4)
    space.gets("/three", 2)

    assert space.is_quiet()
    assert space.types("/same") == ["a", "a", "b", "b"]
    assert space.types("/three") == ["a", "b"]


@pytest.mark.covers("KN-036", "KN-037")
def test_lone_reply_gets_events_with_retries_and_dead_letters(space: Space) -> None:
    space.made(channel())
    options = {"retry": 1, "deadLetterSink": {"uri": space.uri("/dead")}, **QUICK}
    space.made(subscription(reply={"uri": space.uri("/reply", 503)}, delivery=options))

    space.publish(CHANNEL, "c", "a")
    space.gets("/dead", 1)

    assert space.types("/reply") == ["a", "a"]
    assert not any("prefer" in one.headers for one in space.got("/reply"))


@pytest.mark.covers("KN-040", "KN-086")
def test_changed_subscriber_gets_later_events(space: Space) -> None:
    space.made(channel())
    space.made(subscription(**to(space.uri("/old"))))
    space.publish(CHANNEL, "c", "a")
    space.gets("/old", 1)

    made = space.changed(subscription(), **to(space.uri("/new")))
    space.publish(CHANNEL, "c", "b")
    space.gets("/new", 1)

    assert made["status"]["physicalSubscription"]["subscriberUri"] == space.uri("/new")
    assert (space.types("/old"), space.types("/new")) == (["a"], ["b"])


@pytest.mark.covers("KN-065")
def test_trigger_that_is_not_ready_gets_nothing(space: Space) -> None:
    space.made(broker())
    broken = {"deadLetterSink": ref(broker("nowhere"))}
    made = space.made(trigger(**to(space.uri("/in")), delivery=broken))
    space.publish(BROKER, "b", "early")
    assert space.is_quiet()

    space.made(broker("nowhere"))
    space.publish(BROKER, "b", "late")
    space.gets("/in", 1)

    assert ready(dict(made)) == "False"
    assert space.types("/in") == ["late"]


@pytest.mark.covers("KN-069", "KN-145")
def test_trigger_gets_its_own_replies(space: Space) -> None:
    headers = (
        ("ce-specversion", "1.0"),
        ("ce-id", "own"),
        ("ce-source", "/replier"),
        ("ce-type", "reply"),
        ("content-type", "text/plain"),
    )
    space.made(broker())
    space.made(trigger(**to(space.uri("/in", Reply(200, headers, b"hello"), 202))))

    space.publish(BROKER, "b", "a")
    first, second = space.gets("/in", 2)

    assert first.event.type == "a"
    assert second.event.attributes() == {
        "specversion": "1.0",
        "id": "own",
        "source": "/replier",
        "type": "reply",
        "datacontenttype": "text/plain",
    }
    assert second.body == b"hello"


ATTRIBUTES = {"specversion": "1.0", "id": "own", "source": "/replier", "type": "reply"}
HEADERS = tuple((f"ce-{name}", value) for name, value in ATTRIBUTES.items())
JSON_EVENT = (("content-type", "application/cloudevents+json"),)


@pytest.mark.parametrize(
    ("reply", "is_routed"),
    [
        pytest.param(Reply(200, HEADERS), True, marks=pytest.mark.covers("KN-142")),
        pytest.param(
            Reply(200, JSON_EVENT, json.dumps(ATTRIBUTES).encode()),
            True,
            marks=pytest.mark.covers("KN-143"),
        ),
        pytest.param(Reply(200, (), b"text"), False, marks=pytest.mark.covers("KN-144")),
        pytest.param(Reply(200), False, marks=pytest.mark.covers("KN-144")),
        pytest.param(Reply(202, HEADERS), False, marks=pytest.mark.covers("KN-141")),
        pytest.param(
            Reply(202, JSON_EVENT, json.dumps(ATTRIBUTES).encode()),
            False,
            marks=pytest.mark.covers("KN-141"),
        ),
    ],
    ids=["binary", "structured", "text", "nothing", "202 binary", "202 structured"],
)
def test_only_an_event_in_a_200_is_a_reply(space: Space, reply: Reply, *, is_routed: bool) -> None:
    space.made(broker())
    space.made(trigger("asks", **to(space.uri("/asks", reply)), **only("a")))
    space.made(trigger("hears", **to(space.uri("/hears")), **only("reply")))

    space.publish(BROKER, "b", "a")
    space.gets("/asks", 1)
    if is_routed:
        space.gets("/hears", 1)

    assert space.is_quiet()
    assert space.types("/hears") == ["reply"] * is_routed
    assert len(space.got("/asks")) == 1


@pytest.mark.covers("KN-092")
def test_reply_goes_to_the_reply_address_of_a_subscription(space: Space) -> None:
    asked = Reply(200, HEADERS)
    for name in ("c", "next"):
        space.made(channel(name))
    space.made(subscription("one", **to(space.uri("/one", asked)), reply={"uri": space.uri("/b")}))
    space.made(subscription("two", **to(space.uri("/two", asked)), reply=ref(channel("next"))))
    last = subscription("last", **to(space.uri("/last")))
    last["spec"]["channel"] = {**last["spec"]["channel"], "name": "next"}
    space.made(last)

    space.publish(CHANNEL, "c", "a")
    (to_address,), (to_channel,) = space.gets("/b", 1), space.gets("/last", 1)

    assert to_address.event.attributes() == to_channel.event.attributes() == ATTRIBUTES
    assert space.is_quiet()
    assert (space.types("/one"), space.types("/last")) == (["a"], ["reply"])


@pytest.mark.covers("KN-140")
def test_subscriber_is_told_that_replies_are_processed(space: Space) -> None:
    space.made(broker())
    space.made(channel())
    space.made(trigger(**to(space.uri("/trigger"))))
    space.made(subscription(**to(space.uri("/sub")), reply={"uri": space.uri("/reply")}))

    space.publish(BROKER, "b", "a")
    space.publish(CHANNEL, "c", "a")

    found = [space.gets(path, 1)[0] for path in ("/trigger", "/sub")]
    assert [one.headers["prefer"] for one in found] == ["reply", "reply"]


@pytest.mark.covers("KN-082", "KN-085")
def test_subscription_gets_an_event_that_failed_twice_unchanged(space: Space) -> None:
    space.made(channel())
    for name in ("one", "two"):
        uri = space.uri(f"/{name}", 503, 503, 202)
        space.made(subscription(name, **to(uri), delivery={"retry": 3, **QUICK}))

    space.publish(CHANNEL, "c", "a")

    for name in ("one", "two"):
        assert [one.body for one in space.gets(f"/{name}", 3)] == [DATA] * 3
    assert space.is_quiet()
    assert len(space.got("/one")) == 3


@pytest.mark.parametrize(
    ("parent", "kind", "child"),
    [
        pytest.param(broker, BROKER, trigger, marks=pytest.mark.covers("KN-108", "KN-109")),
        pytest.param(channel, CHANNEL, subscription, marks=pytest.mark.covers("KN-110")),
    ],
    ids=["broker", "channel"],
)
def test_own_delivery_options_hide_those_of_the_parent(
    space: Space, parent: Callable[..., Json], kind: Kind, child: Callable[..., Json]
) -> None:
    dead = {"deadLetterSink": {"uri": space.uri("/dead")}}
    document = parent(delivery={"retry": 2, **dead, **QUICK})
    space.made(document)
    space.made(child("own", **to(space.uri("/own", 503)), delivery={"retry": 1, **QUICK}))
    space.made(child("heir", **to(space.uri("/heir", 503))))

    space.publish(kind, document["metadata"]["name"], "a")
    space.gets("/dead", 1)
    space.gets("/own", 2)

    assert space.is_quiet()
    assert (len(space.got("/own")), len(space.got("/heir")), len(space.got("/dead"))) == (2, 3, 1)
