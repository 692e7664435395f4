from __future__ import annotations

import json

import pytest

from penstock.config import Settings
from tests.cli.command import Done, run

pytestmark = pytest.mark.network

SINK = "http://127.0.0.1:9/in"


@pytest.fixture
def url(server: Settings) -> str:
    return server.address


def command(url: str, *arguments: str) -> Done:
    return run("triggers", *arguments, "--url", url)


def test_trigger_is_created_shown_listed_and_deleted(url: str) -> None:
    made = command(url, "create", "cli", "--subscriber", SINK, "--attribute", "type=a")
    again = command(url, "create", "cli", "--subscriber", SINK, "--attribute", "type=a")
    shown = command(url, "show", "cli")
    listed = command(url, "list", "cli", "--json")
    gone = command(url, "delete", "cli")

    assert made.out == "trigger.eventing.knative.dev/cli created\n"
    assert again.out == "trigger.eventing.knative.dev/cli unchanged\n"
    assert "SubscriberResolved" in shown.out
    spec = json.loads(listed.out)["spec"]
    assert spec == {
        "broker": "default",
        "subscriber": {"uri": SINK},
        "filter": {"attributes": {"type": "a"}},
    }
    assert gone.out == "trigger.eventing.knative.dev/cli deleted\n"


def test_trigger_without_a_subscriber_is_wrong_usage(url: str) -> None:
    assert command(url, "create", "cli").code == 2


def test_wrong_attribute_is_refused_with_its_path(url: str) -> None:
    done = command(url, "create", "cli", "--subscriber", SINK, "--attribute", "Type=a")

    assert done.code == 1
    assert "spec.filter.attributes.Type" in done.err
