"""Arbitrary proposals: each is refused with its problems, or becomes a route that can be served."""

from __future__ import annotations

import os
from typing import Any

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.errors import ResourceError
from penstock.events import event
from penstock.routing import Route
from penstock.subscriptions.protocols import PROTOCOLS
from penstock.subscriptions.subscription import Subscription, read

COUNT = int(os.environ.get("PENSTOCK_FUZZ", "300"))
NAMES = [
    "id",
    "source",
    "types",
    "config",
    "filter",
    "filters",
    "sink",
    "protocol",
    "sinkCredential",
]
LEAST = {"protocol": "HTTP", "sink": "http://h/"}
OTHERS = [
    {"protocol": "KAFKA", "sink": "kafka://h/t"},
    {"protocol": "AMQP", "sink": "amqp://h/q"},
    {"protocol": "MQTT3", "sink": "mqtt://h", "protocolsettings": {"topicname": "t"}},
    {"protocol": "MQTT5", "sink": "mqtt://h", "protocolsettings": {"topicname": "t"}},
    {"protocol": "NATS", "sink": "nats://h", "protocolsettings": {"subject": "s"}},
]
NAMED = sorted({name for known in PROTOCOLS.values() for name in known.settings})

texts = (
    st.sampled_from(["", "HTTP", "http://h/", "PT1S", "linear", "type", "exact", "PUT"]) | st.text()
)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)
attributes = st.dictionaries(st.sampled_from(["type", "source", "x"]) | texts, texts, max_size=2)
filters = st.recursive(
    st.builds(
        lambda name, map_: {name: map_}, st.sampled_from(["exact", "prefix", "suffix"]), attributes
    ),
    lambda inner: (
        st.builds(lambda name, some: {name: some}, st.sampled_from(["all", "any"]), st.lists(inner))
        | st.builds(lambda one: {"not": one}, inner)
    ),
    max_leaves=5,
)
chosen = st.dictionaries(st.sampled_from(NAMED) | texts, values, max_size=3)
documents = st.builds(
    lambda *parts: {name: value for part in parts for name, value in part.items()},
    st.sampled_from([LEAST, {}, *OTHERS]),
    st.dictionaries(st.sampled_from(NAMES) | texts, values, max_size=3),
    st.fixed_dictionaries({}, optional={"filters": st.lists(filters), "protocolsettings": chosen}),
)


@settings(max_examples=COUNT)
@given(document=documents | values)
def test_proposal_is_refused_with_problems_or_can_be_served(document: Any) -> None:  # noqa: ANN401
    try:
        found = read(document)
    except ResourceError:
        return

    route = msgspec.json.decode(msgspec.json.encode(found.route((0,))), type=Route)
    route.condition().matches(event(type="t", source="/s"))
    kept = msgspec.json.decode(msgspec.json.encode(found), type=Subscription)
    assert read(kept.document()).document() == kept.document()
