"""The examples that the Subscriptions document prints, pasted with curl."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.api.served import Served, serving

pytestmark = pytest.mark.network
covers = pytest.mark.covers

RESOURCE = """
{
  "id": "sub-193-18365",

  "config": {
    "data": "hello",
    "interval": 5
  },

  "filters": [
    { "prefix": { "type": "com.example." } }
  ],

  "protocol": "HTTP",
  "protocolsettings": {
    "method": "POST"
  },
  "sink": "http://example.com/event-processor"
}
"""
PLACEHOLDERS = """
{
  "config": { },
  "filter": { },
  "protocol": "HTTP",
  "protocolsettings": { },
  "sink": "http://example.com/event-processor"
}
"""
FILTERS = [
    '{ "exact": { "type": "com.github.push", "subject": "https://github.com/cloudevents/spec" } }',
    '{ "prefix": { "type": "com.github.", "subject": "https://github.com/cloudevents" } }',
    '{ "suffix": { "type": ".created", "subject": "/cloudevents/spec" } }',
    """
    { "all": [
        { "exact": { "type": "com.github.push" } },
        { "exact": { "subject": "https://github.com/cloudevents/spec" } }
    ] }
    """,
    """
    { "any": [
        { "exact": { "type": "com.github.push" } },
        { "exact": { "subject": "https://github.com/cloudevents/spec" } }
    ] }
    """,
    '{ "not": { "exact": { "type": "com.github.push" } } }',
    """{ "sql": "source LIKE '%cloudevents%'" }""",
]
Curl = Callable[..., tuple[int, Any]]


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serving(tmp_path_factory.mktemp("data")) as running:
        yield running


@pytest.fixture
def curl(served: Served, needs: Callable[[str, bool], None]) -> Curl:
    """What curl makes of a path and some options: the status, and the JSON that came."""
    found = shutil.which("curl")
    needs("curl", found is not None)

    def run(path: str, *options: str) -> tuple[int, Any]:
        fixed = ["-sS", "--max-time", "20", "-w", "\n%{http_code}"]
        url = f"http://127.0.0.1:{served.port}{path}"
        done = subprocess.run(
            [str(found), *fixed, *options, url], capture_output=True, check=True, text=True
        )
        body, _, status = done.stdout.rpartition("\n")
        return int(status), json.loads(body) if body else None

    return run


def sending(method: str, body: str) -> tuple[str, ...]:
    return "-X", method, "-H", "Content-Type: application/json", "-d", body


@covers("SUB-126", "SUB-151", "SUB-152", "SUB-154", "SUB-155")
def test_printed_subscription_lives_from_create_to_delete(curl: Curl) -> None:
    printed = json.loads(RESOURCE)

    status, made = curl("/subscriptions", *sending("POST", RESOURCE))
    path = f"/subscriptions/{made['id']}"
    changed = RESOURCE.replace("sub-193-18365", made["id"])

    assert status == 201
    assert made["id"] != printed["id"]
    assert made["protocolsettings"]["method"] == "POST"
    assert {name: made[name] for name in ("config", "filters", "protocol", "sink")} == {
        name: printed[name] for name in ("config", "filters", "protocol", "sink")
    }
    assert curl(path) == (200, made)
    assert made in curl("/subscriptions")[1]
    assert curl(path, *sending("PUT", changed)) == (200, made)
    assert curl(path, "-X", "DELETE") == (200, made)
    assert curl(path)[0] == 404


@covers("SUB-156")
@pytest.mark.parametrize("options", [(), ("-H", "Content-Type:")], ids=["typed", "untyped"])
def test_placeholders_of_the_binding_work_once_filled(curl: Curl, options: tuple[str, ...]) -> None:
    status, made = curl("/subscriptions", "-X", "POST", "-d", PLACEHOLDERS, *options)

    # curl calls any body a form unless it is told otherwise.
    assert status == (201 if options else 415)
    if options:
        assert (made["filters"], made["config"]) == ([], {})


@covers("SUB-040", "SUB-061")
@pytest.mark.parametrize("text", FILTERS)
def test_printed_filter_is_taken_as_it_stands(curl: Curl, text: str) -> None:
    body = f'{{"protocol": "HTTP", "sink": "http://example.com/", "filters": [{text}]}}'

    status, made = curl("/subscriptions", *sending("POST", body))

    assert status == 201
    assert made["filters"] == [json.loads(text)]


@covers("SUB-017", "SUB-020")
@pytest.mark.parametrize(
    "property_",
    [
        '"source": "/sensors/tn-1234567/alerts"',
        '"types": ["com.github.pull_request.opened", "com.example.object.deleted"]',
        '"config": { "interval": 5 }',
    ],
)
def test_printed_property_comes_back_as_it_is(curl: Curl, property_: str) -> None:
    body = f'{{"protocol": "HTTP", "sink": "http://example.com/", {property_}}}'

    status, made = curl("/subscriptions", *sending("POST", body))

    assert status == 201
    assert made.items() >= json.loads(f"{{{property_}}}").items()


@covers("SUB-124", "SUB-157")
def test_operations_can_be_found_out(curl: Curl) -> None:
    assert curl("/subscriptions", "-X", "OPTIONS") == (200, None)
